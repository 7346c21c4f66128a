// The opening hours: every week, single dates, holidays of every year, and the next 21 days as they will be.

import { get, may } from "../core/api.js";
import { h, View } from "../core/dom.js";
import { date, isoDay, known, language, t } from "../core/i18n.js";
import { documents, documentsOf, schema, send, setEdit, status, useDocuments } from "../core/store.js";
import { on } from "../core/topics.js";
import { context } from "../editor/context.js";
import { editor } from "../editor/form.js";
import { daysCovered, isNeverOpen, isTooLong } from "../editor/plan_check.js";
import { join, valueAt } from "../editor/schema.js";
import { DAYS, dateText, dayName, daysText, tidyTime, yearlyText } from "../parts/days.js";
import { confirmed } from "../parts/dialog.js";
import { icon } from "../parts/icons.js";
import { askedUntil, minutes, never, nextChange, tomorrow } from "../parts/until.js";
import { keepUnfinished, mayLeave } from "../parts/unfinished.js";
import "./hours_rules.js";
import { planText, sceneTitle, unkept } from "./now.js";

/** @typedef {import("../editor/fields.js").Context} Context */
/** An entry that is being edited: it changes the plan only with *Done*. `index` is -1 for a new one. */
/** `was` is the entry as it was in the plan when the editing began, as JSON. */
/** `isConflict` says that `wrong` is about a change of somebody else. */
/** @typedef {{ list: "weekly" | "dates" | "yearly", index: number, value: any, begun: string, was: string, wrong: string, isConflict: boolean }} Draft */
/** @typedef {{ from: string, to: string, state: string, scene?: string | null }} Period */
/** @typedef {{ date: string, weekday: string, source: string, name: string, periods: Period[], rules?: { at: string, rule: string, is_lit: boolean }[], note: string }} PreviewDay */

/** Number of the next days that are shown, all of them; later ones only if they have a plan of their own. */
const PREVIEW_DAYS = 21;
/** Most entries that a question names. */
const NAMED_MAX = 8;
const STATES = ["open", "attract", "dark", "closed"];
/** Returns the time of day that is written in a date, whatever the zone of this device. @param {string} iso */
function timeIn(iso) {
  return iso.slice(11, 16);
}

class Hours extends View {
  /** @type {PreviewDay[] | null} */
  #preview = null;
  #state = { open: new Set(), wrong: new Map() };
  /** @type {Draft | null} */
  #draft = null;

  start() {
    this.until(useDocuments(), ...["language", "session"].map((topic) => on(topic, this.update)));
    this.until(keepUnfinished(() => (this.#draft && this.#isChanged(this.#draft) ? this.#titleOf(this.#draft.list, this.#draft.value) : "")));
    this.until(on("documents", () => {
      this.#readPreview();
      const draft = this.#draft;
      // What was said about the entry of somebody else is followed.
      if (draft?.isConflict) draft.wrong = this.#otherHand(draft) || draft.wrong;
      this.update();
    }));
    let last = "";
    this.until(on("status", () => {
      const plan = status.schedule;
      const next = JSON.stringify([plan?.state, plan?.until, plan?.local_time?.slice(0, 16), plan?.by_hand]);
      if (next !== last) this.update();
      last = next;
    }));
    this.#readPreview();
  }

  async #readPreview() {
    const answer = await get("/schedule").catch(() => null);
    this.#preview = Array.isArray(answer) ? answer : (answer?.days ?? null);
    this.update();
  }

  view() {
    const site = documents.get("site");
    if (schema === null || status === null || site === undefined) return h("p", { class: "muted" }, t("connecting"));
    if (!schema.site.properties.schedule) return [h("h1", null, t("page.hours")), h("p", { class: "empty" }, t("hours.unknown"))];
    const ctx = { ...context([site], this.update, this.#state), isReadOnly: !may("operate") };
    return [
      h("div", { class: "page-head", key: "head" }, h("h1", null, t("page.hours")), this.#now()),
      h("div", { class: "grid hours-grid", key: "grid" },
        h("div", { class: "column wide-gap" }, this.#weekly(ctx), this.#dates(ctx), this.#yearly(ctx), h("shoal-rule-times", { key: "rules" }), this.#more(ctx)),
        this.#next())];
  }

  #now() {
    const plan = status.schedule;
    if (!plan) return null;
    const state = known("state", plan.state) ?? plan.state;
    const isElsewhere = plan.local_time && Math.abs(new Date(plan.local_time.slice(0, 19)).getTime() - new Date(localIso()).getTime()) > 5 * 60_000;
    return [
      h("p", { class: "row" }, h("span", { class: `pill state-${plan.state}` }, state),
        planText(plan) || t("hours.no_change"), unkept(),
        may("operate") && this.#hand(plan)),
      h("p", { class: "small muted" }, t("hours.clock", { time: timeIn(plan.local_time ?? ""), zone: plan.time_zone })),
      isElsewhere && h("p", { class: "hint warn" }, icon("warn"), h("span", null, t("hours.other_time", { time: date(new Date(), { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: undefined }) })))];
  }

  /** Lets the pool show itself for some time, or returns to the plan. @param {any} plan */
  #hand(plan) {
    const resume = () => send({ command: "schedule", step: { do: "resume" } }, t("now.done.resume"));
    const attract = async () => {
      const until = await askedUntil({ title: t("hours.attract"), text: t("hours.attract_what"), choices: [minutes(10), minutes(60), ...nextChange(), ...tomorrow(), never()] });
      if (until) send({ command: "schedule", step: { do: "by_hand", state: "attract", until } }, t("hours.done.attract"));
    };
    return plan.by_hand
      ? h("button", { key: "hand", type: "button", onclick: resume }, t(plan.is_planned ? "now.resume" : "hours.end_hand"))
      : h("button", { key: "hand", type: "button", title: t("hours.attract_what"), onclick: attract }, icon("play"), t("hours.attract"));
  }

  /** The entries of a list: as in the plan, one of them perhaps as it is being edited. @param {Context} ctx @param {Draft["list"]} list */
  #entries(ctx, list) {
    /** @type {any[]} */
    const planned = valueAt(ctx.docs[0].effective, `schedule.${list}`) ?? [];
    const draft = this.#draft?.list === list ? this.#draft : null;
    const shown = planned.map((entry, index) => ({ entry: draft?.index === index ? draft.value : entry, index }));
    return draft?.index === -1 ? [...shown, { entry: draft.value, index: -1 }] : shown;
  }

  /** @param {Draft["list"]} list @param {number} index @param {any} value */
  #edit(list, index, value) {
    const isOpen = this.#draft?.list === list && this.#draft.index === index;
    // The file may leave out what is empty.
    const draft = { days: [], hours: [], ...structuredClone(value) };
    this.#draft = isOpen ? null : { list, index, value: draft, begun: JSON.stringify(draft), was: planned(list, index), wrong: "", isConflict: false };
    this.update();
  }

  /** Whether something was entered. @param {Draft} draft */
  #isChanged({ value, begun }) {
    return JSON.stringify(value) !== begun;
  }

  /** Opens or closes an entry. What was entered in another one is not thrown away without a question. @param {Draft["list"]} list @param {number} index @param {any} value */
  async #open(list, index, value) {
    if (await mayLeave()) this.#edit(list, index, value);
  }

  /** Changes the entry that is being edited. @param {(value: any) => void} change */
  #change(change) {
    if (!this.#draft) return;
    change(this.#draft.value);
    this.#draft.wrong = "";
    this.#draft.isConflict = false;
    this.update();
  }

  /** Says why an entry cannot be part of the plan; empty if it can. @param {Context} ctx @param {Draft} draft */
  #problem(ctx, { list, index, value }) {
    if (list === "weekly") return value.days.length > 0 ? "" : t("hours.no_day");
    if (!value.date) return t("hours.no_date");
    if (value.last && list === "dates" && value.last < value.date) return t("hours.last_before");
    const before = index < 0 ? null : JSON.parse(planned(list, index) || "null");
    const isMoved = before?.date !== value.date || (before?.last ?? "") !== (value.last ?? "");
    if (list === "dates" && isMoved && (value.last || value.date) < isoDay(status.time)) return t("hours.past");
    /** @type {any[]} */
    const others = valueAt(ctx.docs[0].effective, `schedule.${list}`) ?? [];
    return others.some((other, i) => i !== index && other.date === value.date) ? t("hours.date_taken") : "";
  }

  /** Says once that somebody else changed the entry meanwhile; a second *Done* replaces it. @param {Draft} draft */
  #otherHand(draft) {
    const { list, index, was } = draft;
    if (index < 0) return "";
    const now = planned(list, index);
    if (now === was) return "";
    draft.isConflict = true;
    if (now === "") return t("hours.removed_meanwhile");
    draft.was = now;
    const entry = JSON.parse(now);
    return t("hours.changed_meanwhile", { now: [this.#titleOf(list, entry), this.#summary(entry)].join(", ") });
  }

  /** The days of an entry in words. @param {Draft["list"]} list @param {any} entry */
  #titleOf(list, entry) {
    if (list === "weekly") return entry.days?.length > 0 ? t("hours.every", { days: daysText(entry.days) }) : t("hours.no_day");
    if (!entry.date) return t("hours.new_date");
    const [one, several, text] = list === "dates" ? ["hours.only_on", "hours.only_from", dateText] : ["hours.every_year_on", "hours.every_year_from", yearlyText];
    const title = entry.last ? t(several, { from: text(entry.date), to: text(entry.last) }) : t(one, { day: text(entry.date) });
    return entry.name ? `${title} · ${entry.name}` : title;
  }

  /** The hours of an entry in words. @param {any} entry */
  #summary(entry) {
    /** @type {any[]} */
    const hours = entry.hours ?? [];
    if (hours.length === 0) return this.#otherwise();
    return hours.map((hour) => `${hour.from}–${hour.to}${(hour.state ?? "open") === "open" ? "" : ` ${known("state", hour.state) ?? hour.state}`}`).join(", ");
  }

  /** Puts the edited entry into the plan. If it concerns today, the show may change at once, so it is asked. @param {Context} ctx */
  async #done(ctx) {
    const draft = this.#draft;
    if (!draft) return;
    draft.wrong = this.#otherHand(draft) || this.#problem(ctx, draft);
    if (draft.wrong) return this.update();
    const { list, index, value } = draft;
    if (!(await this.#meansIt(ctx, draft))) return;
    const before = draft.was === "" ? null : JSON.parse(draft.was);
    if (concernsToday(ctx.docs[0].effective.schedule ?? {}, list, before, value) && !(await confirmed({ title: t("hours.today_title"), text: t("hours.today_text"), yes: t("hours.done") }))) return;
    /** @type {Record<string, any>} */
    const entry = { ...withoutEmpty(value), hours: value.hours.map(withoutEmpty) };
    if (list !== "weekly") delete entry.days;
    const path = `schedule.${list}`;
    const change = index < 0 ? { document: ctx.docs[0].document, path, change: { do: "insert", value: entry } } : setEdit(ctx.docs[0].document, join(path, index), entry);
    if (await send({ command: "edit", edits: [change] }, t("hours.saved"))) {
      this.#draft = null;
      this.update();
    }
  }

  /** Asks about an entry that covers very many days, and about a plan that never opens the pool. @param {Context} ctx @param {Draft} draft */
  async #meansIt(ctx, { list, index, value }) {
    const plan = ctx.docs[0].effective.schedule ?? {};
    const ask = (/** @type {string} */ text) => confirmed({ title: t("hours.sure_title"), text, yes: t("hours.done") });
    if (list !== "weekly" && isTooLong(plan, list, value) && !(await ask(this.#lengthText(list, value)))) return false;
    const entries = [...(plan[list] ?? [])];
    entries.splice(index < 0 ? entries.length : index, index < 0 ? 0 : 1, value);
    return isNeverOpen(plan) || !isNeverOpen({ ...plan, [list]: entries }) || ask(t("hours.never_open"));
  }

  /** Says how many days an entry covers. @param {"dates" | "yearly"} list @param {any} entry */
  #lengthText(list, entry) {
    const hours = entry.hours?.length > 0 ? "" : t("hours.no_hours_on_them");
    return [t(list === "yearly" ? "hours.covers_yearly" : "hours.covers", { n: daysCovered(list, entry) }), hours].filter(Boolean).join(" ");
  }

  /** The days that an entry covers, as a warning if they are very many. @param {Context} ctx @param {"dates" | "yearly"} list @param {any} entry */
  #length(ctx, list, entry) {
    const days = daysCovered(list, entry);
    if (days === 0) return null;
    const isWarning = isTooLong(ctx.docs[0].effective.schedule ?? {}, list, entry);
    return h("p", { key: "length", class: isWarning ? "hint warn plan-length" : "small muted plan-length", role: "status" }, isWarning && icon("warn"), h("span", null, isWarning ? this.#lengthText(list, entry) : t(list === "yearly" ? "hours.covers_yearly" : "hours.covers", { n: days })));
  }

  /** @param {Context} ctx @param {Draft["list"]} list @param {number} index @param {string} name */
  async #remove(ctx, list, index, name) {
    if (index >= 0) {
      const draft = this.#draft;
      if (draft) draft.wrong = this.#otherHand(draft);
      if (draft?.wrong) return this.update();
      if (!(await confirmed({ title: t("edit.remove", { name }), text: t("hours.remove_text"), yes: t("hours.remove_entry"), isDanger: true }))) return;
      if (!(await send({ command: "edit", edits: [{ document: ctx.docs[0].document, path: join(`schedule.${list}`, index), change: { do: "remove" } }] }, t("hours.saved")))) return;
    }
    this.#draft = null;
    this.update();
  }

  /** @param {Context} ctx */
  #weekly(ctx) {
    const entries = this.#entries(ctx, "weekly");
    const used = new Set(entries.flatMap(({ entry }) => entry.days ?? []));
    const free = DAYS.filter((day) => !used.has(day));
    return h("section", { class: "card stack", key: "weekly" },
      h("h2", null, t("hours.weekly")),
      h("p", { class: "muted" }, t("hours.weekly_help")),
      isNeverOpen(ctx.docs[0].effective.schedule ?? {}) && h("p", { class: "hint warn", key: "never", role: "status" }, icon("warn"), h("span", null, t("hours.never_open_now"))),
      entries.map(({ entry, index }) => this.#entry(ctx, "weekly", index, entry, () => [
        h("div", { class: "days", role: "group", "aria-label": t("hours.days") }, DAYS.map((day) => {
          const isOn = (entry.days ?? []).includes(day);
          return h("button", { key: day, type: "button", "aria-pressed": String(isOn), "aria-label": dayName(day, "long"), disabled: ctx.isReadOnly,
            onclick: () => this.#change((value) => { value.days = DAYS.filter((other) => (other === day ? !isOn : (value.days ?? []).includes(other))); }) }, dayName(day, "short"));
        })),
      ])),
      free.length > 0 && this.#add(ctx, "weekly", t("hours.add_weekly"), () => ({ days: free, hours: [{ from: "10:00", to: "18:00", state: "open" }] })));
  }

  /** @param {Context} ctx */
  #dates(ctx) {
    return h("section", { class: "card stack", key: "dates" },
      h("h2", null, t("hours.dates")),
      h("p", { class: "muted" }, t("hours.dates_help")),
      this.#entries(ctx, "dates").map(({ entry, index }) => this.#entry(ctx, "dates", index, entry, () => [
        this.#dateField(ctx, "date", t("hours.date"), entry.date),
        this.#dateField(ctx, "last", t("hours.last"), entry.last),
        this.#nameField(ctx, entry.name),
      ])),
      this.#add(ctx, "dates", t("hours.add_date"), () => ({ date: "", hours: [] })));
  }

  /** @param {Context} ctx */
  #yearly(ctx) {
    return h("section", { class: "card stack", key: "yearly" },
      h("h2", null, t("hours.yearly")),
      h("p", { class: "muted" }, t("hours.yearly_help")),
      this.#entries(ctx, "yearly").map(({ entry, index }) => this.#entry(ctx, "yearly", index, entry, () => [
        this.#monthDay(ctx, "date", t("hours.date"), entry.date),
        this.#monthDay(ctx, "last", t("hours.last"), entry.last),
        this.#nameField(ctx, entry.name),
      ])),
      this.#add(ctx, "yearly", t("hours.add_yearly"), () => ({ date: "", hours: [] })));
  }

  /** The button for another entry. It begins empty and outside of the plan. @param {Context} ctx @param {Draft["list"]} list @param {string} text @param {() => any} value */
  #add(ctx, list, text, value) {
    const isNew = this.#draft?.list === list && this.#draft.index === -1;
    return !ctx.isReadOnly && !isNew && h("button", { type: "button", onclick: () => this.#open(list, -1, value()) }, icon("plus"), text);
  }

  /**
   * One entry of the plan: its days as a heading in words, and its hours.
   * @param {Context} ctx @param {Draft["list"]} list @param {number} index @param {any} entry @param {() => any} fields
   */
  #entry(ctx, list, index, entry, fields) {
    const draft = this.#draft?.list === list && this.#draft.index === index ? this.#draft : null;
    /** @type {any[]} */
    const hours = entry.hours ?? [];
    const [title, summary] = [this.#titleOf(list, entry), this.#summary(entry)];
    return h("div", { class: draft ? "plan-entry is-draft" : "plan-entry", key: `${list} ${index}` },
      h("button", { class: "plain plan-title", type: "button", "aria-expanded": String(draft !== null), onclick: () => this.#open(list, index, entry) },
        icon(draft ? "open" : "right"), h("span", { class: "grow" }, h("strong", null, title), h("br", null), h("span", { class: "muted" }, summary))),
      !draft && list !== "weekly" && isTooLong(ctx.docs[0].effective.schedule ?? {}, list, entry) && this.#length(ctx, list, entry),
      draft && h("div", { class: "plan-body" },
        h("div", { class: "plan-fields" }, fields()),
        list !== "weekly" && this.#length(ctx, list, entry),
        hours.length === 0 && h("p", { class: "muted" }, t("hours.all_day", { state: this.#otherwise() })),
        h("ul", { class: "stack-2" }, hours.map((hour, i) => this.#hour(ctx, i, hour))),
        draft.wrong && h("p", { class: "hint bad", role: "alert" }, icon("warn"), h("span", null, draft.wrong)),
        !ctx.isReadOnly && h("p", { class: "small muted" }, t("hours.draft")),
        !ctx.isReadOnly && h("div", { class: "row" },
          h("button", { type: "button", onclick: () => this.#change((value) => { value.hours = [...(value.hours ?? []), nextHours(value.hours ?? [])]; }) }, icon("plus"), t("hours.add_hours")),
          h("button", { type: "button", class: "plain", onclick: () => this.#remove(ctx, list, index, title) }, icon("trash"), t("hours.remove_entry")),
          h("button", { type: "button", onclick: () => this.#edit(list, index, entry) }, t("cancel")),
          h("button", { type: "button", class: "primary", onclick: () => this.#done(ctx) }, icon("check"), t("hours.done")))));
  }

  /** What is shown at times without hours, in words. */
  #otherwise() {
    const state = valueAt(documents.get("site")?.effective, "schedule.otherwise") ?? "closed";
    return known("state", state) ?? state;
  }

  /** @param {Context} ctx @param {number} index @param {any} hour */
  #hour(ctx, index, hour) {
    const change = (/** @type {string} */ key, /** @type {string} */ text) => this.#change((value) => { value.hours[index][key] = text; });
    const time = (/** @type {"from" | "to"} */ key) => h("input", {
      type: "text", inputmode: "numeric", class: "time", value: hour[key] ?? "", maxlength: 5, placeholder: "00:00", disabled: ctx.isReadOnly, "aria-label": t(key === "from" ? "hours.from" : "hours.end"),
      onchange: (/** @type {any} */ e) => change(key, tidyTime(e.target.value)),
    });
    const scenes = documentsOf("scene").map((doc) => doc.document.name ?? "").sort();
    return h("li", { class: "hour", key: index },
      h("div", { class: "row tight" }, time("from"), h("span", { "aria-hidden": "true" }, "–"), time("to")),
      h("select", { value: hour.state ?? "open", disabled: ctx.isReadOnly, "aria-label": t("hours.state"), onchange: (/** @type {any} */ e) => change("state", e.target.value) },
        STATES.map((state) => h("option", { key: state, value: state }, known("state", state) ?? state))),
      h("select", { value: hour.scene ?? "", disabled: ctx.isReadOnly, "aria-label": t("hours.scene"), onchange: (/** @type {any} */ e) => this.#change((value) => { if (e.target.value) value.hours[index].scene = e.target.value; else delete value.hours[index].scene; }) },
        h("option", { value: "" }, t("hours.same_scene")), scenes.map((name) => h("option", { key: name, value: name }, sceneTitle(name)))),
      !ctx.isReadOnly && h("button", { class: "plain square", type: "button", "aria-label": t("edit.remove", { name: `${hour.from}–${hour.to}` }), onclick: () => this.#change((value) => { value.hours.splice(index, 1); }) }, icon("trash")),
      nightText(hour) && h("small", { class: "muted" }, nightText(hour)));
  }

  /** @param {Context} ctx @param {"date" | "last"} key @param {string} label @param {string | undefined} value */
  #dateField(ctx, key, label, value) {
    const id = `plan-${key}`;
    return h("div", { class: "field", key }, h("label", { for: id }, label),
      h("input", { id, type: "date", lang: language(), value: value ?? "", disabled: ctx.isReadOnly, onchange: (/** @type {any} */ e) => this.#change((entry) => { entry[key] = e.target.value; }) }));
  }

  /** A day of every year: month and day, without a year. @param {Context} ctx @param {"date" | "last"} key @param {string} label @param {string | undefined} value */
  #monthDay(ctx, key, label, value) {
    const id = `plan-${key}`;
    const [month, day] = (value ?? "").split("-");
    const pad = (/** @type {number} */ n) => String(n).padStart(2, "0");
    const change = (/** @type {string} */ m, /** @type {string} */ d) => this.#change((entry) => { entry[key] = m ? `${m}-${d || "01"}` : ""; });
    // The day can be chosen first; until the month is chosen too, it is this month.
    // The other of the two may have been chosen after this was drawn.
    const chosen = () => (this.#draft?.value[key] ?? "").split("-");
    const monthOrThis = month || isoDay(new Date()).slice(5, 7);
    return h("div", { class: "field", key }, h("label", { for: id }, label),
      h("div", { class: "row tight" },
        h("select", { id, value: day ?? "", disabled: ctx.isReadOnly, "aria-label": t("hours.day_of_month", { label }), onchange: (/** @type {any} */ e) => change(chosen()[0] || monthOrThis, e.target.value) },
          h("option", { value: "" }, "–"), Array.from({ length: 31 }, (_, i) => h("option", { key: i, value: pad(i + 1) }, i + 1))),
        h("select", { value: month ?? "", disabled: ctx.isReadOnly, "aria-label": t("hours.month", { label }), onchange: (/** @type {any} */ e) => change(e.target.value, chosen()[1]) },
          h("option", { value: "" }, "–"),
          Array.from({ length: 12 }, (_, i) => h("option", { key: i, value: pad(i + 1) }, date(new Date(Date.UTC(2024, i, 1, 12)), { month: "long", timeZone: "UTC" }))))));
  }

  /** @param {Context} ctx @param {string | undefined} name */
  #nameField(ctx, name) {
    return h("div", { class: "field", key: "name" }, h("label", { for: "plan-name" }, t("hours.name")),
      h("input", { id: "plan-name", value: name ?? "", disabled: ctx.isReadOnly, onchange: (/** @type {any} */ e) => this.#change((entry) => { entry.name = e.target.value; }) }));
  }

  /** Projector power, time zone, and what holds outside of all hours. @param {Context} ctx */
  #more(ctx) {
    const plan = schema.site.properties.schedule;
    return h("section", { class: "card stack", key: "more" },
      h("h2", null, t("hours.more")),
      this.#otherwiseField(ctx, plan.properties.otherwise.enum),
      editor({ ...ctx, isReadOnly: !may("operate"), send: (edits) => this.#sendMore(edits) }, plan, "schedule", "schedule", { isBare: true, skip: ["weekly", "dates", "yearly", "events", "otherwise", ...(may("admin") ? [] : ["projectors"])] }));
  }

  /** Clock and time zone can change what is shown now, so they are asked about. @param {import("../core/store.js").Edit[]} edits */
  async #sendMore(edits) {
    const isAsked = edits.some(({ path }) => !path.startsWith("schedule.projectors"));
    if (edits.length > 0 && (!isAsked || await confirmed({ title: t("hours.more_title"), text: t("hours.more_text"), yes: t("hours.done") }))) await send({ command: "edit", edits }, t("hours.saved"));
    this.update();
  }

  /** What is shown at all times without hours. It can change what is shown now, so it is asked. @param {Context} ctx @param {string[]} states */
  #otherwiseField(ctx, states) {
    const value = valueAt(ctx.docs[0].effective, "schedule.otherwise") ?? "closed";
    const change = async (/** @type {string} */ state) => {
      const days = this.#withoutHours(ctx);
      const which = days && t("hours.otherwise_days", { state: known("state", state) ?? state, days });
      if (await confirmed({ title: t("hours.otherwise_title"), text: [t("hours.otherwise_text"), which].filter(Boolean).join(" "), yes: t("hours.done") })) await send({ command: "edit", edits: [setEdit(ctx.docs[0].document, "schedule.otherwise", state)] }, t("hours.saved"));
      this.update();
    };
    return h("div", { class: "field", key: "otherwise" }, h("label", { for: "plan-otherwise" }, t("hours.otherwise")),
      h("select", { id: "plan-otherwise", value, disabled: ctx.isReadOnly, onchange: (/** @type {any} */ e) => { const state = e.target.value; e.target.value = value; change(state); } },
        states.map((state) => h("option", { key: state, value: state }, known("state", state) ?? state))),
      (valueAt(ctx.docs[0].effective, "schedule.weekly") ?? []).length === 0 && h("p", { class: "small muted" }, t("hours.no_week")));
  }

  /** Names the entries without hours, which *Otherwise* decides about. Days that are over are none of them. @param {Context} ctx */
  #withoutHours(ctx) {
    const today = isoDay(status.time);
    const names = /** @type {const} */ (["weekly", "dates", "yearly"]).flatMap((list) => {
      /** @type {any[]} */
      const entries = valueAt(ctx.docs[0].effective, `schedule.${list}`) ?? [];
      const isOver = (/** @type {any} */ entry) => list === "dates" && (entry.last || entry.date) < today;
      return entries.filter((entry) => (entry.hours ?? []).length === 0 && !isOver(entry)).map((entry) => this.#titleOf(list, entry));
    });
    const more = names.length > NAMED_MAX ? [t("hours.otherwise_more", { n: names.length - NAMED_MAX })] : [];
    return [...names.slice(0, NAMED_MAX), ...more].join("; ");
  }

  /** The next days as bars of 24 hours. */
  #next() {
    return h("section", { class: "card", key: "next" },
      h("h2", null, t("hours.next")),
      h("p", { class: "muted" }, t("hours.next_help")),
      this.#preview === null ? h("p", { class: "muted" }, t("hours.no_preview")) : [
        h("ol", { class: "preview", key: "days" }, this.#preview.slice(0, PREVIEW_DAYS).map((day) => this.#day(day))),
        this.#preview.length > PREVIEW_DAYS && h("h2", { class: "top", key: "later" }, t("hours.later")),
        h("ol", { class: "preview", key: "special" }, together(this.#preview.slice(PREVIEW_DAYS)).map(({ first, last }) => this.#day(first, last)))]);
  }

  /** A day, or equal days in a row. @param {PreviewDay} day @param {PreviewDay} [last] */
  #day(day, last = day) {
    const title = last === day ? dateText(day.date) : t("hours.to", { from: dateText(day.date), to: dateText(last.date) });
    return h("li", { key: day.date },
      h("div", { class: "row spread" }, h("strong", null, title), h("span", { class: "pill" }, known("hours.source", day.source) ?? day.source, day.name && ` · ${day.name}`)),
      h("div", { class: "day-bar", "aria-hidden": "true" }, day.periods.map((period, index) => h("span", { key: index, class: `part state-${period.state}`, style: { "flex-grow": Math.max(1, (Date.parse(period.to) - Date.parse(period.from)) / 60_000) } }))),
      h("p", { class: "small" }, periodText(day.periods)),
      (day.rules ?? []).length > 0 && h("p", { class: "small", key: "rules" }, rulesText(day)),
      day.note && h("p", { class: "small muted", lang: "en" }, day.note));
  }
}

/** Returns an entry of the plan as JSON; empty if there is none. @param {Draft["list"]} list @param {number} index */
function planned(list, index) {
  const entry = valueAt(documents.get("site")?.effective, `schedule.${list}`)?.[index];
  return entry === undefined ? "" : JSON.stringify(entry);
}

/** Puts equal days in a row together. @param {PreviewDay[]} days */
function together(days) {
  /** @type {{ first: PreviewDay, last: PreviewDay }[]} */
  const groups = [];
  const text = (/** @type {PreviewDay} */ day) => JSON.stringify([day.source, day.name, day.note, periodText(day.periods), rulesText(day)]);
  for (const day of days) {
    const group = groups.at(-1);
    const isNext = group && Date.parse(day.date) - Date.parse(group.last.date) === 86_400_000;
    if (isNext && text(day) === text(group.first)) group.last = day;
    else groups.push({ first: day, last: day });
  }
  return groups;
}

/** Returns the local date and time of this device. */
function localIso() {
  const now = new Date();
  return new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** @param {Period[]} periods */
function periodText(periods) {
  const active = periods.filter((period) => period.state !== "closed");
  if (active.length === 0) return known("state", "closed");
  const span = (/** @type {Period} */ { from, to }) => (timeIn(from) === "00:00" && timeIn(to) === "00:00" ? t("hours.whole_day") : `${timeIn(from)}–${timeIn(to) === "00:00" ? "24:00" : timeIn(to)}`);
  return active.map((period) => `${span(period)} ${known("state", period.state) ?? period.state}${period.scene ? ` (${sceneTitle(period.scene)})` : ""}`).join(", ");
}

/** Names the rules that start at a time of the clock. @param {PreviewDay} day */
function rulesText(day) {
  const one = (/** @type {{ at: string, rule: string, is_lit: boolean }} */ { at, rule, is_lit }) => t(is_lit ? "hours.rule" : "hours.rule_dark", { time: timeIn(at), rule });
  return (day.rules ?? []).map(one).join(", ");
}

/** Says that hours end on the next day. @param {any} hour */
function nightText(hour) {
  return hour.to && hour.from && hour.to !== "24:00" && hour.to <= hour.from ? t("hours.next_day") : "";
}

/** Returns hours that follow the last ones. @param {any[]} hours */
function nextHours(hours) {
  const last = hours.at(-1)?.to;
  if (!last || last >= "22:00" || last < "06:00") return { from: "10:00", to: "18:00", state: "open" };
  return { from: last, to: "23:00", state: "open" };
}

/** Returns an object without the values that nobody entered. @param {any} value */
function withoutEmpty(value) {
  return Object.fromEntries(Object.entries(value).filter(([, v]) => v !== "" && v !== null && v !== undefined));
}

/**
 * Whether a change of an entry can change what is shown today: it covers today before or after, or it is the first of a week, with
 * which the days without hours begin to be closed.
 * @param {any} plan @param {Draft["list"]} list @param {any} before @param {any} after
 */
function concernsToday(plan, list, before, after) {
  const isWeekBegun = list === "weekly" && (plan.weekly ?? []).length === 0;
  return isWeekBegun || [before, after].some((entry) => entry !== null && coversToday(list, entry));
}

/** @param {Draft["list"]} list @param {any} entry */
function coversToday(list, entry) {
  const today = isoDay(new Date());
  if (list === "weekly") return (entry.days ?? []).includes(DAYS[(new Date(`${today}T12:00:00Z`).getUTCDay() + 6) % 7]);
  const day = list === "yearly" ? today.slice(5) : today;
  const last = entry.last || entry.date;
  // Days of every year can go over the new year.
  return entry.date <= last ? entry.date <= day && day <= last : day >= entry.date || day <= last;
}

customElements.define("shoal-hours", Hours);
