// A text editor for a document, with its errors marked at their lines. It works when nothing else does: for a broken file.

import { command } from "../core/api.js";
import { h, View } from "../core/dom.js";
import { t } from "../core/i18n.js";
import { complain, fileOf } from "../core/store.js";
import { keepUnfinished } from "./unfinished.js";
import { icon } from "./icons.js";
import { notifyDone, problemList } from "./notices.js";

/** @typedef {import("../core/store.js").Doc} Doc */
/** @typedef {import("../core/api.js").Problem} Problem */
/** @typedef {import("../core/api.js").ApiError} ApiError */

class CodeEditor extends View {
  /** @type {Doc | null} */
  #doc = null;
  #shown = "";
  #text = "";
  /** @type {Problem[]} */
  #problems = [];
  #isBusy = false;
  isReadOnly = false;

  start() {
    this.until(keepUnfinished(() => (this.#doc !== null && this.#text !== this.#shown ? t("text.of", { file: fileOf(this.#doc.document) }) : "")));
  }

  /** @param {Doc} doc */
  set doc(doc) {
    const next = doc.broken_text ?? doc.text;
    // What a person typed stays; the text of the pool replaces it only if nothing was typed.
    if (this.#doc === null || this.#text === this.#shown || fileOf(doc.document) !== fileOf(this.#doc.document)) {
      this.#text = next;
      this.#problems = doc.problems ?? [];
    }
    this.#shown = next;
    this.#doc = doc;
    this.update();
  }

  view() {
    if (this.#doc === null) return null;
    const lines = this.#text.split("\n").length;
    const bad = new Set(this.#problems.map((problem) => problem.line));
    const isChanged = this.#text !== this.#shown;
    const file = fileOf(this.#doc.document);
    return h("div", { class: "column" },
      this.#doc.broken_text !== undefined && h("p", { class: "hint bad" }, icon("warn"), h("span", null, t("text.broken", { file }))),
      this.#problems.length > 0 && h("div", { class: "hint bad", role: "alert" }, icon("warn"), problemList(this.#problems)),
      h("div", { class: "code-editor" },
        h("div", { class: "gutter", "aria-hidden": "true" }, Array.from({ length: lines }, (_, index) =>
          h("div", { key: index, class: bad.has(index + 1) ? "bad" : "" }, index + 1))),
        h("textarea", { value: this.#text, rows: lines + 1, spellcheck: "false", autocapitalize: "none", wrap: "off", readonly: this.isReadOnly, "aria-label": t("text.of", { file }), "aria-invalid": this.#problems.length > 0 ? "true" : null,
          oninput: (/** @type {any} */ e) => { this.#text = e.target.value; this.update(); } })),
      !this.isReadOnly && h("div", { class: "row end" },
        h("button", { type: "button", disabled: !isChanged, onclick: () => { this.#text = this.#shown; this.#problems = this.#doc?.problems ?? []; this.update(); } }, t("text.reset")),
        h("button", { type: "button", class: "primary", disabled: !isChanged || this.#isBusy, onclick: () => this.#apply() }, t(this.#doc.broken_text === undefined ? "text.apply" : "text.apply_save"))));
  }

  async #apply() {
    if (this.#doc === null) return;
    this.#isBusy = true;
    try {
      const isBroken = this.#doc.broken_text !== undefined;
      const { unsaved } = await command({ command: "replace_text", document: this.#doc.document, text: this.#text });
      // The broken file stays on the disk until it is saved over.
      if (isBroken) await command({ command: "save" });
      this.#problems = [];
      this.#shown = this.#text;
      notifyDone(t("text.applied"), unsaved);
    } catch (error) {
      const { code, problems } = /** @type {ApiError} */ (error);
      this.#problems = problems;
      if (code !== "rejected") complain(/** @type {ApiError} */ (error));
    } finally {
      this.#isBusy = false;
      this.update();
    }
  }
}

customElements.define("shoal-code", CodeEditor);
