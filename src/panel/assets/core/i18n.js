// Texts in the language of the reader. Every text of the panel is in `messages/`, under the same key in each language.

import de from "../messages/de.js";
import en from "../messages/en.js";
import { emit } from "./topics.js";

/** @typedef {string | { one: string, other: string }} Message */
/** @typedef {"en" | "de"} Language */

/** @type {Record<Language, Record<string, Message>>} */
const CATALOGUES = { en, de };
const STORED = "shoal.language";

/** @type {Language} */
let current = readStored() ?? (navigator.languages.some((l) => l.startsWith("de")) ? "de" : "en");
document.documentElement.lang = current;

/** @returns {Language | undefined} */
function readStored() {
  const stored = localStorage.getItem(STORED);
  return stored === "de" || stored === "en" ? stored : undefined;
}

/** @returns {Language} */
export function language() {
  return current;
}

/** @param {Language} next */
export function setLanguage(next) {
  current = next;
  localStorage.setItem(STORED, next);
  document.documentElement.lang = next;
  emit("language");
}

/**
 * Returns a text. `{name}` in it is replaced by `values.name`; `values.n` also chooses singular or plural.
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 * @returns {string}
 */
export function t(key, values = {}) {
  const message = CATALOGUES[current][key] ?? CATALOGUES.en[key];
  if (message === undefined) return key;
  const form = typeof message === "string" ? message : message[pluralForm(Number(values.n ?? 0))];
  return form.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === "number" ? number(value) : value;
  });
}

/**
 * Returns the text for a name that comes from Shoal, such as a fault, or `undefined` if the catalogue does not know the name.
 * @param {string} prefix
 * @param {string} name
 * @param {Record<string, string | number>} [values]
 * @returns {string | undefined}
 */
export function known(prefix, name, values = {}) {
  const key = `${prefix}.${name}`;
  return key in CATALOGUES.en ? t(key, values) : undefined;
}

/** The language with the region of the reader, so that dates have the order that is usual there. */
function locale() {
  return navigator.languages.find((own) => own.split("-")[0] === current) ?? current;
}

/** @param {number} n @returns {"one" | "other"} */
function pluralForm(n) {
  return new Intl.PluralRules(current).select(n) === "one" ? "one" : "other";
}

/** @param {number} value @param {number} [digits] */
export function number(value, digits = 2) {
  return new Intl.NumberFormat(current, { maximumFractionDigits: digits }).format(value);
}

/** @param {number} share */
export function percent(share) {
  return new Intl.NumberFormat(current, { style: "percent", maximumFractionDigits: share < 0.1 ? 1 : 0 }).format(share);
}

/** Time zone of the pool, in which all times are shown: the reader may be elsewhere. `undefined` is the zone of the reader. @type {string | undefined} */
let zone;

/** @param {string | undefined} name */
export function setTimeZone(name) {
  if (name === zone) return;
  try {
    zone = new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone && name;
  } catch {
    // A zone without a name that browsers know.
    zone = undefined;
  }
}

/** Returns the date at the pool, as 2026-12-24. @param {string | Date} date */
export function isoDay(date) {
  return new Intl.DateTimeFormat("en-CA", { timeZone: zone }).format(new Date(date));
}

/** Returns the time of day. @param {string | Date} date */
export function clock(date) {
  return new Intl.DateTimeFormat(current, { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: zone }).format(new Date(date));
}

/** Returns day and time; only the time if it is today. @param {string | Date} date */
export function when(date) {
  const day = new Date(date);
  if (Number.isNaN(day.getTime())) return "";
  if (isoDay(day) === isoDay(new Date())) return clock(day);
  const format = { timeZone: zone, weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  return new Intl.DateTimeFormat(locale(), /** @type {Intl.DateTimeFormatOptions} */ (format)).format(day);
}

/** Returns a date in words, in the time zone of the pool if `options` names no other one. @param {Date} date @param {Intl.DateTimeFormatOptions} options */
export function date(date, options) {
  // Times have 24 hours, as everywhere else on the page.
  const hours = options.timeStyle || options.hour ? /** @type {const} */ ({ hourCycle: "h23" }) : {};
  return new Intl.DateTimeFormat(locale(), { timeZone: zone, ...hours, ...options }).format(date);
}

/** Returns a duration in the largest sensible unit. @param {number} secs */
export function duration(secs) {
  if (secs < 90) return t("time.secs", { n: Math.max(0, Math.round(secs)) });
  if (secs < 90 * 60) return t("time.mins", { n: Math.round(secs / 60) });
  if (secs < 36 * 3600) return t("time.hours", { n: Math.round(secs / 3600) });
  return t("time.days", { n: Math.round(secs / 86400) });
}

/** Returns a size in bytes. @param {number | null | undefined} bytes */
export function bytes(bytes) {
  if (bytes === null || bytes === undefined) return "–";
  const units = ["B", "kB", "MB", "GB", "TB"];
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${number(bytes / 1000 ** step, step > 2 ? 1 : 0)} ${units[step]}`;
}

