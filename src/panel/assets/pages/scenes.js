// The scenes: map, population, director, look, and every other parameter.

import { may } from "../core/api.js";
import { h, View } from "../core/dom.js";
import { t } from "../core/i18n.js";
import { documents, documentsOf, schema, send, setEdit, status, useDocuments } from "../core/store.js";
import { on } from "../core/topics.js";
import { context, speciesNames } from "../editor/context.js";
import { editor, removeItem } from "../editor/form.js";
import { floorPicture } from "../editor/floor_picture.js";
import { map, placedLists, things } from "../editor/map.js";
import { rules } from "../editor/rules.js";
import { firstValue, join, sentence, segments, tagOf, titleOf } from "../editor/schema.js";
import { brokenFiles } from "../parts/broken.js";
import "../parts/code_editor.js";
import { openDialog } from "../parts/dialog.js";
import { icon } from "../parts/icons.js";
import { tabPanel, tabs } from "../parts/tabs.js";
import { known } from "../core/i18n.js";
import { sceneTitle } from "./now.js";

/** Time between two pictures of the pool below the map. */
const PICTURE_MS = 4000;

class Scenes extends View {
  /** Name of the scene that is edited; `null` follows the pool. @type {string | null} */
  #name = null;
  #tab = "map";
  #thing = "";
  /** Address of the picture of the pool from above. */
  #below = "";
  #isTaking = false;
  #state = { open: new Set(["pool", "title"]), wrong: new Map() };

  start() {
    const timer = setInterval(() => this.#takePicture(), PICTURE_MS);
    this.until(() => clearInterval(timer), on("documents", () => { if (this.#below === "") this.#takePicture(); }));
    this.#takePicture();
    this.until(useDocuments(), ...["documents", "language", "session"].map((topic) => on(topic, this.update)));
    let last = "";
    this.until(on("status", () => {
      const next = JSON.stringify([status.scene, status.director]);
      if (next !== last) this.update();
      last = next;
    }));
  }

  stop() {
    URL.revokeObjectURL(this.#below);
  }

  /** Takes a new picture of the pool for the map. */
  async #takePicture() {
    const site = documents.get("site")?.effective;
    if (this.#tab !== "map" || !site || status?.outputs.length === 0 || this.#isTaking) return;
    this.#isTaking = true;
    const picture = await floorPicture(site.outputs ?? [], [site.surface.width_m, site.surface.height_m]).catch(() => "");
    this.#isTaking = false;
    URL.revokeObjectURL(this.#below);
    this.#below = picture;
    this.update();
  }

  view() {
    if (schema === null || status === null || documents.size === 0) return h("p", { class: "muted" }, t("connecting"));
    const name = this.#name ?? status.scene;
    const doc = documents.get(`scene/${name}`);
    const ctx = doc && context([doc], this.update, this.#state);
    const list = /** @type {[string, string][]} */ (["map", "population", "rules", "look", "all", "text"].map((tab) => [tab, t(`scenes.tab.${tab}`)]));
    return [
      h("div", { class: "page-head", key: "head" }, h("h1", { class: "unseen" }, t("page.scenes")), this.#chooser(name)),
      brokenFiles(),
      tabs(t("page.scenes"), list, this.#tab, (tab) => { this.#tab = tab; this.update(); }),
      ctx ? tabPanel(this.#tab, this.#panel(ctx)) : h("p", { class: "empty" }, t("scenes.none")),
    ];
  }

  /** @param {string} name */
  #chooser(name) {
    const names = documentsOf("scene").map((doc) => doc.document.name ?? "").sort((a, b) => sceneTitle(a).localeCompare(sceneTitle(b)));
    return h("div", { class: "row grow" },
      h("label", { class: "big-label", for: "scene" }, t("scenes.scene")),
      h("select", { id: "scene", class: "scene-select", value: name, onchange: (/** @type {any} */ e) => { this.#name = e.target.value; this.#thing = ""; this.update(); } },
        names.map((other) => h("option", { key: other, value: other }, other === status.scene ? t("scenes.shown", { name: sceneTitle(other) }) : sceneTitle(other)))),
      name !== status.scene && h("button", { class: "primary", type: "button", onclick: () => send({ command: "switch_scene", name }, t("now.done.scene", { scene: sceneTitle(name) })) }, icon("play"), t("scenes.show")));
  }

  /** @param {import("../editor/fields.js").Context} ctx */
  #panel(ctx) {
    const scene = schema.scene;
    switch (this.#tab) {
      case "map": return this.#map(ctx);
      case "population": return this.#population(ctx);
      case "rules": return rules(ctx, scene, ctx.docs[0].document.name === status.scene ? status.director : []);
      case "look": return h("section", { class: "card" }, h("h2", null, t("scenes.tab.look")), h("p", { class: "muted" }, t("scenes.look_help")), editor(ctx, scene.properties.look, "look", "look", { isBare: true }));
      case "text": return h("shoal-code", { doc: ctx.docs[0], key: ctx.docs[0].document.name });
      default: return h("div", { class: "form" }, editor(ctx, scene, "", "", { isBare: true, skip: ["population", "director", "look"] }));
    }
  }

  /** @param {import("../editor/fields.js").Context} ctx */
  #map(ctx) {
    const effective = ctx.docs[0].effective;
    const surface = documents.get("site")?.effective?.surface ?? {};
    const size = effective.designed_for_m ?? [surface.width_m ?? 4, surface.height_m ?? 3];
    const lists = placedLists(schema.scene);
    const all = things(ctx, lists);
    const chosen = all.find((thing) => thing.path === this.#thing);
    const choose = (/** @type {string} */ path) => {
      if (path === this.#thing) return;
      this.#thing = path;
      this.update();
    };
    return h("div", { class: "grid map-grid" },
      h("section", { class: "card column" },
        map(ctx, lists, size, this.#thing, choose, { url: ctx.docs[0].document.name === status.scene ? this.#below : "", eye_m: surface.eye_height_m ?? 4 }),
        h("p", { class: "small muted" }, t("map.help")),
        !ctx.isReadOnly && h("div", { class: "row" }, h("button", { type: "button", onclick: () => this.#addThing(ctx, lists) }, icon("plus"), t("map.add")))),
      h("section", { class: "card", key: this.#thing || "list" }, chosen
        ? this.#chosenThing(ctx, lists, chosen)
        : [h("h2", null, t("map.things", { n: all.length })), all.length === 0 ? h("p", { class: "muted" }, t("map.nothing")) : h("div", { class: "choices" }, all.map((thing) =>
          h("button", { key: thing.path, type: "button", onclick: () => choose(thing.path) }, h("span", { class: "grow" }, thing.title), icon("right"))))]));
  }

  /** @param {import("../editor/fields.js").Context} ctx @param {{ path: string, schema: any }[]} lists @param {import("../editor/map.js").Thing} thing */
  #chosenThing(ctx, lists, thing) {
    const list = lists.find((other) => other.path === thing.list);
    return [
      h("div", { class: "card-head" }, h("h2", null, thing.title),
        !ctx.isReadOnly && h("button", { class: "square plain", type: "button", "aria-label": t("edit.remove", { name: thing.title }), onclick: () => { this.#thing = ""; removeItem(ctx, thing.list, thing.index); } }, icon("trash")),
        h("button", { class: "square plain", type: "button", "aria-label": t("close"), onclick: () => { this.#thing = ""; this.update(); } }, icon("close"))),
      list && editor(ctx, list.schema.items, thing.path, "", { isBare: true }),
    ];
  }

  /** @param {import("../editor/fields.js").Context} ctx @param {{ path: string, schema: any }[]} lists */
  #addThing(ctx, lists) {
    openDialog(t("map.add"), (close) => h("div", { class: "choices" }, lists.flatMap(({ path, schema: list }) => {
      const variants = list.items.oneOf ?? [null];
      return variants.map((/** @type {any} */ variant) => {
        const tag = variant && tagOf(list.items);
        const kind = variant ? variant.properties[tag].const : null;
        const key = String(segments(path).at(-1));
        const title = kind ? `${titleOf(list, key)}: ${known("value", kind) ?? sentence(kind)}` : titleOf(list, key);
        return h("button", { key: `${path}:${kind}`, type: "button", onclick: () => {
          close();
          const items = things(ctx, lists).filter((thing) => thing.list === path);
          this.#thing = join(path, items.length);
          ctx.send([{ document: ctx.docs[0].document, path, change: { do: "insert", value: newThing(variant ?? list.items) } }]);
        } }, title);
      });
    })));
  }

  /** @param {import("../editor/fields.js").Context} ctx */
  #population(ctx) {
    const doc = ctx.docs[0];
    const population = doc.effective.population ?? {};
    const edit = (/** @type {string} */ name, /** @type {any} */ change) => send({ command: "edit", edits: [{ document: doc.document, path: join("population", name), change }] });
    const setCount = (/** @type {string} */ name, /** @type {number} */ n) => Number.isInteger(n) && n >= 0 && send({ command: "edit", edits: [setEdit(doc.document, join("population", name), n)] });
    const others = speciesNames().filter((name) => !(name in population));
    return h("section", { class: "card stack" },
      h("h2", null, t("scenes.tab.population")),
      h("p", { class: "muted" }, t("scenes.population_help", { n: Object.values(population).reduce((sum, n) => sum + Number(n), 0) })),
      h("ul", { class: "items" }, Object.entries(population).map(([name, n]) => h("li", { key: name, class: "species" },
        h("span", { class: "grow" }, name),
        h("div", { class: "stepper" },
          h("button", { class: "plain square", type: "button", disabled: !may("admin") || n === 0, "aria-label": t("life.fewer_of", { name }), onclick: () => setCount(name, Number(n) - 1) }, icon("minus")),
          h("input", { type: "number", min: 0, step: 1, value: String(n), disabled: !may("admin"), "aria-label": t("life.number_of", { name }), onchange: (/** @type {any} */ e) => setCount(name, Number(e.target.value)) }),
          h("button", { class: "plain square", type: "button", disabled: !may("admin"), "aria-label": t("life.more_of", { name }), onclick: () => setCount(name, Number(n) + 1) }, icon("plus"))),
        may("admin") && h("button", { class: "plain square", type: "button", "aria-label": t("edit.remove", { name }), onclick: () => edit(name, { do: "remove" }) }, icon("trash"))))),
      may("admin") && others.length > 0 && h("div", { class: "field" }, h("label", { for: "put-in" }, t("scenes.put_in")),
        h("select", { id: "put-in", value: "", onchange: (/** @type {any} */ e) => e.target.value && setCount(e.target.value, 1) }, h("option", { value: "" }, t("scenes.choose_species")), others.map((name) => h("option", { key: name, value: name }, name)))));
  }
}

/** Returns a new thing in the middle of the map. @param {any} schema */
function newThing(schema) {
  const value = firstValue(schema);
  for (const [key, child] of Object.entries(schema.properties ?? {})) {
    if ("const" in child) value[key] = child.const;
    else if (["center_m", "outline_m", "from_m", "to_m", "points_m", "radius_m"].includes(key) && child.default) value[key] = structuredClone(child.default);
  }
  return value;
}

customElements.define("shoal-scenes", Scenes);
