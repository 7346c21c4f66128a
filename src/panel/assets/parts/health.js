// The health of the pool in words: what is wrong, since when, and what to do.

import { duration, known, t, when } from "../core/i18n.js";

/** @typedef {{ kind: "good" | "warn" | "bad" | "wait", icon: string, short: string, sentence: string, since: string, remedy: string, detail: string }} Health */
/** @typedef {{ title: string, since: string, remedy: string, detail: string, name: string }} Trouble */

/** Faults that do not spoil what visitors see. */
const MILD = new Set(["camera.timestamp_jump", "camera.short_frames", "camera.damaged_frames", "recording_late", "recording_failed", "simulation_late", "site_files", "alerts", "counting", "unreliable_area", "rolling_bands"]);

/** Returns every trouble, the most important first. @param {any} status @returns {Trouble[]} */
export function troubles(status) {
  const stages = status.stages.filter((/** @type {any} */ stage) => !stage.is_well).map((/** @type {any} */ stage) => ({
    name: `stage.${stage.name}`,
    title: t("health.stage", { name: known("stage", stage.name) ?? stage.name }),
    since: t("health.for", { time: duration(stage.for_secs) }),
    remedy: t("health.stage_remedy"),
    detail: stage.state,
  }));
  const faults = [...status.faults].reverse().map((/** @type {any} */ fault) => ({
    name: fault.name,
    title: known("fault", fault.name) ?? sentenceCase(fault.detail),
    since: t("health.since", { time: when(fault.since), duration: duration(fault.for_secs) }),
    remedy: known("remedy", fault.name) ?? "",
    detail: fault.detail,
  }));
  return [...stages, ...faults.filter((f) => !MILD.has(f.name)), ...faults.filter((f) => MILD.has(f.name))];
}

/** @param {any} status @returns {Health} */
export function health(status) {
  const none = { since: "", remedy: "", detail: "" };
  if (status === null) return { ...none, kind: "wait", icon: "info", short: t("health.waiting"), sentence: t("health.waiting") };
  const [first, ...rest] = troubles(status);
  if (!first) return { ...none, kind: "good", icon: "check", short: t("health.well"), sentence: t("health.all_well") };
  const isMild = MILD.has(first.name);
  const sentence = rest.length > 0 ? `${first.title} ${t("health.more", { n: rest.length })}` : first.title;
  return {
    kind: isMild ? "warn" : "bad", icon: "warn", short: isMild ? t("health.warning") : t("health.fault"),
    sentence, since: first.since, remedy: first.remedy, detail: first.detail,
  };
}

/** @param {string} text */
function sentenceCase(text) {
  const full = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(full) ? full : `${full}.`;
}
