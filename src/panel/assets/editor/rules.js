// The rules of the director as sentences.

import { h } from "../core/dom.js";
import { known, number, t } from "../core/i18n.js";
import { send } from "../core/store.js";
import { icon } from "../parts/icons.js";
import { toggle } from "./fields.js";
import { addItem, editor, moveItem, removeItem } from "./form.js";
import { join, sentence } from "./schema.js";
import { sortable } from "./sortable.js";

/** @typedef {import("./fields.js").Context} Context */
/** @typedef {import("./schema.js").Schema} Schema */

/** Says when a rule begins. @param {any} when */
function whenText(when) {
  switch (when.condition) {
    case "visitors":
      if (when.at_most === 0) return t("rule.when.nobody");
      if ((when.at_least ?? 0) > 0 && (when.at_most ?? 1000) >= 1000) return t("rule.when.at_least", { n: when.at_least });
      if ((when.at_least ?? 0) === 0) return t("rule.when.at_most", { n: when.at_most });
      return t("rule.when.between", { from: when.at_least, to: when.at_most });
    case "still_visitor": return t("rule.when.still", { secs: when.still_secs });
    case "restless_visitor": return t("rule.when.restless");
    case "visitor_at": return t("rule.when.visitor_at", { place: when.place });
    case "visitors_together": return t("rule.when.visitors_together", { n: when.at_least ?? 2 });
    case "after": return t("rule.when.after", { rule: when.rule, secs: when.secs ?? 0 });
    case "scare": return t("rule.when.scare", { share: Math.round((when.share ?? 0) * 100) });
    case "chance": return t("rule.when.chance", { secs: number(1 / Math.max(1e-6, when.rate_per_sec), 0) });
    default: return known("rule.when", when.condition) ?? sentence(when.condition ?? "?");
  }
}

/** Says what a rule does. @param {any} then */
function thenText(then) {
  const who = then.species?.length > 0 ? then.species.join(", ") : t("rule.all");
  switch (then.effect) {
    case "hunting": return t(then.on === false ? "rule.then.no_hunting" : "rule.then.hunting", { who });
    case "speed": return t("rule.then.speed", { who, factor: number(then.factor ?? 1, 2) });
    case "relation": return t(then.on === false ? "rule.then.no_relation" : "rule.then.relation", { who, relation: then.relation, to: (then.to ?? []).join(", ") });
    case "mind": return t("rule.then.mind", { who, like: then.like });
    case "light": return t("rule.then.light", { light: known("value", then.to) ?? then.to });
    case "season": return t("rule.then.season", { season: known("value", then.to) ?? then.to });
    case "sound": return t("rule.then.sound", { sound: known("value", then.play ?? "splash") ?? then.play });
    case "set_need": return t("rule.then.set_need", { who, need: then.need, value: then.value });
    default: {
      const text = known("rule.then", then.effect);
      return text ? text.replace("{who}", who) : `${sentence(then.effect ?? "?")}: ${who}`;
    }
  }
}

/** Returns a rule as a sentence. @param {any} rule */
export function ruleText(rule) {
  const wait = rule.for_secs > 0 ? t("rule.for", { secs: rule.for_secs }) : "";
  const pause = rule.pause_secs > 0 ? t("rule.pause", { secs: rule.pause_secs }) : "";
  const during = rule.during ? t("rule.during", { rule: rule.during }) : "";
  return t("rule.sentence", { when: whenText(rule.when ?? {}), wait: wait + during, then: thenText(rule.then ?? {}), pause }).replace(/\s+/g, " ").replace(/ ([,.])/g, "$1").trim();
}

/**
 * @param {Context} ctx
 * @param {Schema} schema of the scene
 * @param {{ name: string, is_active: boolean }[]} running the rules of the pool, if it shows this scene
 */
export function rules(ctx, schema, running) {
  const list = ctx.docs[0].effective.director ?? [];
  const rule = schema.properties.director;
  return h("section", { class: "card stack" },
    h("h2", null, t("rule.title")),
    h("p", { class: "muted" }, t("rule.help")),
    list.length === 0 && h("p", { class: "empty" }, t("rule.none")),
    sortable({
      items: list.map((/** @type {any} */ item, /** @type {number} */ index) => {
        const state = running.find((other) => other.name === item.name);
        return {
          key: index, label: item.name,
          note: h("span", { class: "rule-text small" }, ruleText(item), state?.is_active && h("span", { class: "pill accent" }, t("now.active"))),
          tools: state && h("button", { key: "start", class: "plain square", type: "button", title: t("rule.start"), "aria-label": `${t("rule.start")}: ${item.name}`, onclick: () => send({ command: "director", event: { event: "start", rule: item.name } }, t("now.done.event", { name: item.name })) }, icon("play")),
        };
      }),
      isReadOnly: ctx.isReadOnly,
      move: (from, to) => moveItem(ctx, "director", from, to),
      remove: (index) => removeItem(ctx, "director", index),
      isOpen: (index) => ctx.open.has(join("director", index)),
      toggle: (index) => { toggle(ctx.open, join("director", index)); ctx.open.add(join(join("director", index), "when")); ctx.open.add(join(join("director", index), "then")); ctx.update(); },
      body: (index) => ruleBody(ctx, rule.items, join("director", index)),
    }),
    !ctx.isReadOnly && h("div", { class: "row" }, h("button", { type: "button", onclick: () => addRule(ctx, rule) }, icon("plus"), t("rule.add"))));
}

/** The parts of a rule in the order of its sentence. @param {Context} ctx @param {Schema} schema @param {string} path */
function ruleBody(ctx, schema, path) {
  const first = ["name", "when", "then"];
  return [
    first.map((key) => editor(ctx, schema.properties[key], join(path, key), key)),
    editor(ctx, schema, path, "", { isBare: true, skip: first }),
  ];
}

/** @param {Context} ctx @param {Schema} schema */
function addRule(ctx, schema) {
  const used = (ctx.docs[0].effective.director ?? []).map((/** @type {any} */ rule) => rule.name);
  let name = t("rule.new_name");
  for (let n = 2; used.includes(name); n++) name = `${t("rule.new_name")} ${n}`;
  const length = used.length;
  for (const key of ["when", "then"]) ctx.open.add(join(join("director", length), key));
  const value = { name, when: { condition: "by_hand" }, then: { effect: "calm" } };
  addItem(ctx, { ...schema, items: { default: value } }, "director");
}
