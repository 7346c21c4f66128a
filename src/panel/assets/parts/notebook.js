// The maintenance notebook: who did what to the installation, and when.

import { ApiError, get, post, session } from "../core/api.js";
import { h, View } from "../core/dom.js";
import { t, when } from "../core/i18n.js";
import { complain } from "../core/store.js";
import { on } from "../core/topics.js";
import { keepUnfinished } from "./unfinished.js";
import { icon } from "./icons.js";
import { notify } from "./notices.js";

/** @typedef {{ time: string, person: string, note: string }} Entry */

class Notebook extends View {
  /** Newest first. @type {Entry[] | null} */
  #entries = null;
  #person = session.user ?? "";
  #note = "";

  start() {
    this.until(on("language", this.update), keepUnfinished(() => (this.#note.trim() === "" ? "" : t("notebook.new"))));
    get("/notebook").then((answer) => this.#take(answer)).catch(complain);
  }

  /** @param {{ entries: Entry[] }} answer */
  #take(answer) {
    this.#entries = answer.entries.reverse();
    this.update();
  }

  /** @param {Event} event */
  async #add(event) {
    event.preventDefault();
    try {
      this.#take(await post("/notebook", { person: this.#person, note: this.#note }));
      this.#note = "";
      this.update();
      notify("good", t("notebook.added"));
    } catch (error) {
      complain(/** @type {ApiError} */ (error));
    }
  }

  view() {
    const entries = this.#entries;
    return [
      h("form", { class: "card stack", key: "new", onsubmit: (/** @type {Event} */ e) => this.#add(e) },
        h("h2", null, t("notebook.new")),
        h("p", { class: "muted" }, t("notebook.help")),
        h("div", { class: "field" }, h("label", { for: "note-person" }, t("notebook.person")), h("input", { id: "note-person", required: true, maxlength: 60, value: this.#person, oninput: (/** @type {any} */ e) => { this.#person = e.target.value; } })),
        h("div", { class: "field" }, h("label", { for: "note-text" }, t("notebook.note")), h("textarea", { id: "note-text", required: true, maxlength: 2000, value: this.#note, oninput: (/** @type {any} */ e) => { this.#note = e.target.value; } })),
        h("div", { class: "row" }, h("button", { type: "submit", class: "primary" }, icon("plus"), t("notebook.add")))),
      h("section", { class: "card stack top", key: "entries" },
        h("h2", null, t("notebook.entries")),
        entries === null ? h("p", { class: "muted" }, t("connecting")) : entries.length === 0 ? h("p", { class: "empty" }, t("notebook.none")) :
          h("ul", { class: "items" }, entries.map((entry, index) => h("li", { key: entries.length - index, class: "item note" },
            h("p", { class: "small muted" }, h("time", { datetime: entry.time }, when(entry.time)), " · ", entry.person), h("p", { class: "note-text" }, entry.note))))),
    ];
  }
}

customElements.define("shoal-notebook", Notebook);
