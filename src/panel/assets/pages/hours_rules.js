// Rules of the director that start at times of the clock: a part of the page of opening hours.

import { may } from "../core/api.js";
import { h, View } from "../core/dom.js";
import { date, isoDay, language, t } from "../core/i18n.js";
import { documents, documentsOf, send, setEdit, status, useDocuments } from "../core/store.js";
import { on } from "../core/topics.js";
import { join, valueAt } from "../editor/schema.js";
import { DAYS, dateText, dayName, daysText, tidyTime, yearlyText } from "../parts/days.js";
import { confirmed } from "../parts/dialog.js";
import { icon } from "../parts/icons.js";
import { keepUnfinished, mayLeave } from "../parts/unfinished.js";
import { sceneTitle } from "./now.js";

/** When an entry applies: on weekdays, on a day of every year, or on one date. @typedef {"week" | "yearly" | "date"} When */
/** An entry that is being edited; `index` is -1 for a new one, `was` is the entry of the plan as JSON. */
/** @typedef {{ index: number, rule: string, at: string[], when: When, days: string[], date: string, begun: string, was: string, wrong: string }} Draft */

const PATH = "schedule.events";
const TIME = /^([01]\d|2[0-3]):[0-5]\d$/;

/** Returns the entries of the plan. @returns {any[]} */
function planned() {
  return valueAt(documents.get("site")?.effective, PATH) ?? [];
}

/** Returns the names of all rules, with the scenes that have them. @returns {Map<string, string[]>} */
function knownRules() {
  const rules = new Map();
  for (const doc of documentsOf("scene")) {
    const scene = doc.document.name ?? "";
    for (const { name } of doc.effective?.director ?? []) {
      if (name) rules.set(name, [...(rules.get(name) ?? []), sceneTitle(scene)]);
    }
  }
  return new Map([...rules].sort(([a], [b]) => a.localeCompare(b)));
}

/** Says on which days an entry applies. @param {any} entry */
function whenText({ days = [], date: day }) {
  if (!day) return days.length > 0 ? t("hours.every", { days: daysText(days) }) : t("hours.rules.every_day");
  return day.length > 5 ? t("hours.only_on", { day: dateText(day) }) : t("hours.every_year_on", { day: yearlyText(day) });
}

/** Returns an entry as the site file has it. @param {Draft} draft */
function entryOf({ rule, at, when, days, date: day }) {
  const on = when === "week" ? (days.length > 0 ? { days } : {}) : { date: day };
  return { rule, at: [...new Set(at.filter((time) => time !== ""))].sort(), ...on };
}

export class RuleTimes extends View {
  /** @type {Draft | null} */
  #draft = null;

  start() {
    this.until(useDocuments(), ...["documents", "language", "session"].map((topic) => on(topic, this.update)));
    this.until(keepUnfinished(() => (this.#draft && JSON.stringify(entryOf(this.#draft)) !== this.#draft.begun ? t("hours.rules") : "")));
  }

  view() {
    const isReadOnly = !may("operate");
    const isNew = this.#draft?.index === -1;
    const entries = planned();
    return h("section", { class: "card stack" },
      h("h2", null, t("hours.rules")),
      h("p", { class: "muted" }, t("hours.rules.help")),
      entries.map((entry, index) => this.#entry(index, entry, isReadOnly)),
      isNew && this.#entry(-1, {}, isReadOnly),
      !isReadOnly && !isNew && h("button", { type: "button", key: "add", onclick: () => this.#open(-1, { at: [""] }) }, icon("plus"), t("hours.rules.add")));
  }

  /** Opens or closes an entry. What was entered in another one is not thrown away without a question. @param {number} index @param {any} entry */
  async #open(index, entry) {
    if (!(await mayLeave())) return;
    const isOpen = this.#draft?.index === index;
    const when = /** @type {When} */ (!entry.date ? "week" : entry.date.length > 5 ? "date" : "yearly");
    /** @type {Draft} */
    const draft = { index, rule: entry.rule ?? "", at: [...(entry.at ?? [])], when, days: [...(entry.days ?? [])], date: entry.date ?? "", begun: "", was: JSON.stringify(entry), wrong: "" };
    draft.begun = JSON.stringify(entryOf(draft));
    this.#draft = isOpen ? null : draft;
    this.update();
  }

  /** @param {(draft: Draft) => void} change */
  #change(change) {
    if (!this.#draft) return;
    change(this.#draft);
    this.#draft.wrong = "";
    this.update();
  }

  /** Says why an entry cannot be part of the plan; empty if it can. @param {Draft} draft */
  #problem(draft) {
    const { index, was } = draft;
    if (index >= 0 && JSON.stringify(planned()[index]) !== was) return t("hours.rules.changed");
    const entry = entryOf(draft);
    if (!entry.rule) return t("hours.rules.no_rule");
    if (entry.at.length === 0) return t("hours.rules.no_time");
    const wrong = entry.at.find((time) => !TIME.test(time));
    if (wrong !== undefined) return t("hours.rules.wrong_time", { time: wrong });
    if (draft.when !== "week" && !draft.date) return t("hours.no_date");
    return draft.when === "date" && draft.date < isoDay(status.time) ? t("hours.past") : "";
  }

  async #done() {
    const draft = this.#draft;
    if (!draft) return;
    draft.wrong = this.#problem(draft);
    if (draft.wrong) return this.update();
    const site = /** @type {any} */ (documents.get("site")).document;
    const value = entryOf(draft);
    const edit = draft.index < 0 ? { document: site, path: PATH, change: { do: "insert", value } } : setEdit(site, join(PATH, draft.index), value);
    if (await send({ command: "edit", edits: [edit] }, t("hours.rules.saved"))) this.#draft = null;
    this.update();
  }

  /** @param {number} index @param {string} name */
  async #remove(index, name) {
    if (index >= 0) {
      const site = /** @type {any} */ (documents.get("site")).document;
      if (!(await confirmed({ title: t("edit.remove", { name }), text: t("hours.rules.remove_text"), yes: t("hours.remove_entry"), isDanger: true }))) return;
      if (!(await send({ command: "edit", edits: [{ document: site, path: join(PATH, index), change: { do: "remove" } }] }, t("hours.rules.saved")))) return;
    }
    this.#draft = null;
    this.update();
  }

  /** @param {number} index @param {any} planned @param {boolean} isReadOnly */
  #entry(index, planned, isReadOnly) {
    const draft = this.#draft?.index === index ? this.#draft : null;
    const entry = draft ? entryOf(draft) : planned;
    const title = entry.rule ? t("hours.rules.title", { rule: entry.rule, times: (entry.at ?? []).join(", ") || "–" }) : t("hours.rules.choose");
    return h("div", { class: draft ? "plan-entry is-draft" : "plan-entry", key: index },
      h("button", { class: "plain plan-title", type: "button", "aria-expanded": String(draft !== null), onclick: () => this.#open(index, planned) },
        icon(draft ? "open" : "right"), h("span", { class: "grow" }, h("strong", null, title), h("br", null), h("span", { class: "muted" }, whenText(entry)))),
      draft && h("div", { class: "plan-body" },
        this.#ruleField(draft, isReadOnly),
        h("ul", { class: "stack-2" }, draft.at.map((time, i) => this.#time(i, time, isReadOnly))),
        this.#whenField(draft, isReadOnly),
        draft.wrong && h("p", { class: "hint bad", role: "alert" }, icon("warn"), h("span", null, draft.wrong)),
        !isReadOnly && h("p", { class: "small muted" }, t("hours.draft")),
        !isReadOnly && h("div", { class: "row" },
          h("button", { type: "button", onclick: () => this.#change((d) => { d.at.push(""); }) }, icon("plus"), t("hours.rules.add_time")),
          h("button", { type: "button", class: "plain", onclick: () => this.#remove(index, title) }, icon("trash"), t("hours.remove_entry")),
          h("button", { type: "button", onclick: () => { this.#draft = null; this.update(); } }, t("cancel")),
          h("button", { type: "button", class: "primary", onclick: () => this.#done() }, icon("check"), t("hours.done")))));
  }

  /** @param {Draft} draft @param {boolean} isReadOnly */
  #ruleField(draft, isReadOnly) {
    const rules = knownRules();
    if (draft.rule && !rules.has(draft.rule)) rules.set(draft.rule, []);
    const text = (/** @type {string} */ rule, /** @type {string[]} */ scenes) => (scenes.length > 0 ? t("hours.rules.in", { rule, scenes: scenes.join(", ") }) : t("hours.rules.unknown", { rule }));
    return h("div", { class: "field" }, h("label", { for: "rule-name" }, t("hours.rules.rule")),
      h("select", { id: "rule-name", value: draft.rule, disabled: isReadOnly, onchange: (/** @type {any} */ e) => this.#change((d) => { d.rule = e.target.value; }) },
        h("option", { value: "" }, t("hours.rules.choose")), [...rules].map(([rule, scenes]) => h("option", { key: rule, value: rule }, text(rule, scenes)))));
  }

  /** @param {number} index @param {string} time @param {boolean} isReadOnly */
  #time(index, time, isReadOnly) {
    return h("li", { class: "row tight", key: index },
      h("input", { type: "text", inputmode: "numeric", class: "time", value: time, maxlength: 5, placeholder: "00:00", disabled: isReadOnly, "aria-label": t("hours.rules.time", { n: index + 1 }),
        onchange: (/** @type {any} */ e) => this.#change((d) => { d.at[index] = tidyTime(e.target.value); }) }),
      !isReadOnly && h("button", { class: "plain square", type: "button", "aria-label": t("edit.remove", { name: time || "–" }), onclick: () => this.#change((d) => { d.at.splice(index, 1); }) }, icon("trash")));
  }

  /** Weekdays, a day of every year, or one date. @param {Draft} draft @param {boolean} isReadOnly */
  #whenField(draft, isReadOnly) {
    const choices = /** @type {const} */ (["week", "yearly", "date"]);
    return [
      h("div", { class: "field", key: "when" }, h("label", { for: "rule-when" }, t("hours.rules.when")),
        h("select", { id: "rule-when", value: draft.when, disabled: isReadOnly, onchange: (/** @type {any} */ e) => this.#change((d) => { d.when = e.target.value; d.date = ""; }) },
          choices.map((when) => h("option", { key: when, value: when }, t(`hours.rules.${when}`))))),
      draft.when === "week" && h("div", { class: "days", key: "days", role: "group", "aria-label": t("hours.days") }, DAYS.map((day) => {
        const isOn = draft.days.includes(day);
        return h("button", { key: day, type: "button", "aria-pressed": String(isOn), "aria-label": dayName(day, "long"), disabled: isReadOnly,
          onclick: () => this.#change((d) => { d.days = DAYS.filter((other) => (other === day ? !isOn : d.days.includes(other))); }) }, dayName(day, "short"));
      })),
      draft.when === "week" && h("p", { class: "small muted", key: "none" }, t("hours.rules.no_days")),
      draft.when === "date" && h("div", { class: "field", key: "date" }, h("label", { for: "rule-date" }, t("hours.date")),
        h("input", { id: "rule-date", type: "date", lang: language(), value: draft.date, disabled: isReadOnly, onchange: (/** @type {any} */ e) => this.#change((d) => { d.date = e.target.value; }) })),
      draft.when === "yearly" && this.#yearly(draft, isReadOnly)];
  }

  /** A day of every year. @param {Draft} draft @param {boolean} isReadOnly */
  #yearly(draft, isReadOnly) {
    const [month = "", day = ""] = draft.date.split("-");
    const pad = (/** @type {number} */ n) => String(n).padStart(2, "0");
    const change = (/** @type {string} */ m, /** @type {string} */ d) => this.#change((one) => { one.date = `${m || "01"}-${d || "01"}`; });
    const label = t("hours.date");
    return h("div", { class: "field", key: "yearly" }, h("label", { for: "rule-day" }, label),
      h("div", { class: "row tight" },
        h("select", { id: "rule-day", value: day, disabled: isReadOnly, "aria-label": t("hours.day_of_month", { label }), onchange: (/** @type {any} */ e) => change(month, e.target.value) },
          h("option", { value: "" }, "–"), Array.from({ length: 31 }, (_, i) => h("option", { key: i, value: pad(i + 1) }, i + 1))),
        h("select", { value: month, disabled: isReadOnly, "aria-label": t("hours.month", { label }), onchange: (/** @type {any} */ e) => change(e.target.value, day) },
          h("option", { value: "" }, "–"),
          Array.from({ length: 12 }, (_, i) => h("option", { key: i, value: pad(i + 1) }, date(new Date(Date.UTC(2024, i, 1, 12)), { month: "long", timeZone: "UTC" }))))));
  }
}

customElements.define("shoal-rule-times", RuleTimes);
