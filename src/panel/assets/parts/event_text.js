// Events as sentences.

import { duration, known, t } from "../core/i18n.js";

/** @typedef {import("../core/store.js").PoolEvent} PoolEvent */

/** Returns who sent a command. @param {{ kind: string, name?: string }} source */
export function sender(source) {
  if (source.kind === "panel" && source.name) return source.name;
  return known("source", source.kind) ?? source.kind;
}

/** Says who changed what. @param {PoolEvent} event */
export function describeCommand(event) {
  const what = known("command", event.command) ?? event.command;
  return t("event.command", { who: sender(event.source), what, summary: summary(event) }).trim();
}

/** Says what a command concerns, in the reader's language where the catalogue knows it. @param {PoolEvent} event */
function summary(event) {
  const text = event.summary ?? "";
  return known(`summary.${event.command}`, text) ?? text;
}

/** @param {PoolEvent} event @returns {{ kind: "good" | "bad" | "info" | "warn", text: string, detail: string }} */
export function describe(event) {
  switch (event.event) {
    case "fault_began":
      return { kind: "bad", text: t("event.fault_began", { fault: known("fault", event.fault) ?? event.fault }), detail: event.detail };
    case "fault_ended":
      return { kind: "good", text: t("event.fault_ended", { fault: known("fault", event.fault) ?? event.fault, time: duration(event.lasted_secs) }), detail: "" };
    case "command_applied":
      return { kind: "info", text: describeCommand(event), detail: "" };
    case "command_rejected":
      return { kind: "warn", text: t("event.rejected", { who: sender(event.source), what: known("command", event.command) ?? event.command, summary: summary(event) }), detail: (event.problems ?? []).map((/** @type {any} */ p) => p.message).join(" ") };
    case "calibration_step":
      return { kind: "info", text: t("event.calibration"), detail: event.sentence };
    case "visitor_arrived":
      return { kind: "info", text: t("event.visitor_arrived", { id: event.id }), detail: "" };
    case "visitor_left":
      return { kind: "info", text: t("event.visitor_left", { id: event.id, time: duration(event.stayed_secs) }), detail: "" };
    case "scene_changed":
      return { kind: "info", text: t("event.scene_changed", { scene: event.scene }), detail: "" };
    case "schedule_changed":
      return { kind: "info", text: t("event.schedule_changed", { state: known("state", event.state) ?? event.state, reason: event.reason }), detail: "" };
    case "stage_restarted":
      return { kind: "bad", text: t("event.stage_restarted", { stage: known("stage", event.stage) ?? event.stage }), detail: "" };
    default:
      return { kind: "info", text: event.event, detail: "" };
  }
}
