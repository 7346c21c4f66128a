// Earlier texts of a file: what each would change, and the way back to it.

import { get } from "../core/api.js";
import { h, View } from "../core/dom.js";
import { t, when } from "../core/i18n.js";
import { send } from "../core/store.js";
import { lineDiff } from "./diff.js";
import { icon } from "./icons.js";

/** @typedef {import("../core/store.js").Doc} Doc */
/** @typedef {{ file: string, replaced: string, text: string }} Version */

/** Number of equal lines that are shown around a difference. */
const CONTEXT = 2;

class Versions extends View {
  /** @type {Doc | null} */
  #doc = null;
  /** @type {Version[] | null} */
  #versions = null;
  #open = "";
  #savedText = "";

  /** @param {Doc} doc */
  set doc(doc) {
    this.#doc = doc;
    // A save makes a version of the text before.
    if (doc.is_unsaved !== true && doc.text !== this.#savedText) {
      this.#savedText = doc.text;
      this.#read();
    }
    this.update();
  }

  async #read() {
    if (this.#doc === null) return;
    const query = new URLSearchParams(/** @type {Record<string, string>} */ (this.#doc.document));
    const answer = await get(`/versions?${query}`).catch(() => null);
    this.#versions = answer?.versions ?? null;
    this.update();
  }

  view() {
    const doc = this.#doc;
    if (doc === null || this.#versions === null || this.#versions.length === 0) return null;
    return h("section", { class: "card stack top" },
      h("h2", null, t("versions.title")),
      h("p", { class: "muted" }, t("versions.help")),
      h("ul", { class: "items" }, this.#versions.map((version) => h("li", { key: version.file, class: "item" },
        h("div", { class: "item-head" },
          h("button", { type: "button", class: "plain item-title grow", "aria-expanded": String(this.#open === version.file), onclick: () => { this.#open = this.#open === version.file ? "" : version.file; this.update(); } }, t("versions.until", { time: when(version.replaced) }))),
        this.#open === version.file && this.#compared(doc, version)))));
  }

  /** @param {Doc} doc @param {Version} version */
  #compared(doc, version) {
    if (version.text === doc.text) return h("div", { class: "inside" }, h("p", { class: "muted" }, t("versions.equal")));
    const lines = lineDiff(doc.text, version.text);
    const isNear = (/** @type {number} */ index) => lines.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some((line) => line.kind !== "same");
    const signs = { same: " ", added: "+", removed: "−" };
    return h("div", { class: "inside stack" },
      h("p", { class: "small muted" }, t("versions.signs")),
      h("pre", { class: "diff", tabindex: "0" }, lines.map((line, index) => {
        if (isNear(index)) return h("span", { key: index, class: line.kind }, `${signs[line.kind]} ${line.text}\n`);
        return index > 0 && isNear(index - 1) && h("span", { key: index, class: "same" }, "  …\n");
      })),
      h("div", { class: "row end" }, h("button", { type: "button", class: "primary", onclick: () => this.#restore(doc, version) }, icon("revert"), t("versions.restore"))));
  }

  /** @param {Doc} doc @param {Version} version */
  async #restore(doc, version) {
    await send({ command: "replace_text", document: doc.document, text: version.text }, t("versions.restored"));
  }
}

customElements.define("shoal-versions", Versions);
