// What the page knows of the pool: status, events, schema and documents.

import { command as sendCommand, get } from "./api.js";
import { ApiError } from "./api.js";
import { known as knownText, language, setTimeZone, t } from "./i18n.js";
import { segments } from "../editor/schema.js";
import { emit, on } from "./topics.js";
import { endRejections, notify, notifyDone } from "../parts/notices.js";

/** @typedef {import("./api.js").DocumentName} DocumentName */
/** @typedef {import("./api.js").Command} Command */
/** @typedef {import("./api.js").Problem} Problem */
/** @typedef {{ document: DocumentName, text: string, is_built_in: boolean, is_unsaved: boolean, values: any, effective: any, problems?: Problem[], broken_text?: string }} Doc */
/** @typedef {{ number: number, time: string, event: string } & Record<string, any>} PoolEvent */

/** Number of events that the page keeps. */
const EVENTS_KEPT = 500;
/** Documents are read again this long after a change, so that ten changes at once need one answer. */
const SETTLE_MS = 120;
/** Time between two looks whether commands are answered. */
const ANSWER_CHECK_MS = 30;
/** Shortest time between two readings: a corner that is dragged changes the documents eight times a second. */
const PAUSE_MS = 600;

/** The newest status. @type {any} */
export let status = null;
/** The newest events, oldest first. @type {PoolEvent[]} */
export const events = [];
/** @type {Map<string, Doc>} */
export let documents = new Map();
/** @type {any} */
export let schema = null;
/** When the newest status arrived. */
export let statusAt = 0;
/** When Shoal was started, by its clock, in milliseconds. */
export let startedAt = 0;
/** Change of the start from which the clock of the pool was set; a smaller one is the time that a status was on its way. */
const CLOCK_SET_MS = 5000;

let revision = -1;
let users = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
let isReading = false;
let readAt = 0;
/** Number of edits that were sent, and of those without an answer yet. */
let sentEdits = 0;
let openEdits = 0;

on("status", (next) => {
  const isChanged = status !== null && next.revision !== status.revision;
  status = next;
  setTimeZone(next.schedule?.time_zone);
  statusAt = Date.now();
  const started = Date.parse(next.time) - next.uptime_secs * 1000;
  if (Math.abs(started - startedAt) > CLOCK_SET_MS) startedAt = started;
  if (isChanged || next.revision !== revision) readSoon();
});
// What needs the password does not hold before it is entered.
on("password", () => hideEdits());
on("event", (event) => {
  events.push(event);
  if (events.length > EVENTS_KEPT) events.shift();
  // A file that is rejected changes no revision, but its document says what is wrong.
  if (event.command === "take_over") readSoon();
});
on("restarted", () => {
  // Events have other numbers, and drafts are gone.
  events.length = 0;
  revision = -1;
  readSoon();
});

/** Returns the key of a document in `documents`. @param {DocumentName} name */
export function keyOf(name) {
  return name.kind === "site" ? "site" : `${name.kind}/${name.name}`;
}

/** Returns the file of a document, for people. @param {DocumentName} name */
export function fileOf(name) {
  if (name.kind === "site") return t("file.site");
  return `${name.kind === "scene" ? "scenes" : "species"}/${name.name}.toml`;
}

/** @param {DocumentName["kind"]} kind */
export function documentsOf(kind) {
  return [...documents.values()].filter((doc) => doc.document.kind === kind);
}

/** Keeps the documents current until the returned function is called. @returns {() => void} */
export function useDocuments() {
  users += 1;
  readDocuments();
  if (schema === null) readSchema();
  return () => {
    users -= 1;
  };
}

async function readSchema() {
  schema = await get("/schema").catch(() => null);
  emit("documents");
}

function readSoon() {
  if (users === 0) return;
  clearTimeout(timer);
  timer = setTimeout(readDocuments, Math.max(SETTLE_MS, readAt + PAUSE_MS - Date.now()));
}

async function readDocuments() {
  if (isReading) return readSoon();
  isReading = true;
  readAt = Date.now();
  const before = sentEdits;
  try {
    const answer = await get("/documents");
    // What was read may be older than an edit that the page already shows.
    if (before !== sentEdits || openEdits > 0) return readSoon();
    beforeEdits.clear();
    documents = new Map(answer.documents.map((/** @type {Doc} */ doc) => [keyOf(doc.document), doc]));
    revision = answer.revision;
    emit("documents");
  } catch (error) {
    if (/** @type {ApiError} */ (error).code === "offline") readSoon();
  } finally {
    isReading = false;
  }
}

/** The documents that show edits without an answer, as they were before. @type {Map<Doc, { values: any, effective: any }>} */
const beforeEdits = new Map();

/** Shows the documents without the edits that have no answer yet. */
function hideEdits() {
  for (const [doc, before] of beforeEdits) Object.assign(doc, before);
  beforeEdits.clear();
  emit("documents");
}

/**
 * Shows edits at once, before the pool has answered. The documents that follow replace this, also after a rejection.
 * @param {Edit[]} edits
 */
function showEdits(edits) {
  for (const { document, path, change } of edits) {
    const doc = documents.get(keyOf(document));
    if (!doc) continue;
    if (!beforeEdits.has(doc)) beforeEdits.set(doc, structuredClone({ values: doc.values, effective: doc.effective }));
    showChange(doc.values, path, change);
    // Without the value in the file a default applies, which only the pool knows.
    if (change.do !== "remove" || /\]$/.test(path)) showChange(doc.effective, path, change);
  }
  emit("documents");
}

/** @param {any} root @param {string} path @param {Record<string, any>} change */
function showChange(root, path, change) {
  const parts = segments(path);
  const last = parts.pop();
  let place = root;
  for (const [index, part] of parts.entries()) {
    place[part] ??= typeof (parts[index + 1] ?? last) === "number" ? [] : {};
    place = place[part];
  }
  if (last === undefined || place === null || typeof place !== "object") return;
  if (change.do === "set") place[last] = structuredClone(change.value);
  else if (change.do === "insert") {
    place[last] ??= [];
    place[last].splice(change.index ?? place[last].length, 0, structuredClone(change.value));
  } else if (change.do === "move") place.splice(change.to, 0, ...place.splice(Number(last), 1));
  else if (Array.isArray(place)) place.splice(Number(last), 1);
  else delete place[last];
}

/**
 * Sends a command and says on the page if it was rejected. Returns whether it was applied.
 * @param {Command | Command[]} command
 * @param {string} [done] what to say when it was applied
 */
export async function send(command, done) {
  const edits = [command].flat().flatMap((one) => (one.command === "edit" ? one.edits : []));
  if (edits.length > 0) {
    sentEdits += 1;
    showEdits(edits);
  }
  openEdits += 1;
  try {
    const { notes = [], unsaved } = await sendCommand(command);
    endRejections();
    if (done || unsaved) notifyDone(done ?? "", unsaved);
    if (notes.length > 0) notify("info", notes.join(" "));
    readSoon();
    return true;
  } catch (error) {
    complain(/** @type {ApiError} */ (error));
    if (edits.length > 0) readSoon();
    return false;
  } finally {
    openEdits -= 1;
  }
}

/** Waits until every command that was sent has its answer. */
export async function answered() {
  while (openEdits > 0) await new Promise((resolve) => setTimeout(resolve, ANSWER_CHECK_MS));
}

/** Says on the page what went wrong. @param {ApiError} error */
export function complain(error) {
  if (error.code === "not_logged_in") return;
  // The user gave the question up.
  if (error.code === "password_needed") return notify("info", t("password.given_up"));
  const known = ["offline", "busy", "late", "stopped", "throttled", "forbidden", "setup_needed", "not_found", "unavailable", "too_large"];
  const [first, ...others] = error.problems;
  const own = others.length === 0 && first?.code && language() !== "en" ? knownText("rejection", first.code) : undefined;
  const text = own ?? (known.includes(error.code) ? errorText(error) : withoutFolder(error.message) || errorText(error));
  const problems = error.problems.map((problem) => ({ ...problem, file: withoutFolder(problem.file), message: withoutFolder(problem.message) }));
  // A single reason is often the message itself.
  notify("bad", text, own ? [] : problems.filter((problem) => !text.includes(problem.message)));
}

/** Returns a message without the folder of the site, which says nothing to a reader of this page. @param {string} text */
function withoutFolder(text) {
  const folder = (status?.site ?? "").replace(/[^/]*$/, "");
  return folder.length > 1 ? text.replaceAll(folder, "") : text;
}

/** @param {ApiError} error */
export function errorText(error) {
  switch (error.code) {
    case "offline": return t("error.offline");
    case "busy": return t("error.busy");
    case "late": return t("error.late");
    case "stopped": return t("error.stopped");
    case "throttled": return t("error.throttled", { n: error.retrySecs });
    case "forbidden": return t("error.forbidden");
    case "not_found": return t("error.not_found");
    case "unavailable": return t("error.unavailable");
    case "too_large": return t("error.too_large");
    case "rejected": return t("error.rejected");
    case "wrong_credentials": return t("error.wrong_credentials");
    default: return error.message || t("error.unknown", { code: error.code });
  }
}

/** @typedef {{ document: DocumentName, path: string, change: Record<string, any> }} Edit */

/** @param {DocumentName} document @param {string} path @param {any} value @returns {Edit} */
export function setEdit(document, path, value) {
  return { document, path, change: { do: "set", value } };
}

/** Applies edits together. @param {Edit[]} edits */
export function sendEdits(edits) {
  return send({ command: "edit", edits });
}
