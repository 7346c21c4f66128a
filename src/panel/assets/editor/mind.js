// The mind of a species as the tree it is: needs in their order, and the actions of each.

import { h } from "../core/dom.js";
import { known, number, t } from "../core/i18n.js";
import { asked, openDialog } from "../parts/dialog.js";
import { icon } from "../parts/icons.js";
import { keepWrong, numberProblem, set, stepWithArrows, toggle, wrongOf } from "./fields.js";
import { parseNumber } from "../core/numbers.js";
import { insertItem, moveItem, removeItem, rows } from "./form.js";
import { firstValue, helpOf, join, sentence, valueAt, variantOf } from "./schema.js";
import { sortable } from "./sortable.js";

/** @typedef {import("./fields.js").Context} Context */
/** @typedef {import("./schema.js").Schema} Schema */

/** @param {Context} ctx @param {Schema} schema of the species */
export function mind(ctx, schema) {
  const species = ctx.docs[0].effective;
  const needSchema = schema.properties.needs.items;
  return h("div", { class: "column", key: `mind-${ctx.docs[0].document.name}` },
    h("section", { class: "card" },
      h("h2", null, t("mind.needs")),
      h("p", { class: "muted" }, t("mind.needs_help"), !ctx.isReadOnly && ` ${t("mind.needs_drag")}`),
      sortable({
        items: (species.needs ?? []).map((/** @type {any} */ need, /** @type {number} */ index) => ({ key: index, label: need.name || t("edit.item", { n: index + 1 }), note: h("span", { class: "small muted need-note" }, needSentence(need)) })),
        isReadOnly: ctx.isReadOnly,
        move: (from, to) => moveItem(ctx, "needs", from, to),
        remove: (index) => removeItem(ctx, "needs", index),
        isOpen: (index) => ctx.open.has(`mind:${index}`),
        toggle: (index) => { toggle(ctx.open, `mind:${index}`); ctx.update(); },
        body: (index) => needBody(ctx, schema, needSchema, join("needs", index)),
      }),
      !ctx.isReadOnly && h("div", { class: "row top" }, h("button", { type: "button", onclick: () => addNeed(ctx, species) }, icon("plus"), t("mind.add_need")))),
    h("section", { class: "card" },
      h("h2", null, t("mind.standard")),
      h("p", { class: "muted" }, t("mind.standard_help")),
      actionList(ctx, schema, "standard.actions"),
      optionsFold(ctx, schema.properties.standard, "standard")),
    unusedActions(ctx));
}

/** Actions that no need lists and no other action combines. They can be deleted where this file defines them. @param {Context} ctx */
function unusedActions(ctx) {
  const { effective: species, values, document } = ctx.docs[0];
  const actions = species.actions ?? {};
  const used = new Set([species.standard ?? {}, ...(species.needs ?? [])].flatMap((need) => need.actions ?? []));
  for (const action of Object.values(actions)) for (const part of action.actions ?? []) used.add(part);
  const unused = Object.keys(actions).filter((name) => !used.has(name));
  if (unused.length === 0) return null;
  const remove = (/** @type {string[]} */ names) => ctx.send(names.map((name) => ({ document, path: join("actions", name), change: { do: "remove" } })));
  const own = unused.filter((name) => values.actions?.[name] !== undefined);
  return h("section", { class: "card", key: "unused" },
    h("h2", null, t("mind.unused")),
    h("p", { class: "muted" }, t("mind.unused_help")),
    h("ul", { class: "items" }, unused.map((name) => h("li", { key: name, class: "species" },
      h("span", { class: "grow" }, name, " ", h("span", { class: "small muted" }, own.includes(name) ? actionTitle(actions[name]?.action) : t("mind.inherited"))),
      !ctx.isReadOnly && own.includes(name) && h("button", { class: "plain square", type: "button", "aria-label": t("edit.remove", { name }), onclick: () => remove([name]) }, icon("trash"))))),
    !ctx.isReadOnly && own.length > 1 && h("div", { class: "row top" }, h("button", { type: "button", onclick: () => remove(own) }, icon("trash"), t("mind.remove_unused", { n: own.length }))));
}

/** @param {any} need */
function needSentence(need) {
  if (need.type === "limit_based") {
    const of = need.limit?.of && need.limit.of !== "own" ? (known("value", need.limit.of) ?? need.limit.of) : t("mind.own");
    return t(need.limit?.side === "lower" ? "mind.type.below" : "mind.type.above", { of, value: number(need.limit?.value ?? 1, 2) });
  }
  return t(`mind.type.${need.type ?? "default"}`);
}

/** @param {Context} ctx @param {Schema} schema @param {Schema} needSchema @param {string} path */
function needBody(ctx, schema, needSchema, path) {
  const need = valueAt(ctx.docs[0].effective, path) ?? {};
  const how = need.additive ? `mind.how.${need.combine ?? "sum"}` : need.stochastic ? "mind.how.random" : "mind.how.first_one";
  return [
    h("h3", { class: "top" }, t("mind.actions")),
    h("p", { class: "small muted" }, t(how)),
    actionList(ctx, schema, join(path, "actions")),
    optionsFold(ctx, needSchema, path),
  ];
}

/** @param {Context} ctx @param {Schema} schema @param {string} path */
function optionsFold(ctx, schema, path) {
  const key = `options:${path}`;
  return h("details", { class: "group top", open: ctx.open.has(key), ontoggle: (/** @type {any} */ e) => { if (e.target.open !== ctx.open.has(key)) { toggle(ctx.open, key); ctx.update(); } } },
    h("summary", null, t("mind.options")),
    ctx.open.has(key) && h("div", { class: "inside" }, rows(ctx, schema, path, { skip: ["actions"] })));
}

/** The actions of a need, with their weights. @param {Context} ctx @param {Schema} schema @param {string} path */
function actionList(ctx, schema, path) {
  const names = valueAt(ctx.docs[0].effective, path) ?? [];
  const actions = ctx.docs[0].effective.actions ?? {};
  return h("div", null,
    names.length === 0 && h("p", { class: "empty small" }, t("mind.no_action")),
    sortable({
      items: names.map((/** @type {string} */ name) => ({
        key: name,
        label: name,
        note: h("span", { class: "small muted need-note" }, actionTitle(actions[name]?.action) === sentence(name) ? "" : actionTitle(actions[name]?.action)),
        tools: weightField(ctx, name, actions[name]),
      })),
      isReadOnly: ctx.isReadOnly,
      move: (from, to) => moveItem(ctx, path, from, to),
      remove: (index) => removeItem(ctx, path, index),
      isOpen: (index) => ctx.open.has(`${path}:${names[index]}`),
      toggle: (index) => { toggle(ctx.open, `${path}:${names[index]}`); ctx.update(); },
      body: (index) => actionBody(ctx, schema, names[index]),
    }),
    !ctx.isReadOnly && h("div", { class: "row top" }, h("button", { type: "button", onclick: () => chooseAction(ctx, schema, path, names) }, icon("plus"), t("mind.add_action"))));
}

/** @param {string | undefined} kind */
function actionTitle(kind) {
  return kind ? (known("action", kind) ?? sentence(kind)) : "?";
}

/** @param {Context} ctx @param {string} name @param {any} action */
function weightField(ctx, name, action) {
  if (action?.weight === undefined) return null;
  const path = join(join("actions", name), "weight");
  const schema = { type: "number", minimum: 0, maximum: 1000 };
  return h("label", { class: "weight", key: "weight", title: t("mind.weight_of", { name }) },
    h("span", { class: "small muted", "aria-hidden": "true" }, t("mind.weight")),
    h("input", { class: "numeric", inputmode: "decimal", autocomplete: "off", "data-step": 0.5, onkeydown: stepWithArrows, value: wrongOf(ctx, path)?.text ?? String(Number(action.weight.toPrecision(5))), disabled: ctx.isReadOnly, "aria-label": t("mind.weight_of", { name }), "aria-invalid": wrongOf(ctx, path) ? "true" : null,
      onchange: (/** @type {any} */ e) => {
        const problem = numberProblem(schema, e.target.value, parseNumber(e.target.value));
        if (problem) return keepWrong(ctx, path, problem, e.target.value);
        set(ctx, path, parseNumber(e.target.value));
      } }));
}

/** @param {Context} ctx @param {Schema} schema @param {string} name */
function actionBody(ctx, schema, name) {
  const choice = schema.properties.actions.additionalProperties;
  const action = ctx.docs[0].effective.actions?.[name];
  const variant = action && variantOf(choice, action);
  if (!variant) return h("p", { class: "muted" }, t("mind.unknown_action"));
  return [
    h("p", { class: "group-help", lang: "en" }, helpOf(variant)),
    rows(ctx, variant, join("actions", name), { skip: ["action"] }),
  ];
}

/** @param {Context} ctx @param {any} species */
async function addNeed(ctx, species) {
  const name = await asked({ title: t("mind.add_need"), label: t("edit.name"), help: t("mind.need_name_help"), yes: t("edit.add"), check: (text) => (species.needs?.some((/** @type {any} */ need) => need.name === text) ? t("edit.exists") : "") });
  if (!name) return;
  // A need without an action would be rejected, so it begins with one that the species has.
  const first = Object.keys(species.actions ?? {}).find((action) => species.actions[action].action === "wander") ?? Object.keys(species.actions ?? {})[0];
  ctx.open.add("mind:0");
  insertItem(ctx, "needs", { name, type: "action_based", actions: first ? [first] : [] }, 0);
}

/**
 * Adds an action that the species has, or a new one of any kind.
 * @param {Context} ctx @param {Schema} schema @param {string} path @param {string[]} used
 */
function chooseAction(ctx, schema, path, used) {
  const kinds = /** @type {Schema[]} */ (schema.properties.actions.additionalProperties.oneOf);
  const actions = ctx.docs[0].effective.actions ?? {};
  const own = Object.keys(actions).filter((name) => !used.includes(name));
  let filter = "";
  openDialog(t("mind.add_action"), (close, update) => {
    const fits = (/** @type {string} */ text) => text.toLowerCase().includes(filter.toLowerCase());
    const add = (/** @type {import("../core/store.js").Edit[]} */ edits) => { close(); ctx.send(edits); };
    const document = ctx.docs[0].document;
    const take = (/** @type {string} */ name) => ({ document, path, change: { do: "insert", value: name } });
    const shownKinds = kinds.filter((kind) => fits(`${kind.properties.action.const} ${actionTitle(kind.properties.action.const)} ${kind.description}`));
    return [
      h("input", { type: "search", value: filter, placeholder: t("mind.find_action"), "aria-label": t("mind.find_action"), oninput: (/** @type {any} */ e) => { filter = e.target.value; update(); } }),
      own.some(fits) && h("h3", null, t("mind.own_actions")),
      own.filter(fits).length > 0 && h("div", { class: "choices" }, own.filter(fits).map((name) => h("button", { key: name, type: "button", onclick: () => add([take(name)]) }, h("span", { class: "grow" }, name), h("span", { class: "small muted" }, actionTitle(actions[name].action))))),
      h("h3", null, t("mind.new_action")),
      h("div", { class: "choices" }, shownKinds.map((kind) => {
        const name = kind.properties.action.const;
        return h("button", { key: name, type: "button", onclick: () => {
          const free = freeName(name, actions);
          add([{ document, path: join("actions", free), change: { do: "set", value: { ...firstValue(kind), action: name } } }, take(free)]);
        } }, h("span", { class: "grow" }, h("strong", null, actionTitle(name)), h("br", null), h("span", { class: "small muted", lang: "en" }, helpOf(kind))));
      })),
    ];
  });
}

/** @param {string} name @param {Record<string, any>} used */
function freeName(name, used) {
  if (!(name in used)) return name;
  let number = 2;
  while (`${name}_${number}` in used) number += 1;
  return `${name}_${number}`;
}
