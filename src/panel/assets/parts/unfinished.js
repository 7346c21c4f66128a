// Entries that somebody began and has not put into use. A page says what they are, and nothing throws them away without a question.

import { t } from "../core/i18n.js";
import { answered } from "../core/store.js";
import { confirmed } from "./dialog.js";

/** @type {Set<() => string>} */
const begun = new Set();

/** Asks `what` before the page is left: what is unfinished in it; empty if nothing is. @param {() => string} what @returns {() => void} ends this */
export function keepUnfinished(what) {
  begun.add(what);
  return () => begun.delete(what);
}

/** Whether the page may be left: nothing in it is unfinished, or the user throws that away. @returns {Promise<boolean>} */
export async function mayLeave() {
  // What was just sent is in use in a moment, or rejected.
  if (unfinished() !== "") await answered();
  const what = unfinished();
  return what === "" || confirmed({ title: t("unfinished.title"), text: t("unfinished.text", { what }), yes: t("unfinished.leave"), no: t("unfinished.stay"), isDanger: true });
}

/** Returns what is unfinished; empty if nothing is. */
function unfinished() {
  return [...begun].map((what) => what()).find((text) => text !== "") ?? "";
}

/** Whether the user has thrown away what is unfinished. */
let isAllowed = false;

/** Goes to a page after the question. @param {string} hash */
async function leaveFor(hash) {
  if (!(await mayLeave())) return;
  isAllowed = true;
  location.hash = hash;
}

document.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("a[href^='#/']") : null;
  const hash = link?.getAttribute("href") ?? location.hash;
  if (hash === location.hash || unfinished() === "") return;
  event.preventDefault();
  event.stopPropagation();
  leaveFor(hash);
}, true);

// The buttons of the browser and typed addresses change the page: it stays until the question is answered.
window.addEventListener("hashchange", ({ oldURL }) => {
  if (isAllowed || unfinished() === "") {
    isAllowed = false;
    return;
  }
  const wanted = location.hash;
  history.replaceState(null, "", new URL(oldURL).hash);
  leaveFor(wanted);
});

// The browser asks itself before the page is closed or loaded again.
window.addEventListener("beforeunload", (event) => {
  if (unfinished() !== "") event.preventDefault();
});
