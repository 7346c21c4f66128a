// The HTTP interface: requests, commands, and the stream of what happens in the pool.

import { language, setLanguage } from "./i18n.js";
import { emit } from "./topics.js";

/** `code` names the reason, if it has a name. @typedef {{ file: string, line: number, path: string, message: string, code?: string }} Problem */
/** @typedef {{ setup_needed: boolean, user: string | null, role: Role | null, csrf: string | null, can_use_pin: boolean, language: string, instance: string, page: string, version: string }} Session */
/** @typedef {"view" | "operate" | "admin"} Role */
/** @typedef {{ kind: "site" | "scene" | "species", name?: string }} DocumentName */
/** @typedef {Record<string, any> & { command: string }} Command */
/** @typedef {{ outcome: "applied", tick: number, notes?: string[], unsaved?: string }} Applied */

const BASE = "/api/v1";
/** Longest wait for an answer. */
const ANSWER_MS = 20_000;
/** Longest wait for the answer to an upload of a model or an archive. */
const UPLOAD_MS = 300_000;
/** Longest wait for a command: a program that delivers a test message may take 30 s. */
const COMMAND_MS = 40_000;
const ROLES = ["view", "operate", "admin"];

/** An answer that is not what was asked for. */
export class ApiError extends Error {
  /** @param {string} code @param {string} message @param {Problem[]} problems @param {number} retrySecs */
  constructor(code, message, problems = [], retrySecs = 0) {
    super(message);
    this.code = code;
    this.problems = problems;
    this.retrySecs = retrySecs;
  }
}

/** Who is logged in. After the end of a session, still who was: see `hasEnded`. @type {Session} */
export let session = {
  setup_needed: false, user: null, role: null, csrf: null, can_use_pin: false, language: "en", instance: "", page: "", version: "",
};
/** Whether the session is over although nobody logged out. The page then keeps what was entered in it, for the same user. */
export let hasEnded = false;
/** Whether the program has another page than this one, because it was updated. */
export let isOutdated = false;
/** Whether the session was read at least once. */
export let isSessionKnown = false;
/** Changes of the session that wait for their answer. Until it is here, the old session has ended and the new one is not known. */
let changing = 0;
/** Changes of the session that were asked for since the page was loaded. */
let changes = 0;

/** Whether the user has at least this role. @param {Role} role */
export function may(role) {
  return session.role !== null && ROLES.indexOf(session.role) >= ROLES.indexOf(role);
}

/** @param {Session} next @param {boolean} [isLeaving] whether the user wants to log out */
function takeSession(next, isLeaving = false) {
  const before = session;
  const isFirst = !isSessionKnown;
  const isRestarted = !isFirst && next.instance !== before.instance;
  isSessionKnown = true;
  isOutdated ||= !isFirst && next.page !== before.page;
  hasEnded = next.user === null && before.user !== null && !next.setup_needed && !isLeaving;
  session = hasEnded ? { ...next, user: before.user, role: before.role } : next;
  // Nothing was entered yet.
  if (isOutdated && before.user === null && next.user !== null) location.reload();
  if (isRestarted) emit("restarted");
  if (isFirst && !localStorage.getItem("shoal.language") && next.language !== language()) {
    setLanguage(next.language === "de" ? "de" : "en");
    localStorage.removeItem("shoal.language");
  }
  emit("session");
}

/** Asks for the password and confirms it. Resolves to false if the user gives up. @type {() => Promise<boolean>} */
let askPassword = async () => false;

/** Sets what asks for the password when the server wants it once more. @param {() => Promise<boolean>} ask */
export function setPasswordQuestion(ask) {
  askPassword = ask;
}

/** What is sent with `POST`. @typedef {{ type: string, content: string | Blob }} Body */

/**
 * @param {string} path
 * @param {number} ms longest wait for the answer
 * @param {Body} [body]
 * @returns {Promise<Response>}
 */
async function request(path, ms, body) {
  const { user, csrf } = session;
  /** @type {RequestInit} */
  const options = body ? { method: "POST", headers: { "Content-Type": body.type, "X-CSRF-Token": csrf ?? "" }, body: body.content } : {};
  /** @type {Response} */
  let response;
  try {
    response = await fetch(BASE + path, { signal: AbortSignal.timeout(ms), ...options });
  } catch {
    throw new ApiError("offline", "");
  }
  if (response.ok) return response;
  const { error = {} } = await response.json().catch(() => ({}));
  const retry = Number(response.headers.get("Retry-After") ?? 0);
  if (error.code === "not_logged_in" && session.user !== null && session.csrf === csrf && changing === 0) {
    takeSession({ ...session, user: null, role: null, csrf: null });
  }
  if (error.code === "csrf") {
    // Each start of the program gives a session another secret.
    await loadSession();
    if (!hasEnded && session.user === user && session.csrf !== csrf) return request(path, ms, body);
  }
  if (error.code === "password_needed") {
    emit("password");
    if (await askPassword()) return request(path, ms, body);
  }
  throw new ApiError(error.code ?? `http_${response.status}`, error.message ?? "", error.problems ?? [], retry);
}

/** Whether the newest status is fresh. Without a connection, a command is refused at once. */
let isReachable = true;

/** @param {boolean} next */
export function setReachable(next) {
  isReachable = next;
}

/** @param {string} path @param {number} [waitMs] @returns {Promise<any>} */
export async function get(path, waitMs = ANSWER_MS) {
  return (await request(path, waitMs)).json();
}

/** @param {string} path @param {any} body @param {number} [waitMs] @returns {Promise<any>} */
export async function post(path, body, waitMs = ANSWER_MS) {
  const response = await request(path, waitMs, { type: "application/json", content: JSON.stringify(body) });
  const answer = await response.json();
  if (typeof answer.unsaved === "string") emit("unsaved");
  return answer;
}

/** @param {string} path @param {Blob} file @param {string} type media type @returns {Promise<any>} */
export async function upload(path, file, type) {
  return (await request(path, UPLOAD_MS, { type, content: file })).json();
}

export async function loadSession() {
  const before = changes;
  const next = await get("/session");
  // An answer from before a change says nothing about the session after it.
  if (changing === 0 && changes === before) takeSession(next);
}

/** @param {"login" | "logout" | "setup" | "password"} what @param {any} body */
export async function changeSession(what, body) {
  changes += 1;
  changing += 1;
  try {
    const answer = await post(`/${what}`, body);
    takeSession(answer, what === "logout");
    return answer;
  } finally {
    changing -= 1;
  }
}

/** Gives up a page whose session has ended. */
export function leaveSession() {
  takeSession({ ...session, user: null, role: null, csrf: null }, true);
}

/**
 * Sends one command, or several that are applied together or not at all.
 * @param {Command | Command[]} command
 * @returns {Promise<Applied>}
 */
export async function command(command) {
  if (!isReachable) throw new ApiError("offline", "");
  const { result } = await post("/commands", command, COMMAND_MS);
  if (result.outcome !== "applied") throw new ApiError("rejected", "", result.problems ?? []);
  return result;
}

/** Returns the address of a picture that no cache may answer. @param {string} path */
export function pictureUrl(path) {
  return `${BASE}${path}?t=${Date.now()}`;
}

/** Returns the address of a download. @param {string} path */
export function downloadUrl(path) {
  return BASE + path;
}
