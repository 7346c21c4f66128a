// The species: how many, what they want and do, how they relate, and every number.

import { may, upload } from "../core/api.js";
import { h, View } from "../core/dom.js";
import { t } from "../core/i18n.js";
import { complain, documents, documentsOf, schema, send, setEdit, status, useDocuments } from "../core/store.js";
import { on } from "../core/topics.js";
import { context } from "../editor/context.js";
import { param } from "../editor/fields.js";
import { editor, search } from "../editor/form.js";
import { mind } from "../editor/mind.js";
import { relations } from "../editor/relations.js";
import { renameCommands } from "../editor/rename.js";
import { join } from "../editor/schema.js";
import { asked, confirmed, openDialog } from "../parts/dialog.js";
import { brokenFiles } from "../parts/broken.js";
import "../parts/code_editor.js";
import { icon } from "../parts/icons.js";
import { tabPanel, tabs } from "../parts/tabs.js";
import { thumbnail } from "../parts/thumbnail.js";

/** @typedef {import("../core/store.js").Doc} Doc */

class Life extends View {
  /** @type {Set<string>} */
  #chosen = new Set();
  /** A species that was just added, until the documents contain it. */
  #expected = "";
  #tab = "mind";
  #query = "";
  #state = { open: new Set(["body", "motion"]), wrong: new Map() };
  #relations = { relation: "enemy", added: /** @type {string[]} */ ([]) };
  #showsAll = false;

  start() {
    this.until(useDocuments(), ...["documents", "language", "session"].map((topic) => on(topic, this.update)));
    let last = "";
    this.until(on("status", () => {
      const next = JSON.stringify([status.scene, Object.entries(status.species).map(([name, s]) => [name, /** @type {any} */ (s).count])]);
      if (next !== last) this.update();
      last = next;
    }));
  }

  /** @returns {Doc | undefined} */
  #scene() {
    return documents.get(`scene/${status?.scene}`);
  }

  /** The species of the list: those of the scene, then all others. */
  #listed() {
    const population = this.#scene()?.effective?.population ?? {};
    const all = documentsOf("species").sort((a, b) => (a.document.name ?? "").localeCompare(b.document.name ?? ""));
    const here = all.filter((doc) => (doc.document.name ?? "") in population);
    const others = all.filter((doc) => !((doc.document.name ?? "") in population));
    return { here, others, population };
  }

  view() {
    if (schema === null || status === null || documents.size === 0) return h("p", { class: "muted" }, t("connecting"));
    const { here, others, population } = this.#listed();
    const names = new Set([...here, ...others].map((doc) => doc.document.name ?? ""));
    if (names.has(this.#expected)) {
      this.#chosen = new Set([this.#expected]);
      this.#expected = "";
    }
    for (const name of this.#chosen) if (!names.has(name)) this.#chosen.delete(name);
    if (this.#chosen.size === 0) this.#chosen.add((here[0] ?? others[0])?.document.name ?? "");
    const docs = [...this.#chosen].map((name) => documents.get(`species/${name}`)).filter((doc) => doc !== undefined);
    if (docs.length === 0) return h("p", { class: "empty" }, t("life.none"));
    return [
      h("div", { class: "page-head", key: "head" }, h("h1", null, t("page.life")), this.#searchField(),
        !may("admin") && h("p", { class: "hint plain-hint" }, icon("info"), t("life.read_only"))),
      brokenFiles(),
      this.#query.trim() !== "" ? this.#found(docs) : h("div", { class: "grid side", key: "life" },
        this.#list(here, others, population), this.#expected ? h("p", { class: "muted" }, t("connecting")) : this.#editors(docs, here)),
    ];
  }

  #searchField() {
    return h("div", { class: "search", key: "search" }, icon("search"),
      h("input", { type: "search", value: this.#query, placeholder: t("life.search"), "aria-label": t("life.search"), oninput: (/** @type {any} */ e) => { this.#query = e.target.value; this.update(); } }));
  }

  /** @param {Doc[]} docs */
  #found(docs) {
    const sources = [
      { ctx: context(docs, this.update, this.#state), schema: schema.species, name: docs.map((d) => d.document.name).join(", ") },
    ];
    const scene = this.#scene();
    const site = documents.get("site");
    if (scene) sources.push({ ctx: context([scene], this.update, this.#state), schema: schema.scene, name: t("life.scene", { name: scene.document.name ?? "" }) });
    if (site) sources.push({ ctx: context([site], this.update, this.#state), schema: schema.site, name: t("file.site") });
    const found = search(this.#query, sources);
    return h("section", { class: "card", key: "found", "aria-live": "polite" },
      h("p", { class: "muted" }, t("life.found", { n: found.length })),
      found.map((leaf) => h("div", { key: `${leaf.source.name}:${leaf.path}` }, param(leaf.source.ctx, leaf.schema, leaf.path, leaf.key, { needsRestart: leaf.needsRestart, group: [leaf.source.name, leaf.group].filter(Boolean).join(" › ") }))));
  }

  /** @param {Doc[]} here @param {Doc[]} others @param {Record<string, number>} population */
  #list(here, others, population) {
    return h("section", { class: "card species-list", key: "list" },
      h("div", { class: "card-head" }, h("h2", null, t("life.species")),
        may("admin") && h("button", { class: "square", type: "button", "aria-label": t("life.add"), title: t("life.add"), onclick: () => this.#addSpecies() }, icon("plus"))),
      may("admin") && h("p", { class: "small muted" }, t("life.choose")),
      h("ul", null, here.map((doc) => this.#row(doc, population[doc.document.name ?? ""]))),
      others.length > 0 && h("button", { class: "plain block", type: "button", "aria-expanded": String(this.#showsAll), onclick: () => { this.#showsAll = !this.#showsAll; this.update(); } }, t(this.#showsAll ? "life.fewer" : "life.others", { n: others.length })),
      this.#showsAll && h("ul", null, others.map((doc) => this.#row(doc, null))));
  }

  /** @param {Doc} doc @param {number | null} wanted number in the scene; `null` if it is not in it */
  #row(doc, wanted) {
    const name = doc.document.name ?? "";
    const isChosen = this.#chosen.has(name);
    const living = status.species[name]?.count ?? 0;
    const setCount = (/** @type {number} */ n) => {
      const scene = this.#scene();
      if (scene && Number.isInteger(n) && n >= 0) send({ command: "edit", edits: [setEdit(scene.document, join("population", name), n)] });
    };
    return h("li", { key: name, class: isChosen ? "species chosen" : "species" },
      h("label", { class: "tick grow" },
        h("input", { type: "checkbox", checked: isChosen, "aria-label": t("life.choose_one", { name }), onchange: () => this.#choose(name, true) }),
        thumbnail("species", name),
        h("span", { class: "grow", onclick: (/** @type {Event} */ e) => { e.preventDefault(); this.#choose(name, false); } }, name,
          wanted !== null && living !== wanted && h("small", { class: "muted" }, " ", t("life.living", { n: living })))),
      wanted === null
        ? may("admin") && h("button", { type: "button", onclick: () => setCount(1) }, t("life.put_in"))
        : h("div", { class: "stepper" },
          h("button", { class: "plain square", type: "button", disabled: !may("admin") || wanted === 0, "aria-label": t("life.fewer_of", { name }), onclick: () => setCount(wanted - 1) }, icon("minus")),
          h("input", { type: "number", min: 0, step: 1, inputmode: "numeric", value: String(wanted), disabled: !may("admin"), "aria-label": t("life.number_of", { name }), onchange: (/** @type {any} */ e) => setCount(Number(e.target.value)) }),
          h("button", { class: "plain square", type: "button", disabled: !may("admin"), "aria-label": t("life.more_of", { name }), onclick: () => setCount(wanted + 1) }, icon("plus"))));
  }

  /** @param {string} name @param {boolean} isAdded */
  #choose(name, isAdded) {
    if (!isAdded) this.#chosen = new Set([name]);
    else if (!this.#chosen.delete(name)) this.#chosen.add(name);
    this.#state.wrong.clear();
    this.update();
  }

  /** @param {Doc[]} docs @param {Doc[]} here */
  #editors(docs, here) {
    const ctx = context(docs, this.update, this.#state);
    const isOne = docs.length === 1;
    const title = docs.map((doc) => doc.document.name).join(", ");
    const list = /** @type {[string, string][]} */ (["mind", "numbers", "drives", "relations", "text"].map((name) => [name, t(`life.tab.${name}`)]));
    return h("div", { key: "editors" },
      h("div", { class: "row spread" }, h("h2", { class: "chosen-title" }, isOne ? title : t("life.several", { n: docs.length, names: title })),
        isOne && may("admin") && h("button", { class: "plain", type: "button", onclick: () => this.#rename(docs[0]) }, icon("edit"), h("span", null, t("life.rename"))),
        isOne && may("admin") && h("button", { class: "plain", type: "button", onclick: () => this.#removeSpecies(docs[0]) }, icon("trash"), h("span", null, t("life.remove")))),
      isOne && docs[0].values.extends && h("p", { class: "small muted" }, t("life.extends", { name: docs[0].values.extends })),
      tabs(t("page.life"), list, this.#tab, (name) => { this.#tab = name; this.update(); }),
      tabPanel(this.#tab, this.#panel(ctx, docs, here)));
  }

  /** @param {import("../editor/fields.js").Context} ctx @param {Doc[]} docs @param {Doc[]} here */
  #panel(ctx, docs, here) {
    const several = docs.length > 1 && h("p", { class: "hint" }, icon("info"), h("span", null, t("life.several_help", { name: docs[0].document.name ?? "" })));
    switch (this.#tab) {
      case "mind":
        return docs.length > 1 ? h("p", { class: "empty" }, t("life.only_one")) : mind(ctx, schema.species);
      case "drives":
        return [several, h("section", { class: "card" }, h("h2", null, t("life.tab.drives")), h("p", { class: "muted" }, t("life.drives_help")), editor(ctx, schema.species.properties.drives, "drives", "drives", { isBare: true }))];
      case "relations":
        return relations(here.length > 0 ? here : docs, this.#relations, ctx);
      case "text":
        return docs.length > 1 ? h("p", { class: "empty" }, t("life.only_one")) : h("shoal-code", { doc: docs[0], key: docs[0].document.name });
      default:
        return [several, h("div", { class: "form" }, editor(ctx, schema.species, "", "", { isBare: true, skip: ["needs", "actions", "standard", "relations", "drives"] })), !ctx.isReadOnly && this.#model(ctx)];
    }
  }

  /** Brings a model of a designer into the site. @param {import("../editor/fields.js").Context} ctx */
  #model(ctx) {
    const take = async (/** @type {HTMLInputElement} */ input) => {
      const file = input.files?.[0];
      input.value = "";
      if (!file) return;
      try {
        const name = file.name.replace(/\.glb$/i, "");
        const { model } = await upload(`/models?name=${encodeURIComponent(name)}`, file, "model/gltf-binary");
        ctx.send(ctx.docs.map((doc) => setEdit(doc.document, "look.model", model)));
      } catch (error) {
        complain(/** @type {import("../core/api.js").ApiError} */ (error));
      }
    };
    return h("div", { class: "field card top" }, h("label", { for: "model-file" }, t("life.model")),
      h("input", { id: "model-file", type: "file", accept: ".glb", "aria-describedby": "model-help", onchange: (/** @type {any} */ e) => take(e.target) }),
      h("p", { class: "help", id: "model-help" }, t("life.model_help")));
  }

  #addSpecies() {
    const names = documentsOf("species").map((doc) => doc.document.name ?? "").sort();
    let name = "";
    let like = [...this.#chosen][0];
    let count = 6;
    let wrong = "";
    openDialog(t("life.add"), (close, update) => h("form", { class: "stack", onsubmit: async (/** @type {Event} */ e) => {
      e.preventDefault();
      wrong = !/^[a-z][a-z0-9_]*$/.test(name) ? t("life.name_rule") : names.includes(name) ? t("edit.exists") : "";
      if (wrong) return update();
      close();
      if (await send({ command: "add_species", name, like, count }, t("life.added", { name }))) this.#expected = name;
      this.update();
    } },
      h("div", { class: "field" }, h("label", { for: "new-name" }, t("edit.name")), h("input", { id: "new-name", value: name, autocomplete: "off", autocapitalize: "none", "aria-invalid": wrong ? "true" : null, "aria-describedby": "new-name-help", oninput: (/** @type {any} */ e) => { name = e.target.value; } }), h("p", { class: "help", id: "new-name-help" }, wrong || t("life.name_rule"))),
      h("div", { class: "field" }, h("label", { for: "new-like" }, t("life.like")), h("select", { id: "new-like", value: like, onchange: (/** @type {any} */ e) => { like = e.target.value; } }, names.map((other) => h("option", { key: other, value: other }, other))), h("p", { class: "help" }, t("life.like_help"))),
      h("div", { class: "field" }, h("label", { for: "new-count" }, t("life.count")), h("input", { id: "new-count", type: "number", min: 0, max: 10000, value: String(count), onchange: (/** @type {any} */ e) => { count = Math.max(0, Math.round(Number(e.target.value))); } })),
      h("div", { class: "row end" }, h("button", { type: "button", onclick: close }, t("cancel")), h("button", { type: "submit", class: "primary" }, t("edit.add")))));
  }

  /** @param {Doc} doc */
  async #rename(doc) {
    const old = doc.document.name ?? "";
    const names = documentsOf("species").map((other) => other.document.name ?? "");
    const name = await asked({ title: t("life.rename_title", { name: old }), label: t("edit.name"), value: old, help: t(doc.is_built_in ? "life.rename_built_in" : "life.name_rule"), yes: t("life.rename"),
      check: (text) => (!/^[a-z][a-z0-9_]*$/.test(text) ? t("life.name_rule") : text !== old && names.includes(text) ? t("edit.exists") : "") });
    if (!name || name === old) return;
    if (await send(renameCommands(doc, name), t("life.renamed", { old, name }))) this.#expected = name;
    this.update();
  }

  /** @param {Doc} doc */
  async #removeSpecies(doc) {
    const name = doc.document.name ?? "";
    if (await confirmed({ title: t("life.remove_title", { name }), text: t(doc.is_built_in ? "life.remove_built_in" : "life.remove_text"), yes: t("life.remove"), isDanger: true })) {
      send({ command: "remove_species", name }, t("life.removed", { name }));
    }
  }
}

customElements.define("shoal-life", Life);
