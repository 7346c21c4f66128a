// Asks how long something that is set by hand lasts.

import { clock, t, when } from "../core/i18n.js";
import { h } from "../core/dom.js";
import { status } from "../core/store.js";
import { openDialog } from "./dialog.js";
import { icon } from "./icons.js";

/** When something ends, as in a command; `plan`: it does not begin. @typedef {"plan" | "next_change" | "tomorrow" | "never" | { secs: number }} Until */
/** `at` is the time of the end, if it is a planned one. @typedef {{ until: Until, label: string, at?: string }} Choice */

/** Ends after some minutes. @param {number} n @returns {Choice} */
export function minutes(n) {
  // By the clock of the pool, which may be another one than that of this device.
  const time = clock(new Date(Date.parse(status.time) + n * 60_000));
  return { until: { secs: n * 60 }, label: n % 60 === 0 ? t("until.hours", { n: n / 60, time }) : t("until.mins", { n, time }) };
}

/** Ends with the next planned change; none if nothing is planned. @returns {Choice[]} */
export function nextChange() {
  const plan = status.schedule;
  return plan.until && plan.is_clock_trusted ? [{ until: "next_change", at: plan.until, label: t("until.change", { time: when(plan.until) }) }] : [];
}

/** Ends with the first opening after midnight. None while the clock is certainly wrong. @returns {Choice[]} */
export function tomorrow() {
  const plan = status.schedule;
  if (!plan.tomorrow) return [];
  const text = !plan.is_clock_trusted ? "until.tomorrow_unset" : plan.tomorrow_opens ? "until.opening" : "until.tomorrow";
  return [{ until: "tomorrow", at: plan.tomorrow, label: t(text, { time: when(plan.tomorrow), now: clock(plan.local_time) }) }];
}

/** Somebody has to end it. @returns {Choice} */
export function never() {
  return { until: "never", label: t("until.never") };
}

/**
 * Asks for one of the choices. Returns `null` if nothing was chosen.
 * @param {{ title: string, text: string, choices: Choice[] }} question
 * @returns {Promise<Until | null>}
 */
export async function askedUntil({ title, text, choices }) {
  /** @type {Until | null} */
  let answer = null;
  await openDialog(title, (close) => [
    h("p", { class: "muted" }, text),
    // Two choices of the same time are one; the later one says more.
    h("div", { class: "choices" }, choices.filter(({ at }, index) => at === undefined || !choices.slice(index + 1).some((other) => other.at === at)).map(({ until, label }) =>
      h("button", { key: label, type: "button", onclick: () => { answer = until; close(); } }, icon(until === "never" ? "hand" : "hours"), h("span", { class: "grow" }, label)))),
    h("div", { class: "row end top" }, h("button", { type: "button", onclick: close }, t("cancel")))]);
  return answer;
}
