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
  return t("event.command", { who: sender(event.source), what, summary: summary(/** @type {any} */ (event)) }).trim();
}

/** Says what a command concerns, in the reader's language where the catalogue knows it. @param {{ command: string, summary?: string }} event @returns {string} */
function summary({ command, summary: text = "" }) {
  const own = known(`summary.${command}`, text);
  if (own !== undefined) return own;
  if (["undo", "redo"].includes(command)) return changeLine(text);
  if (["edit", "batch", "take_over", "replace_text"].includes(command)) return places(text);
  return text.startsWith("{") ? step(text) : text;
}

/** Says what was changed, without the names of files and values. @param {string} text as in "site: schedule.weekly[0], species/koi: look" */
function places(text) {
  const found = text.split(", ").map((part) => {
    const [, kind, name, path = ""] = /^(?:\w+ )?(site|scenes|species)(?:\/([^:]+))?(?::\s*(.*))?$/.exec(part) ?? [];
    if (kind === undefined) return part;
    if (kind !== "site") return t(`place.${kind}`, { name: name ?? "" });
    const [key, inner] = path.split(/[.[]/);
    return known("place", `${key}.${inner}`) ?? known("place", key || "site") ?? t("place.other");
  });
  return [...new Set(found)].join(", ");
}

/** Says what a step set. @param {string} text JSON, which may be cut off */
function step(text) {
  const [, state] = /"state":"(\w+)"/.exec(text) ?? [];
  const [, rule] = /"rule":"([^"]+)"/.exec(text) ?? [];
  const [, name] = /"(?:do|event)":"(\w+)"/.exec(text) ?? [];
  return known("state", state ?? "") ?? rule ?? known("step", name ?? "") ?? "";
}

/** Says which change was taken back or made again. @param {string} line as in "edit site: surface (panel Anna)" @returns {string} */
function changeLine(line) {
  const [, command, text, kind, name] = /^(\w+) (.*?)(?: \((\w+)(?: ([^)]*))?\))?$/.exec(line) ?? [];
  if (command === undefined) return line;
  return changeText({ command, summary: text, author: kind === undefined ? null : { kind, name } });
}

/** Says what a change of the history is and who made it. @param {{ command: string, summary: string, author: { kind: string, name?: string } | null }} change @returns {string} */
export function changeText({ command, summary: text, author }) {
  const what = known("command", command) ?? command;
  return t("event.command", { who: author ? sender(author) : t("source.unknown"), what, summary: summary({ command, summary: text }) }).trim();
}

/** Names a fault of the past, without the values of now. @param {string} name */
function faultName(name) {
  return known("past", name) ?? known("fault", name) ?? name;
}

/** Says why the plan shows a state. @param {string} reason as in `date "Christmas"` */
function planReason(reason) {
  const [, source, name] = /^(.*?)(?: "(.*)")?$/.exec(reason) ?? [];
  const own = known("reason", (source ?? "").replaceAll(" ", "_")) ?? source ?? "";
  return name ? `${own} “${name}”` : own;
}

/** @param {PoolEvent} event @returns {{ kind: "good" | "bad" | "info" | "warn", text: string, detail: string }} */
export function describe(event) {
  switch (event.event) {
    case "fault_began":
      return { kind: "bad", text: t("event.fault_began", { fault: faultName(event.fault) }), detail: event.detail };
    case "fault_ended":
      return { kind: "good", text: t("event.fault_ended", { fault: faultName(event.fault), time: duration(event.lasted_secs) }), detail: "" };
    case "command_applied":
      return { kind: "info", text: describeCommand(event), detail: describeCommand(event).includes(event.summary ?? "") ? "" : event.summary };
    case "command_rejected":
      return { kind: "warn", text: t("event.rejected", { who: sender(event.source), what: known("command", event.command) ?? event.command, summary: summary(/** @type {any} */ (event)) }), detail: (event.problems ?? []).map((/** @type {any} */ p) => p.message).join(" ") };
    case "calibration_step":
      return { kind: "info", text: t("event.calibration"), detail: event.sentence };
    case "visitor_arrived":
      return { kind: "info", text: t("event.visitor_arrived", { id: event.id }), detail: "" };
    case "visitor_left":
      return { kind: "info", text: t("event.visitor_left", { id: event.id, time: duration(event.stayed_secs) }), detail: "" };
    case "test":
      return { kind: "info", text: t("event.test"), detail: "" };
    case "visitor_stands":
    case "visitor_stamps":
      return { kind: "info", text: t(`event.${event.event}`, { id: event.id }), detail: "" };
    case "hunt_began":
    case "fish_leapt":
      return { kind: "info", text: t(`event.${event.event}`, { species: event.species, id: event.id }), detail: "" };
    case "rule_began":
    case "rule_ended":
      return { kind: "info", text: t(`event.${event.event}`, { rule: event.rule }), detail: "" };
    case "prey_caught":
      return { kind: "info", text: t("event.prey_caught", { species: event.species, prey: event.prey_species }), detail: "" };
    case "scene_changed":
      return { kind: "info", text: t("event.scene_changed", { scene: event.scene }), detail: "" };
    case "schedule_changed":
      return { kind: "info", text: t("event.schedule_changed", { state: known("state", event.state) ?? event.state, reason: planReason(event.reason) }), detail: "" };
    case "stage_restarted":
      return { kind: "bad", text: t("event.stage_restarted", { stage: known("stage", event.stage) ?? event.stage }), detail: "" };
    default:
      return { kind: "info", text: event.event, detail: "" };
  }
}
