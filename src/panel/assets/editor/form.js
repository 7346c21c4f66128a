// Editors of whole documents, made from the schema: tables, maps, lists and tagged choices.

import { h } from "../core/dom.js";
import { known, t } from "../core/i18n.js";
import { asked } from "../parts/dialog.js";
import { icon } from "../parts/icons.js";
import { grouped } from "./groups.js";
import { param, remove, set, toggle } from "./fields.js";
import { firstValue, helpOf, join, kindOf, leaves, schemaAt, sentence, tagOf, titleOf, valueAt, variantOf } from "./schema.js";
import { sortable } from "./sortable.js";

/** @typedef {import("./fields.js").Context} Context */
/** @typedef {import("./schema.js").Schema} Schema */
/** @typedef {import("../core/dom.js").VNode} VNode */


/**
 * The editor of a value, whatever it is.
 * @param {Context} ctx @param {Schema} schema @param {string} path @param {string} key
 * @param {{ needsRestart?: boolean, skip?: string[], isBare?: boolean }} [more] `isBare`: without a frame around a table
 * @returns {import("../core/dom.js").Child}
 */
export function editor(ctx, schema, path, key, more = {}) {
  const needsRestart = more.needsRestart || schema["x-restart"] === true;
  const inner = { needsRestart };
  switch (kindOf(schema)) {
    case "table": return more.isBare
      ? [schema["x-restart"] && h("p", { key: `restart:${path}`, class: "small muted" }, h("span", { class: "pill warn" }, t("edit.restart")), " ", t("edit.restart_what")), rows(ctx, schema, path, { ...inner, skip: more.skip })]
      : group(ctx, schema, path, key, () => rows(ctx, schema, path, { ...inner, skip: more.skip }));
    case "map": return group(ctx, schema, path, key, () => mapRows(ctx, schema, path, inner));
    case "list": return group(ctx, schema, path, key, () => listRows(ctx, schema, path, key, inner));
    case "choice": return more.isBare ? choiceRows(ctx, schema, path, inner) : group(ctx, schema, path, key, () => choiceRows(ctx, schema, path, inner));
    // The frame around a value says that it restarts a part; not every value again.
    default: return param(ctx, schema, path, key);
  }
}

/**
 * A frame that opens and closes. What is inside is only built while it is open.
 * @param {Context} ctx @param {Schema} schema @param {string} path @param {string} key
 * @param {() => any} inside
 */
function group(ctx, schema, path, key, inside) {
  const isOpen = ctx.open.has(path);
  const help = helpOf(schema);
  const value = valueAt(ctx.docs[0].effective, path);
  const isMissing = (value === undefined || value === null) && kindOf(schema) !== "list" && kindOf(schema) !== "map";
  return h("details", { class: "group", key: path, open: isOpen, id: `group-${path.replace(/[^\w]+/g, "-")}`,
    ontoggle: (/** @type {any} */ e) => { if (e.target.open !== ctx.open.has(path)) { toggle(ctx.open, path); ctx.update(); } } },
    h("summary", null, h("span", { class: "grow" }, titleOf(schema, key)),
      schema["x-restart"] && h("span", { class: "pill warn", title: t("edit.restart_what") }, t("edit.restart")),
      h("span", { class: "small" }, countText(schema, value))),
    isOpen && h("div", { class: "inside" },
      help && h("p", { class: "group-help", lang: "en" }, help),
      isMissing
        ? h("button", { type: "button", disabled: ctx.isReadOnly, onclick: () => set(ctx, path, firstValue(schema)) }, icon("plus"), t("edit.add_value"))
        : inside()));
}

/** @param {Schema} schema @param {any} value */
function countText(schema, value) {
  const kind = kindOf(schema);
  if (kind === "list" && Array.isArray(value)) return t("edit.items", { n: value.length });
  if (kind === "map" && value) return t("edit.items", { n: Object.keys(value).length });
  if (kind === "choice" && value) return known("value", value[tagOf(schema)]) ?? sentence(value[tagOf(schema)] ?? "");
  return "";
}

/** @param {Context} ctx @param {Schema} schema @param {string} path @param {{ needsRestart?: boolean, skip?: string[] }} more */
export function rows(ctx, schema, path, more = {}) {
  const entries = Object.entries(schema.properties ?? {}).filter(([key, child]) => !more.skip?.includes(key) && !("const" in child));
  // Single values first, then tables, so that a page does not begin with frames.
  const isPlain = (/** @type {Schema} */ child) => !["table", "map", "list", "choice"].includes(kindOf(child));
  const plain = entries.filter(([, child]) => isPlain(child));
  const framed = entries.filter(([, child]) => !isPlain(child));
  return h("div", { class: "form", key: `rows:${path}` },
    plain.length > 0 && grouped(path, plain).map(({ title, entries: list }) => h("div", { class: "rows", key: `group:${title}` },
      title && h("h3", { class: "rows-title" }, t(`group.${title}`)),
      list.map(([key, child]) => editor(ctx, child, join(path, key), key, more)))),
    framed.map(([key, child]) => editor(ctx, child, join(path, key), key, { needsRestart: more.needsRestart })));
}

/** @param {Context} ctx @param {Schema} schema @param {string} path @param {{ needsRestart?: boolean }} more */
function choiceRows(ctx, schema, path, more) {
  const value = valueAt(ctx.docs[0].effective, path);
  const tag = tagOf(schema);
  const variant = variantOf(schema, value);
  const id = `v-${path.replace(/[^\w]+/g, "-")}-${tag}`;
  return h("div", { class: "form", key: `choice:${path}` },
    h("div", { class: "param" }, h("div", { class: "line" },
      h("div", { class: "name" }, h("label", { for: id }, t("edit.kind"))),
      h("div", { class: "control" }, h("select", { id, value: value?.[tag] ?? "", disabled: ctx.isReadOnly, onchange: (/** @type {any} */ e) => changeVariant(ctx, schema, path, e.target.value) },
        schema.oneOf.map((/** @type {Schema} */ option) => {
          const name = option.properties[tag].const;
          return h("option", { key: name, value: name }, known("value", name) ?? sentence(name));
        })))),
      variant?.description && h("p", { class: "help", lang: "en" }, helpOf(variant))),
    variant && rows(ctx, variant, path, more));
}

/** Changes the kind of a table, and keeps the values that both kinds have. @param {Context} ctx @param {Schema} schema @param {string} path @param {string} name */
function changeVariant(ctx, schema, path, name) {
  const tag = tagOf(schema);
  const next = schema.oneOf.find((/** @type {Schema} */ option) => option.properties[tag].const === name);
  const written = valueAt(ctx.docs[0].values, path) ?? {};
  const kept = Object.entries(written).filter(([key]) => key !== tag && key in next.properties);
  set(ctx, path, { ...firstValue(next), ...Object.fromEntries(kept), [tag]: name });
}

/** @param {Context} ctx @param {Schema} schema @param {string} path @param {{ needsRestart?: boolean }} more */
function mapRows(ctx, schema, path, more) {
  const value = valueAt(ctx.docs[0].effective, path) ?? {};
  const child = typeof schema.additionalProperties === "object" ? schema.additionalProperties : { type: "number" };
  const add = async () => {
    const offered = ctx.suggest(path, "").filter((name) => !(name in value));
    const name = await asked({ title: t("edit.add_value"), label: t("edit.name"), help: offered.length > 0 ? t("edit.offered", { names: offered.join(", ") }) : "", yes: t("edit.add"),
      check: (text) => (text in value ? t("edit.exists") : "") });
    if (name) set(ctx, join(path, name), firstValue({ default: child.type === "array" ? [] : undefined, ...child }));
  };
  return h("div", { class: "form" },
    Object.keys(value).map((key) => h("div", { key, class: "map-row" },
      editor(ctx, { ...child, title: child.oneOf || child.properties ? key : key }, join(path, key), key, more),
      !ctx.isReadOnly && ["table", "choice", "list"].includes(kindOf(child)) && h("button", { class: "plain square", type: "button", "aria-label": t("edit.remove", { name: key }), onclick: () => remove(ctx, join(path, key)) }, icon("trash")))),
    !ctx.isReadOnly && h("div", { class: "row" }, h("button", { type: "button", onclick: add }, icon("plus"), t("edit.add"))));
}

/** Returns a short name of a list item. @param {Schema} schema @param {any} item @param {number} index */
function itemTitle(schema, item, index) {
  if (item?.name) return String(item.name);
  const kind = schema.oneOf ? item?.[tagOf(schema)] : undefined;
  if (kind) return `${known("value", kind) ?? sentence(kind)} ${index + 1}`;
  return t("edit.item", { n: index + 1 });
}

/** @param {Context} ctx @param {Schema} schema @param {string} path @param {string} key @param {{ needsRestart?: boolean }} more */
function listRows(ctx, schema, path, key, more) {
  const items = valueAt(ctx.docs[0].effective, path);
  const list = Array.isArray(items) ? items : [];
  const isPlainList = !["table", "choice", "map"].includes(kindOf(schema.items));
  return h("div", { class: "form" },
    sortable({
      items: list.map((item, index) => ({ key: index, label: itemTitle(schema.items, item, index) })),
      isReadOnly: ctx.isReadOnly,
      move: (from, to) => moveItem(ctx, path, from, to),
      remove: (index) => removeItem(ctx, path, index),
      isOpen: (index) => ctx.open.has(join(path, index)),
      toggle: (index) => { toggle(ctx.open, join(path, index)); ctx.update(); },
      body: (index) => isPlainList
        ? editor(ctx, { title: t("edit.item", { n: index + 1 }), ...schema.items }, join(path, index), key, more)
        : editor(ctx, schema.items, join(path, index), key, { ...more, isBare: true }),
    }),
    !ctx.isReadOnly && h("div", { class: "row" }, h("button", { type: "button", onclick: () => addItem(ctx, schema, path) }, icon("plus"), t("edit.add"))));
}

/** @param {Context} ctx @param {Schema} schema @param {string} path */
export function addItem(ctx, schema, path) {
  const list = valueAt(ctx.docs[0].effective, path);
  ctx.open.add(join(path, Array.isArray(list) ? list.length : 0));
  insertItem(ctx, path, firstValue(schema.items));
}

/** @param {Context} ctx @param {string} path @param {any} value @param {number} [index] */
export function insertItem(ctx, path, value, index) {
  const change = index === undefined ? { do: "insert", value } : { do: "insert", index, value };
  ctx.send(ctx.docs.map((doc) => ({ document: doc.document, path, change })));
}

/** @param {Context} ctx @param {string} path @param {number} from @param {number} to */
export function moveItem(ctx, path, from, to) {
  ctx.send(ctx.docs.map((doc) => ({ document: doc.document, path: join(path, from), change: { do: "move", to } })));
}

/** @param {Context} ctx @param {string} path @param {number} index */
export function removeItem(ctx, path, index) {
  ctx.send(ctx.docs.map((doc) => ({ document: doc.document, path: join(path, index), change: { do: "remove" } })));
}

/**
 * Finds parameters by words of their name, help or path.
 * @param {string} query
 * @param {{ ctx: Context, schema: Schema, name: string }[]} sources
 * @param {number} most
 */
export function search(query, sources, most = 40) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const found = [];
  for (const source of sources) {
    for (const leaf of leaves(source.schema, source.ctx.docs[0].effective)) {
      const title = titleOf(leaf.schema, leaf.key).toLowerCase();
      const text = `${title} ${leaf.group} ${leaf.path} ${leaf.schema.description ?? ""} ${source.name}`.toLowerCase();
      if (!words.every((word) => text.includes(word))) continue;
      const score = words.filter((word) => title.includes(word)).length * 2 + words.filter((word) => leaf.path.includes(word)).length;
      found.push({ ...leaf, source, score });
    }
  }
  return found.sort((a, b) => b.score - a.score).slice(0, most);
}

/** @param {Context} ctx @param {Schema} schema @param {string} path */
export function at(ctx, schema, path) {
  return schemaAt(schema, ctx.docs[0].effective, path);
}

