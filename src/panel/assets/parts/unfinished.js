// Entries that somebody began and has not put into use. A page says what they are, and no link throws them away without a question.

import { t } from "../core/i18n.js";
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
  const what = unfinished();
  return what === "" || confirmed({ title: t("unfinished.title"), text: t("unfinished.text", { what }), yes: t("unfinished.leave"), no: t("unfinished.stay"), isDanger: true });
}

/** Returns what is unfinished; empty if nothing is. */
function unfinished() {
  return [...begun].map((what) => what()).find((text) => text !== "") ?? "";
}

// Links change the address, and with it the page.
document.addEventListener("click", async (event) => {
  const link = event.target instanceof Element ? event.target.closest("a[href^='#/']") : null;
  const href = link?.getAttribute("href") ?? "";
  if (href === "" || href === location.hash || unfinished() === "") return;
  event.preventDefault();
  event.stopPropagation();
  if (await mayLeave()) location.hash = href;
}, true);
