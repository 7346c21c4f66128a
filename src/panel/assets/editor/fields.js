// Editors of single values: number, yes or no, choice, text, point, list of names.

import { h } from "../core/dom.js";
import { known, number, t } from "../core/i18n.js";
import { parseNumber } from "../core/numbers.js";
import { icon } from "../parts/icons.js";
import { axes, choiceHelp, helpOf, kindOf, sentence, titleOf, valueAt } from "./schema.js";

/** @typedef {import("./schema.js").Schema} Schema */
/** @typedef {import("../core/store.js").Doc} Doc */
/** @typedef {import("../core/store.js").Edit} Edit */

/**
 * What the editors of a page share.
 * @typedef {object} Context
 * @property {Doc[]} docs documents that are edited together; the first one is shown
 * @property {(edits: Edit[]) => void} send applies edits
 * @property {() => void} update draws the page again
 * @property {Map<string, Wrong>} wrong values that were not sent, by path
 * @property {Set<string>} open paths of the opened groups and helps
 * @property {(path: string, key: string) => string[]} suggest names that can be chosen
 * @property {boolean} isReadOnly
 */

/** Largest range that a slider covers usefully. */
const SLIDER_SPAN_MAX = 20;
let lastId = 0;

/**
 * A parameter: its name, its value, its unit, its help, and a button back to the default.
 * @param {Context} ctx
 * @param {Schema} schema
 * @param {string} path
 * @param {string} key
 * @param {{ needsRestart?: boolean, group?: string }} [more]
 */
export function param(ctx, schema, path, key, more = {}) {
  const id = idOf(path);
  const help = helpOf(schema);
  const isOpen = ctx.open.has(`help:${path}`);
  const isSet = ctx.docs.some((doc) => valueAt(doc.values, path) !== undefined);
  const isRequired = schema.default === undefined && !("default" in schema);
  const wrong = wrongOf(ctx, path);
  const title = titleOf(schema, key);
  const value = valueAt(ctx.docs[0].effective, path);
  const choice = kindOf(schema) === "enum" ? choiceHelp(schema)[value] : undefined;
  return h("div", { class: isSet ? "param is-set" : "param", key: path, id: `param-${id}` },
    h("div", { class: "line" },
      h("div", { class: "name" },
        h("label", { for: id, id: `${id}-label` }, title),
        help && h("button", { class: "plain", type: "button", "aria-expanded": String(isOpen), "aria-label": t("edit.help", { name: title }), onclick: () => { toggle(ctx.open, `help:${path}`); ctx.update(); } }, icon("info")),
        (more.needsRestart || schema["x-restart"]) && h("span", { class: "pill warn", title: t("edit.restart_what") }, t("edit.restart")),
        differs(ctx, path) && h("span", { class: "pill accent" }, t("edit.differs"))),
      h("div", { class: "control" },
        control(ctx, schema, path, key, id),
        isSet && !ctx.isReadOnly && !(isRequired && schema.type === undefined) && resetButton(ctx, schema, path, title))),
    more.group && h("p", { class: "small muted" }, more.group),
    wrong && h("p", { class: "wrong", id: `${id}-wrong`, role: "alert" }, wrong.message),
    isOpen && h("p", { class: "help", lang: "en", id: `${id}-help` }, [help, choice && `${sentence(String(value))}: ${choice}`, rangeText(schema)].filter(Boolean).join("\n")));
}

/** @param {string} path */
export function idOf(path) {
  return `v-${path.replace(/[^\w]+/g, "-")}`;
}

/** @param {Set<string>} set @param {string} item */
export function toggle(set, item) {
  if (!set.delete(item)) set.add(item);
}

/** Whether the documents have different values. @param {Context} ctx @param {string} path */
function differs(ctx, path) {
  const [first, ...rest] = ctx.docs.map((doc) => JSON.stringify(valueAt(doc.effective, path)));
  return rest.some((other) => other !== first);
}

/** @param {Context} ctx @param {Schema} schema @param {string} path @param {string} title */
function resetButton(ctx, schema, path, title) {
  if (schema.default === undefined && ctx.docs[0].values.extends === undefined && schema.type !== "number" && schema.type !== "string") return null;
  const label = t("edit.reset", { name: title });
  return h("button", { class: "plain square", type: "button", title: label, "aria-label": label, onclick: () => remove(ctx, path) }, icon("revert"));
}

/** A text that is no value, and the value that it was to replace. @typedef {{ message: string, text: string, index: number, of: string }} Wrong */

/** Keeps a text that is no value, so that it can be corrected. @param {Context} ctx @param {string} path @param {string} message @param {string} text @param {number} [index] which number of several */
export function keepWrong(ctx, path, message, text, index = 0) {
  ctx.wrong.set(path, { message, text, index, of: JSON.stringify(valueAt(ctx.docs[0].effective, path)) });
  ctx.update();
}

/** Returns the text that is no value; nothing if the value has changed since. @param {Context} ctx @param {string} path */
export function wrongOf(ctx, path) {
  const wrong = ctx.wrong.get(path);
  if (wrong && wrong.of !== JSON.stringify(valueAt(ctx.docs[0].effective, path))) ctx.wrong.delete(path);
  return ctx.wrong.get(path);
}

/** Sets the value in every document. @param {Context} ctx @param {string} path @param {any} value */
export function set(ctx, path, value) {
  ctx.wrong.delete(path);
  ctx.send(ctx.docs.map((doc) => ({ document: doc.document, path, change: { do: "set", value } })));
}

/** Removes the value where it is set. @param {Context} ctx @param {string} path */
export function remove(ctx, path) {
  ctx.wrong.delete(path);
  const docs = ctx.docs.filter((doc) => valueAt(doc.values, path) !== undefined);
  ctx.send(docs.map((doc) => ({ document: doc.document, path, change: { do: "remove" } })));
}

/** @param {Schema} schema */
function rangeText(schema) {
  if (schema.minimum === undefined || schema.maximum === undefined) return "";
  const unit = schema["x-unit"] ? ` ${schema["x-unit"]}` : "";
  const standard = schema.default !== undefined && schema.default !== null ? ` ${t("edit.default", { value: showValue(schema.default) })}` : "";
  return `${t("edit.range", { from: number(schema.minimum, 4), to: number(schema.maximum, 4) + unit })}${standard}`;
}

/** @param {any} value */
function showValue(value) {
  return typeof value === "number" ? number(value, 4) : String(value);
}

/**
 * @param {Context} ctx @param {Schema} schema @param {string} path @param {string} key @param {string} id
 * @returns {import("../core/dom.js").Child}
 */
function control(ctx, schema, path, key, id) {
  const value = valueAt(ctx.docs[0].effective, path);
  switch (kindOf(schema)) {
    case "number":
    case "integer": return numberField(ctx, schema, path, value, id);
    case "boolean": return h("input", { type: "checkbox", id, checked: value === true, disabled: ctx.isReadOnly, onchange: (/** @type {any} */ e) => set(ctx, path, e.target.checked) });
    case "enum": return h("select", { id, value: value ?? "", disabled: ctx.isReadOnly, onchange: (/** @type {any} */ e) => set(ctx, path, e.target.value) },
      schema.enum.map((/** @type {string} */ name) => h("option", { key: name, value: name }, known("value", name) ?? sentence(name))));
    case "vector": return vectorField(ctx, schema, path, value, id, key);
    case "names": return namesField(ctx, path, key, Array.isArray(value) ? value : [], id);
    default: return textField(ctx, schema, path, key, value, id);
  }
}

/** Step of the arrow keys: about a tenth of the usual value. @param {Schema} schema @param {any} value */
function stepOf(schema, value) {
  if (schema.type === "integer") return 1;
  const usual = Math.abs(Number(schema.default || value || 1));
  return 10 ** Math.floor(Math.log10(usual || 1) - 0.7);
}

/** @param {Context} ctx @param {Schema} schema @param {string} path @param {any} value @param {string} id */
function numberField(ctx, schema, path, value, id) {
  const { minimum: low, maximum: high } = schema;
  const hasSlider = low !== undefined && high !== undefined && high - low <= SLIDER_SPAN_MAX && !(schema.type === "integer" && high - low > 64);
  const shown = typeof value === "number" ? tidy(value) : "";
  const wrong = wrongOf(ctx, path);
  return [
    h("input", { class: "numeric", id, value: wrong?.text ?? shown, inputmode: "decimal", autocomplete: "off", "data-step": stepOf(schema, value), onkeydown: stepWithArrows, disabled: ctx.isReadOnly,
      placeholder: t("edit.automatic"), "aria-invalid": wrong ? "true" : null, "aria-describedby": wrong ? `${id}-wrong` : null,
      onchange: (/** @type {any} */ e) => takeNumber(ctx, schema, path, e.target.value) }),
    h("span", { class: "unit" }, schema["x-unit"] ?? ""),
    hasSlider && h("input", { type: "range", value: shown === "" ? String(low) : shown, min: low, max: high, step: schema.type === "integer" ? 1 : "any", tabindex: "-1", "aria-hidden": "true", disabled: ctx.isReadOnly,
      oninput: (/** @type {any} */ e) => { const field = /** @type {HTMLInputElement | null} */ (document.getElementById(id)); if (field) field.value = round(Number(e.target.value), high - low); },
      onchange: (/** @type {any} */ e) => takeNumber(ctx, schema, path, round(Number(e.target.value), high - low)) }),
  ];
}

/**
 * Lets the arrow keys change a number. The field is a text, because a browser reads a decimal comma in its own language only, and
 * drops it otherwise: 4,2 would be 42.
 * @param {KeyboardEvent} event
 */
export function stepWithArrows(event) {
  const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
  const field = /** @type {HTMLInputElement} */ (event.target);
  const value = parseNumber(field.value);
  if (!by || Number.isNaN(value)) return;
  event.preventDefault();
  field.value = tidy(value + by * Number(field.dataset.step));
  field.dispatchEvent(new Event("change", { bubbles: true }));
}

/** Removes the digits that only come from 32-bit numbers. @param {number} value */
function tidy(value) {
  return String(Number(value.toPrecision(6)));
}

/** Rounds to about three hundred steps of the range. @param {number} value @param {number} span */
function round(value, span) {
  const digits = Math.max(0, Math.min(6, 2 - Math.floor(Math.log10(span || 1))));
  return String(Number(value.toFixed(digits)));
}

/** @param {Context} ctx @param {Schema} schema @param {string} path @param {string} text */
function takeNumber(ctx, schema, path, text) {
  if (text === "" && (schema.default === undefined || schema.default === null)) return remove(ctx, path);
  const value = parseNumber(text);
  const problem = numberProblem(schema, text, value);
  if (problem) {
    return keepWrong(ctx, path, problem, text);
  }
  set(ctx, path, value);
}

/** @param {Schema} schema @param {string} text @param {number} value */
export function numberProblem(schema, text, value) {
  if (text === "" || Number.isNaN(value)) return t("edit.no_number");
  if (schema.type === "integer" && !Number.isInteger(value)) return t("edit.no_integer");
  if (value < (schema.minimum ?? -Infinity) || value > (schema.maximum ?? Infinity)) {
    return t("edit.out_of_range", { from: number(schema.minimum, 4), to: number(schema.maximum, 4) });
  }
  return "";
}

/** @param {Context} ctx @param {Schema} schema @param {string} path @param {any} value @param {string} id @param {string} key */
function vectorField(ctx, schema, path, value, id, key) {
  const names = axes(key, schema.maxItems);
  const list = Array.isArray(value) ? value : names.map(() => null);
  const wrong = wrongOf(ctx, path);
  return [
    h("div", { class: "vector", role: "group", "aria-labelledby": `${id}-label` }, names.map((name, index) =>
      h("label", { key: name }, name,
        h("input", { class: "numeric", id: index === 0 ? id : `${id}-${name}`, value: wrong?.index === index ? wrong.text : list[index] === null ? "" : tidy(list[index]), inputmode: "decimal", autocomplete: "off", "data-step": 0.05, onkeydown: stepWithArrows, disabled: ctx.isReadOnly,
          onchange: (/** @type {any} */ e) => {
            const problem = numberProblem(schema.items, e.target.value, parseNumber(e.target.value));
            if (problem) return keepWrong(ctx, path, problem, e.target.value, index);
            set(ctx, path, names.map((_, i) => (i === index ? parseNumber(e.target.value) : (list[i] ?? 0))));
          } })))),
    h("span", { class: "unit" }, schema["x-unit"] ?? ""),
  ];
}

/** @param {Context} ctx @param {Schema} schema @param {string} path @param {string} key @param {any} value @param {string} id */
function textField(ctx, schema, path, key, value, id) {
  const names = ctx.suggest(path, key);
  return [
    h("input", { id, value: value ?? "", list: names.length > 0 ? `${id}-names` : null, autocomplete: "off", spellcheck: "false", disabled: ctx.isReadOnly,
      placeholder: schema.default === undefined || schema.default === null ? t("edit.none") : "",
      onchange: (/** @type {any} */ e) => (e.target.value === "" && value !== "" && (schema.default === null || !("default" in schema)) ? remove(ctx, path) : set(ctx, path, e.target.value)) }),
    names.length > 0 && h("datalist", { id: `${id}-names` }, names.map((name) => h("option", { key: name, value: name }))),
  ];
}

/** A list of names, such as species or relations. @param {Context} ctx @param {string} path @param {string} key @param {string[]} names @param {string} id */
function namesField(ctx, path, key, names, id) {
  const offered = ctx.suggest(path, key).filter((name) => !names.includes(name));
  const add = (/** @type {HTMLInputElement} */ input) => {
    const name = input.value.trim();
    input.value = "";
    if (name !== "" && !names.includes(name)) set(ctx, path, [...names, name]);
  };
  return h("div", { class: "tags grow" },
    names.map((name, index) => h("span", { class: "tag", key: `${name}-${index}` }, name,
      !ctx.isReadOnly && h("button", { class: "plain", type: "button", "aria-label": t("edit.remove", { name }), onclick: () => set(ctx, path, names.filter((_, i) => i !== index)) }, icon("close")))),
    !ctx.isReadOnly && h("form", { class: "row tight grow add-name", key: "add", onsubmit: (/** @type {any} */ e) => { e.preventDefault(); add(e.target.querySelector("input")); } },
      h("input", { id, list: `${id}-names`, placeholder: t("edit.add_name"), autocomplete: "off", "aria-labelledby": `${id}-label`, onchange: (/** @type {any} */ e) => offered.includes(e.target.value) && add(e.target) }),
      h("datalist", { id: `${id}-names` }, offered.map((name) => h("option", { key: name, value: name }))),
      h("button", { class: "square", type: "submit", "aria-label": t("edit.add") }, icon("plus"))));
}

/** Returns an id that no other element has. */
export function freshId() {
  lastId += 1;
  return `id-${lastId}`;
}
