// Short messages at the edge of the page: what was done, what was rejected, what somebody else changed.

import { h, patch } from "../core/dom.js";
import { t } from "../core/i18n.js";
import { icon } from "./icons.js";

/** @typedef {{ id: number, kind: "good" | "bad" | "info", text: string, problems: import("../core/api.js").Problem[] }} Notice */

/** Time for which a message stays. A rejection stays until it is closed, or until a change is accepted: then it may be wrong. */
const SHOWN_MS = 6000;
/** Most messages at once. */
const SHOWN_MAX = 4;

/** @type {Notice[]} */
let notices = [];
let nextId = 1;

/**
 * @param {Notice["kind"]} kind
 * @param {string} text
 * @param {Notice["problems"]} [problems]
 */
export function notify(kind, text, problems = []) {
  const notice = { id: nextId++, kind, text, problems };
  // What was said about a change before may be wrong now: only one of "it is saved", "it is not saved" and "it was rejected" stands.
  const isResult = (/** @type {Notice} */ { kind, text }) => kind !== "info" || text === t("unsaved");
  const isOver = (/** @type {Notice} */ old) => old.text === text || (isResult(notice) && isResult(old) && old.kind !== kind);
  notices = [...notices.filter((old) => !isOver(old)), notice].slice(-SHOWN_MAX);
  if (kind !== "bad") setTimeout(() => close(notice.id), SHOWN_MS);
  show();
}

/**
 * Says what was done; or that it holds but is not on the disk, so that nothing is called saved that is not.
 * @param {string} done
 * @param {string | null | undefined} unsaved why it could not be saved, from the answer
 */
export function notifyDone(done, unsaved) {
  if (unsaved) notify("info", t("unsaved"));
  else notify("good", done);
}

/** Takes rejections away: something was changed since, or another page is shown, so they may be wrong. */
export function endRejections() {
  notices = notices.filter((notice) => notice.kind !== "bad");
  show();
}

/** @param {number} id */
function close(id) {
  notices = notices.filter((notice) => notice.id !== id);
  show();
}

function show() {
  const place = document.getElementById("notices");
  if (place) patch(place, notices.map(view));
}

/** @param {Notice} notice */
function view(notice) {
  const icons = { good: "check", bad: "warn", info: "info" };
  return h("div", { key: notice.id, class: `notice ${notice.kind}`, role: notice.kind === "bad" ? "alert" : "status" },
    icon(icons[notice.kind]),
    h("div", { class: "grow" },
      h("p", null, notice.text),
      notice.problems.length > 0 && problemList(notice.problems)),
    h("button", { class: "plain square", type: "button", "aria-label": t("close"), onclick: () => close(notice.id) }, icon("close")));
}

/** Lists why something was rejected. @param {Notice["problems"]} problems */
export function problemList(problems) {
  return h("ul", { class: "problems", lang: "en" }, problems.slice(0, 20).map((problem) =>
    h("li", null,
      (problem.file || problem.path) && h("code", null, [problem.file, problem.line || "", problem.path].filter(Boolean).join(": ")),
      " ", problem.message)));
}
