// How many visitors came, when, and how long they stayed.

import { ApiError, get, may } from "../core/api.js";
import { h, View } from "../core/dom.js";
import { date, duration, isoDay, number, percent, t } from "../core/i18n.js";
import { documents, send, setEdit, status, useDocuments } from "../core/store.js";
import { on } from "../core/topics.js";
import { icon } from "../parts/icons.js";
import { restartNeeded } from "../parts/restart.js";

/** @typedef {{ from: string, is_hidden: boolean, arrivals?: number, departures?: number, mean_stay_secs?: number | null, most_at_once?: number, stays?: number[] }} Interval */
/** @typedef {{ intervals: Interval[], hide_below: number, stay_limits_secs: number[] }} Counts */

/** Lengths of the shown time, in days. */
const SPANS = [7, 28, 84, 364];
/** Above this number of days, a bar is a week. */
const DAY_BARS_MAX = 84;
/** Time between two readings. */
const READ_MS = 60_000;
const DAY_MS = 86_400_000;
/** Steps of the colour in the table of hours. */
const HEAT_STEPS = 5;

class Visitors extends View {
  #span = 28;
  /** The last shown day; empty for today. */
  #last = "";
  /** The day that is shown by hour; empty for the last one. */
  #day = "";
  /** @type {{ days: Counts, hours: Counts } | null} */
  #counts = null;
  /** Name of the error of the last reading. */
  #problem = "";
  #readNumber = 0;

  start() {
    this.until(useDocuments(), ...["language", "documents"].map((topic) => on(topic, this.update)));
    this.#read();
    const timer = setInterval(() => this.#read(), READ_MS);
    const first = on("status", () => {
      first();
      this.#read();
    });
    this.until(() => clearInterval(timer), first);
  }

  async #read() {
    if (status === null) return;
    this.#readNumber += 1;
    const own = this.#readNumber;
    const range = this.#range();
    try {
      const [days, hours] = await Promise.all([get(`/analytics?${range}&by=day`), get(`/analytics?${range}&by=hour`)]);
      if (own !== this.#readNumber) return;
      this.#counts = { days, hours };
      this.#problem = "";
    } catch (error) {
      this.#problem = error instanceof ApiError ? error.code : "offline";
    }
    this.update();
  }

  /** The shown days, oldest first. */
  #dates() {
    const last = this.#last || today();
    return Array.from({ length: this.#span }, (_, index) => plusDays(last, index - this.#span + 1));
  }

  #range() {
    const dates = this.#dates();
    return `from=${dates[0]}&to=${plusDays(dates[dates.length - 1], 1)}`;
  }

  view() {
    const head = h("div", { class: "page-head", key: "head" }, h("h1", null, t("page.visitors")), this.#counts && this.#export());
    if (this.#problem === "not_counted") return [head, this.#off()];
    if (this.#counts === null) return [head, h("p", { class: "muted" }, t(this.#problem ? "error.unavailable" : "connecting"))];
    const { days, hours } = this.#counts;
    const byDate = new Map(days.intervals.map((row) => [row.from.slice(0, 10), row]));
    const hidden = days.hide_below > 1 && [...days.intervals, ...hours.intervals].some((row) => row.is_hidden);
    return [
      head,
      this.#chooser(),
      this.#figures(days, hours),
      hidden && h("p", { class: "hint", key: "hidden" }, icon("info"), h("span", null, t("visitors.hidden", { n: days.hide_below }))),
      h("div", { class: "grid two", key: "charts" },
        this.#byDay(byDate), this.#byHour(hours), this.#stays(days), this.#week(hours)),
      this.#table(byDate),
    ];
  }

  /** Nothing is counted: says so, and how to begin. */
  #off() {
    const isOn = documents.get("site")?.effective?.counting?.on === true;
    const begin = () => send({ command: "edit", edits: [setEdit({ kind: "site" }, "counting.on", true)] }, t("visitors.turned_on")).then(this.update);
    return h("div", { class: "empty column", key: "off" },
      h("p", null, t(isOn ? "visitors.restart" : "visitors.off")),
      isOn && may("admin") && restartNeeded(status),
      !isOn && may("admin") && h("div", { class: "center" }, h("button", { type: "button", class: "primary", onclick: begin }, icon("plus"), t("visitors.turn_on"))));
  }

  #export() {
    const link = (/** @type {string} */ by) => h("a", { key: by, class: "button", download: "visitors.csv", href: `/api/v1/analytics?${this.#range()}&by=${by}&format=csv` }, icon("download"), t(`visitors.csv_${by}`));
    return h("div", { class: "row" }, link("hour"), link("day"));
  }

  #chooser() {
    const choose = (/** @type {Partial<{ span: number, last: string }>} */ next) => {
      this.#span = next.span ?? this.#span;
      this.#last = next.last ?? this.#last;
      if (this.#last >= today()) this.#last = "";
      this.#day = "";
      this.update();
      this.#read();
    };
    const last = this.#last || today();
    const dates = this.#dates();
    const long = /** @type {Intl.DateTimeFormatOptions} */ ({ day: "numeric", month: "long", year: "numeric" });
    return h("div", { class: "row spread bottom", key: "chooser" },
      h("div", { class: "segments", role: "group", "aria-label": t("visitors.span") }, SPANS.map((span) =>
        h("button", { key: span, type: "button", "aria-pressed": String(span === this.#span), onclick: () => choose({ span }) }, t(`visitors.span_${span}`)))),
      h("div", { class: "row tight" },
        h("button", { type: "button", class: "square", "aria-label": t("visitors.earlier"), onclick: () => choose({ last: plusDays(last, -this.#span) }) }, icon("left")),
        h("p", { class: "number", "aria-live": "polite" }, dayText(dates[0], long), " – ", dayText(last, long)),
        h("button", { type: "button", class: "square", "aria-label": t("visitors.later"), disabled: this.#last === "", onclick: () => choose({ last: plusDays(last, this.#span) }) }, icon("right"))));
  }

  /** @param {Counts} days @param {Counts} hours */
  #figures(days, hours) {
    const arrivals = sum(days.intervals.map((row) => row.arrivals));
    const left = days.intervals.filter((row) => row.departures);
    const departures = sum(left.map((row) => row.departures));
    const stay = departures > 0 ? sum(left.map((row) => (row.mean_stay_secs ?? 0) * (row.departures ?? 0))) / departures : null;
    const best = hours.intervals.reduce((/** @type {Interval | null} */ most, row) => ((row.arrivals ?? 0) > (most?.arrivals ?? 0) ? row : most), null);
    const figure = (/** @type {string} */ value, /** @type {string} */ name) => h("div", { key: name }, h("strong", null, value), h("span", null, name));
    return h("section", { class: "card bottom", "aria-label": t("visitors.summary"), key: "figures" }, h("div", { class: "figures" },
      figure(number(arrivals), t("visitors.arrivals", { n: arrivals })),
      figure(stay === null ? "–" : duration(stay), t("visitors.mean_stay")),
      figure(number(Math.max(0, ...days.intervals.map((row) => row.most_at_once ?? 0))), t("visitors.most")),
      figure(best ? `${hourOf(best)}:00` : "–", best ? t("visitors.best_hour", { day: dayText(best.from.slice(0, 10), { day: "numeric", month: "short" }) }) : t("visitors.best"))));
  }

  /** Visitors of each day, or of each week. @param {Map<string, Interval>} byDate */
  #byDay(byDate) {
    const dates = this.#dates();
    const perBar = dates.length > DAY_BARS_MAX ? 7 : 1;
    /** @type {{ label: string, value: number }[]} */
    const list = [];
    for (let index = 0; index < dates.length; index += perBar) {
      const own = dates.slice(index, index + perBar);
      list.push({ label: dayText(own[0], { day: "numeric", month: "short" }), value: sum(own.map((day) => byDate.get(day)?.arrivals)) });
    }
    const title = t(perBar === 1 ? "visitors.by_day" : "visitors.by_week");
    return h("section", { class: "card", key: "days" }, h("h2", null, title), bars(title, list));
  }

  /** Visitors of each hour of a day. @param {Counts} hours */
  #byHour(hours) {
    const dates = this.#dates();
    const day = this.#day || dates[dates.length - 1];
    const index = dates.indexOf(day);
    const choose = (/** @type {string} */ next) => {
      this.#day = next;
      this.update();
    };
    const own = hours.intervals.filter((row) => row.from.startsWith(day));
    const list = Array.from({ length: 24 }, (_, hour) => ({ label: `${hour}:00`, value: sum(own.filter((row) => hourOf(row) === hour).map((row) => row.arrivals)) }));
    const title = t("visitors.by_hour");
    return h("section", { class: "card", key: "hours" },
      h("div", { class: "card-head" }, h("h2", null, title),
        h("div", { class: "row tight" },
          h("button", { type: "button", class: "plain square", "aria-label": t("visitors.day_before"), disabled: index <= 0, onclick: () => choose(dates[index - 1]) }, icon("left")),
          h("span", { "aria-live": "polite" }, dayText(day, { weekday: "short", day: "numeric", month: "short" })),
          h("button", { type: "button", class: "plain square", "aria-label": t("visitors.day_after"), disabled: index + 1 >= dates.length, onclick: () => choose(dates[index + 1]) }, icon("right")))),
      bars(`${title}, ${dayText(day, { day: "numeric", month: "long" })}`, list));
  }

  /** How long visitors stayed. @param {Counts} days */
  #stays(days) {
    const limits = days.stay_limits_secs;
    const counts = Array.from({ length: limits.length + 1 }, (_, index) => sum(days.intervals.map((row) => row.stays?.[index])));
    const all = sum(counts);
    const most = Math.max(1, ...counts);
    const unit = (/** @type {number} */ secs) => (secs <= 60 ? { unit: "secs", value: secs } : { unit: "mins", value: secs / 60 });
    const name = (/** @type {number} */ index) => {
      const high = unit(limits[Math.min(index, limits.length - 1)]);
      if (index === 0) return t(`visitors.stay_below_${high.unit}`, { n: high.value });
      if (index === limits.length) return t(`visitors.stay_above_${high.unit}`, { n: high.value });
      const low = high.unit === "mins" ? limits[index - 1] / 60 : limits[index - 1];
      return t(`visitors.stay_${high.unit}`, { from: low, to: high.value });
    };
    return h("section", { class: "card", key: "stays" }, h("h2", null, t("visitors.stays")),
      h("ul", { class: "stays" }, counts.map((count, index) => h("li", { key: index },
        h("div", { class: "row spread" }, h("span", null, name(index)), h("span", { class: "number" }, number(count), " · ", percent(all > 0 ? count / all : 0))),
        h("span", { class: "meter", style: { "--share": `${(count / most) * 100}%` }, "aria-hidden": "true" })))));
  }

  /** Mean number of visitors for each hour and day of the week. @param {Counts} hours */
  #week(hours) {
    const dates = this.#dates().filter((day) => day <= today());
    // A hidden hour has an unknown number, so it does not count as an hour without visitors either.
    const table = Array.from({ length: 24 }, () => Array.from({ length: 7 }, () => ({ sum: 0, unknown: 0 })));
    for (const row of hours.intervals) {
      const cell = table[hourOf(row)][weekday(row.from)];
      if (row.is_hidden) cell.unknown += 1;
      else cell.sum += row.arrivals ?? 0;
    }
    const number_of_days = Array.from({ length: 7 }, (_, day) => dates.filter((d) => weekday(d) === day).length);
    const means = table.map((cells) => cells.map((cell, day) => {
      const days = number_of_days[day] - cell.unknown;
      return days > 0 ? cell.sum / days : null;
    }));
    const used = means.map((cells, hour) => (cells.some((mean) => mean) ? hour : -1)).filter((hour) => hour >= 0);
    const most = Math.max(...means.flat().map((mean) => mean ?? 0), 1e-6);
    const heat = (/** @type {number | null} */ mean) => `heat-${Math.ceil(((mean ?? 0) / most) * HEAT_STEPS)}`;
    const days = Array.from({ length: 7 }, (_, day) => date(new Date(Date.UTC(2024, 0, 1 + day, 12)), { weekday: "short", timeZone: "UTC" }));
    return h("section", { class: "card", key: "week" }, h("h2", null, t("visitors.week")),
      h("p", { class: "muted" }, t("visitors.week_help")),
      used.length === 0 ? h("p", { class: "empty" }, t("visitors.none")) :
        h("table", { class: "heat" },
          h("thead", null, h("tr", null, h("th", { scope: "col" }, h("span", { class: "unseen" }, t("visitors.hour"))), days.map((day) => h("th", { key: day, scope: "col" }, day)))),
          h("tbody", null, means.slice(used[0], used[used.length - 1] + 1).map((cells, index) => h("tr", { key: index },
            h("th", { scope: "row" }, used[0] + index),
            cells.map((mean, day) => h("td", { key: day, class: heat(mean) }, mean === null ? "–" : mean === 0 ? "" : number(mean, mean < 10 ? 1 : 0))))))));
  }

  /** The days as numbers, for those who do not read charts. @param {Map<string, Interval>} byDate */
  #table(byDate) {
    const rows = this.#dates().filter((day) => byDate.has(day)).reverse();
    const cell = (/** @type {number | null | undefined} */ value) => h("td", { class: "number" }, value === null || value === undefined ? "–" : number(value));
    return h("details", { class: "group top", key: "table" }, h("summary", null, t("visitors.as_table")),
      h("div", { class: "inside" }, rows.length === 0 ? h("p", { class: "muted" }, t("visitors.none")) : h("div", { class: "table-wrap", tabindex: "0", role: "region", "aria-label": t("visitors.as_table") }, h("table", null,
        h("thead", null, h("tr", null, ["day", "arrivals_head", "mean_stay", "most"].map((name) => h("th", { key: name, scope: "col" }, t(`visitors.${name}`))))),
        h("tbody", null, rows.map((day) => {
          const row = byDate.get(day);
          const few = row?.is_hidden ? `< ${this.#counts?.days.hide_below}` : null;
          return h("tr", { key: day }, h("th", { scope: "row" }, dayText(day, { weekday: "short", day: "numeric", month: "short" })),
            few ? h("td", { class: "number" }, few) : cell(row?.arrivals),
            h("td", { class: "number" }, row?.mean_stay_secs ? duration(row.mean_stay_secs) : "–"), cell(row?.most_at_once));
        }))))));
  }
}

/** Bars with a scale: the largest value and the first and last name. @param {string} title @param {{ label: string, value: number }[]} list */
function bars(title, list) {
  const most = Math.max(1, ...list.map((bar) => bar.value));
  const text = list.filter((bar) => bar.value > 0).map((bar) => `${bar.label}: ${number(bar.value)}`).join(", ") || t("visitors.none");
  return h("div", null,
    h("p", { class: "small muted number" }, t("visitors.highest", { n: Math.max(0, ...list.map((bar) => bar.value)) })),
    h("div", { class: list.length > 40 ? "bars tall thin" : "bars tall", role: "img", "aria-label": `${title}. ${text}` }, list.map((bar) =>
      h("span", { key: bar.label, class: bar.value > 0 ? "bar" : "bar off", title: `${bar.label}: ${number(bar.value)}`, style: { height: `${Math.max(1.5, (bar.value / most) * 100)}%` } }))),
    h("div", { class: "bars-scale" }, h("span", null, list[0].label), h("span", null, list[list.length - 1].label)));
}

/** @param {(number | null | undefined)[]} values */
function sum(values) {
  return values.reduce((/** @type {number} */ all, value) => all + (value ?? 0), 0);
}

/** Hour at the pool. @param {Interval} row */
function hourOf(row) {
  return Number(row.from.slice(11, 13));
}

/** Day of the week of a date, 0 for Monday. @param {string} day */
function weekday(day) {
  return (new Date(`${day.slice(0, 10)}T12:00:00Z`).getUTCDay() + 6) % 7;
}

/** Returns the date at the pool, which may be in another time zone than the reader. */
function today() {
  return isoDay(status === null ? new Date() : status.time);
}

/** @param {string} day @param {number} days */
function plusDays(day, days) {
  return new Date(Date.parse(`${day}T12:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/** @param {string} day @param {Intl.DateTimeFormatOptions} options */
function dayText(day, options) {
  return date(new Date(`${day}T12:00:00Z`), { ...options, timeZone: "UTC" });
}

customElements.define("shoal-visitors", Visitors);
