// Days and times of the opening hours in words.

import { date, t } from "../core/i18n.js";

export const DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
/** A Monday, from which the names of the weekdays come. */
const MONDAY = Date.UTC(2024, 0, 1, 12);

/** Returns the name of a weekday. @param {string} day @param {"long" | "short"} form */
export function dayName(day, form) {
  return date(new Date(MONDAY + DAYS.indexOf(day) * 86_400_000), { weekday: form, timeZone: "UTC" });
}

/** Returns days as words: "Tuesday to Friday, Sunday". @param {string[]} days */
export function daysText(days) {
  const indexes = days.map((day) => DAYS.indexOf(day)).filter((i) => i >= 0).sort((a, b) => a - b);
  /** @type {number[][]} */
  const runs = [];
  for (const index of indexes) {
    const last = runs.at(-1);
    if (last && last[1] === index - 1) last[1] = index;
    else runs.push([index, index]);
  }
  const name = (/** @type {number} */ i) => dayName(DAYS[i], "long");
  return runs.map(([a, b]) => (a === b ? name(a) : b === a + 1 ? `${name(a)}, ${name(b)}` : t("hours.to", { from: name(a), to: name(b) }))).join(", ");
}

/** Returns a date without a year as words. @param {string} monthDay */
export function yearlyText(monthDay) {
  const [month, day] = monthDay.split("-").map(Number);
  return date(new Date(Date.UTC(2024, (month || 1) - 1, day || 1, 12)), { day: "numeric", month: "long", timeZone: "UTC" });
}

/** Returns a date with weekday and year as words. @param {string} iso */
export function dateText(iso) {
  const day = new Date(`${iso}T12:00:00Z`);
  if (Number.isNaN(day.getTime())) return iso;
  return date(day, { weekday: "long", day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
}

/** Accepts 9, 930, 9:30 and 09.30. @param {string} text */
export function tidyTime(text) {
  const [, hour, minute = "00"] = /^\s*(\d{1,2})(?:\D?(\d{2}))?\s*$/.exec(text) ?? [];
  return hour === undefined ? text : `${hour.padStart(2, "0")}:${minute}`;
}
