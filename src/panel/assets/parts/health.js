// The health of the pool in words. What is wrong, in which order and in which colour, comes with the status; here it gets the language of
// the reader. Without a fresh status nothing is known, and the colour is grey.

import { clock, duration, known, t, when } from "../core/i18n.js";
import { connection, newsAt } from "../core/stream.js";

/** @typedef {"good" | "warn" | "bad" | "wait"} Kind */
/** @typedef {{ kind: Kind, icon: string, short: string, sentence: string, since: string, remedy: string, detail: string }} Health */
/** @typedef {{ title: string, since: string, remedy: string, detail: string, name: string, kind: Kind, isShow: boolean, isAway: boolean }} Trouble */
/** @typedef {{ name: string, level: string, is_show: boolean, sentence: string, detail: string, since: string, for_secs: number, away_secs: [number, number] | null, until: string | null }} Finding */

/** @type {Record<string, Kind>} */
const KINDS = { well: "good", attention: "warn", fault: "bad" };

/** Returns the findings in the language of the reader, the most important first. @param {any} status @returns {Trouble[]} */
export function troubles(status) {
  /** @type {Trouble[]} */
  const all = status.health.findings.map((/** @type {Finding} */ finding) => trouble(finding, status));
  // Two parts of Shoal can have the same fault, for example on a full disk.
  return all.filter((one, index) => all.findIndex((other) => other.title === one.title) === index);
}

/** @param {Finding} finding @param {any} status @returns {Trouble} */
function trouble(finding, status) {
  const { name } = finding;
  const shown = status.outputs.find((/** @type {any} */ output) => output.size_px[0] > 0);
  const values = {
    until: finding.until ? when(finding.until) : "",
    fps: Math.round(shown?.fps ?? 0), wanted: Math.round(status.picture.wanted_fps),
  };
  const away = finding.away_secs;
  const since = away ? t("health.away", { since: when(finding.since), time: duration(away[0]), quiet: duration(away[1]) })
    : finding.since ? t("health.since", { time: when(finding.since), duration: duration(finding.for_secs) })
    : finding.for_secs > 0 ? t("health.for", { time: duration(finding.for_secs) }) : "";
  // Of several cameras, the description of a fault names one.
  const camera = /^camera "([^"]*)": /.exec(finding.detail)?.[1];
  const isStage = name.startsWith("stage.");
  const title = isStage ? t("health.stage", { name: known("stage", name.slice(6)) ?? name.slice(6) })
    : (finding.until ? undefined : known("endless", name, values)) ?? known("finding", name, values) ?? known("fault", name, values) ?? sentenceCase(finding.detail || finding.sentence);
  const whole = camera ? `${camera}: ${title}` : title;
  return {
    name: camera ? `${name} ${camera}` : name, title: away ? t("health.not_now", { fault: whole }) : whole, isAway: Boolean(away), since, kind: KINDS[finding.level] ?? "bad", isShow: finding.is_show, detail: finding.detail,
    remedy: isStage ? t("health.stage_remedy") : known("remedy", name) ?? "",
  };
}

/** Says in one text what is wrong, since when, and what to do. @param {Trouble} trouble */
export function troubleText({ title, since, remedy }) {
  return [title, since && sentenceCase(since), remedy].filter(Boolean).join(" ");
}

/** @param {any} status @returns {Health} */
export function health(status) {
  const none = { since: "", remedy: "", detail: "" };
  if (connection === "lost") return { ...none, kind: "wait", icon: "bad", short: t("health.lost"), sentence: t("health.no_connection", { time: clock(new Date(newsAt)) }), remedy: t("health.no_connection_remedy") };
  if (status === null) return { ...none, kind: "wait", icon: "info", short: t("health.waiting"), sentence: t("health.waiting") };
  const all = troubles(status);
  const kind = KINDS[status.health.level] ?? "bad";
  const show = all.find((one) => one.isShow);
  const [first, ...rest] = all.filter((one) => !one.isShow);
  const begin = kind === "good" ? t("health.all_well") : "";
  const more = rest.length > 0 ? t("health.more", { n: rest.length }) : "";
  const short = kind === "good" ? (show ? known("state", show.name) ?? t("health.well") : t("health.well")) : t(kind === "warn" ? "health.warning" : "health.fault");
  return {
    kind, icon: kind === "good" ? "check" : "warn", short,
    sentence: [begin, show?.title, first?.title, more].filter(Boolean).join(" "),
    since: first?.since ?? "", remedy: (first ?? show)?.remedy ?? "", detail: first?.detail ?? "",
  };
}

/** @param {string} text */
function sentenceCase(text) {
  const full = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(full) ? full : `${full}.`;
}
