// Dialogs, in the browser's own dialog element: it keeps the focus inside and closes with Escape.

import { h, patch } from "../core/dom.js";
import { t } from "../core/i18n.js";
import { icon } from "./icons.js";

/** @typedef {import("../core/dom.js").Child} Child */

/**
 * Opens a dialog. `content` is called again whenever its `update` is called.
 * @param {string} title
 * @param {(close: () => void, update: () => void) => Child} content
 * @returns {Promise<void>} when the dialog is closed
 */
export function openDialog(title, content) {
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-label", title);
  document.body.append(dialog);
  const close = () => dialog.close();
  const update = () => patch(dialog, [
    h("div", { class: "dialog-head" }, h("h2", null, title),
      h("button", { class: "plain square", type: "button", "aria-label": t("close"), onclick: close }, icon("close"))),
    h("div", { class: "dialog-body" }, content(close, update)),
  ]);
  update();
  dialog.addEventListener("click", (event) => {
    // A slip beside a form does not throw away what was typed in it.
    if (event.target === dialog && dialog.querySelector("input, textarea, select") === null) close();
  });
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => {
    dialog.remove();
    resolve();
  }));
}

/**
 * Asks before something that is hard to take back.
 * @param {{ title: string, text: string, yes: string, no?: string, isDanger?: boolean }} question
 * @returns {Promise<boolean>}
 */
export async function confirmed({ title, text, yes, no, isDanger }) {
  let answer = false;
  await openDialog(title, (close) => [
    h("p", null, text),
    h("div", { class: "row end" },
      h("button", { type: "button", onclick: close }, no ?? t("cancel")),
      h("button", { type: "button", class: isDanger ? "danger" : "primary", onclick: () => { answer = true; close(); } }, yes)),
  ]);
  return answer;
}

/**
 * Asks for a short text. Returns `null` if nothing was entered.
 * @param {{ title: string, label: string, help?: string, value?: string, yes: string, check?: (text: string) => string }} question
 * @returns {Promise<string | null>}
 */
export async function asked({ title, label, help, value = "", yes, check = () => "" }) {
  let text = value;
  let wrong = "";
  /** @type {string | null} */
  let answer = null;
  await openDialog(title, (close, update) => h("form", { class: "stack", onsubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    wrong = text.trim() === "" ? t("dialog.empty") : check(text.trim());
    if (wrong) return update();
    answer = text.trim();
    close();
  } },
    h("div", { class: "field" },
      h("label", { for: "asked" }, label),
      h("input", { id: "asked", value: text, autocomplete: "off", spellcheck: "false", "aria-invalid": wrong ? "true" : null, "aria-describedby": "asked-help", oninput: (/** @type {any} */ e) => { text = e.target.value; } }),
      h("p", { class: "help", id: "asked-help" }, wrong || help)),
    h("div", { class: "row end" },
      h("button", { type: "button", onclick: close }, t("cancel")),
      h("button", { type: "submit", class: "primary" }, yes))));
  return answer;
}
