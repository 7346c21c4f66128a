// The steps of the installation, and the test whether each is done. A tick means: done, saved, and still true.

import { h } from "../core/dom.js";
import { t } from "../core/i18n.js";
import { documents, status } from "../core/store.js";
import { valueAt } from "../editor/schema.js";
import { allCameras } from "../parts/camera_choice.js";
import { troubles, troubleText } from "../parts/health.js";
import { icon } from "../parts/icons.js";

/**
 * A step: whether its work is done (`null` where there is nothing to be seen), and the active faults that make it untrue.
 * @typedef {{ name: string, isDone: () => boolean | null, spoilers: (name: string) => boolean }} Step
 */

const none = () => false;
/** @param {string[]} names */
const anyOf = (...names) => (/** @type {string} */ name) => names.includes(name);
/** Why the calibrations in use do not hold any more, as Shoal says it. */
const doubts = () => status.calibration.doubts ?? [];
const spoilsCalibration = (/** @type {string} */ name) => doubts().includes(name);

/** The value that the site file itself has. @param {string} path */
const written = (path) => valueAt(documents.get("site")?.values, path);
/** Whether the camera shows a floor, or a tracker reports its visitors, and they are not simulated. */
const hasCamera = () => allCameras().every((camera) => ["live", "tracker"].includes(camera.kind) && camera.fps > 0);
/** Whether there is a picture that has to be calibrated. A tracker reports places on the floor. */
const hasPicture = () => allCameras().some((camera) => camera.kind !== "tracker");
/** Whether the calibration in use is one of the present surface. */
const isCalibrated = () => {
  if (!hasPicture()) return written("surface.width_m") !== undefined;
  const { current } = status.calibration;
  const surface = documents.get("site")?.effective?.surface;
  return current !== null && allCameras().every((camera) => camera.is_calibrated) && surface !== undefined && !isOtherSurface(current.surface_m, surface);
};
/** Whether every projector is set up and shows a picture on a monitor. That the picture fits the surface is seen at the calibration. */
const isProjected = () => isCalibrated() && (documents.get("site")?.effective?.outputs ?? []).length > 0 && status.outputs.length > 0 && status.outputs.every((/** @type {any} */ output) => output.monitor !== "");
const hasHours = () => (status.schedule === undefined ? null : status.schedule.is_planned && status.schedule.is_clock_trusted);

/** @type {Step[]} */
export const STEPS = [
  { name: "language", isDone: () => written("language") !== undefined, spoilers: none },
  { name: "password", isDone: () => true, spoilers: anyOf("panel.users") },
  { name: "camera", isDone: hasCamera, spoilers: (name) => name.startsWith("camera.") || name.startsWith("tracker_") || name === "dark_floor" || name === "bright_floor" },
  // Discs on the crosses prove the size that was entered; before, it is only a number.
  { name: "surface", isDone: isCalibrated, spoilers: spoilsCalibration },
  { name: "output", isDone: isProjected, spoilers: (name) => spoilsCalibration(name) || name === "monitor" || name === "picture" },
  { name: "calibration", isDone: () => (hasPicture() ? isCalibrated() && status.calibration.is_saved : null), spoilers: spoilsCalibration },
  // The place of the lamp is one of the calibrated floor.
  { name: "lamp", isDone: () => (hasPicture() ? isCalibrated() && status.calibration.current.knows_lamp && status.calibration.is_saved : null), spoilers: spoilsCalibration },
  { name: "scene", isDone: () => null, spoilers: none },
  { name: "hours", isDone: hasHours, spoilers: none },
  { name: "report", isDone: () => null, spoilers: none },
];

/** Whether the site file is on the disk as it is in use. */
export const isSiteSaved = () => !status.unsaved.some((/** @type {any} */ name) => name.kind === "site");

/** Whether a step is done, saved and still true. @param {Step} step */
export function isTrue({ name, isDone, spoilers }) {
  if (!isDone() || (name !== "password" && !isSiteSaved())) return false;
  return !status.faults.some((/** @type {any} */ fault) => spoilers(fault.name));
}

/** Says why the calibration in use does not hold; nothing if it does. @returns {string[]} */
export function calibrationDoubts() {
  return troubles(status).filter((trouble) => doubts().includes(trouble.name.split(" ")[0])).map(troubleText);
}

/** Something that was set up: green only if it is saved and nothing makes it untrue. @param {string} text @param {boolean} isGood @param {string[]} [because] */
export function stateHint(text, isGood, because = []) {
  const isWell = isGood && because.length === 0;
  return h("p", { class: `hint ${isWell ? "good" : "warn"}` }, icon(isWell ? "check" : "warn"), h("span", null, [text, ...because.map((reason) => t("setup.no_longer", { reason }))].join(" ")));
}

/** Whether the surface has another size than that of the calibration. @param {[number, number]} was @param {{ width_m: number, height_m: number }} surface */
export function isOtherSurface(was, surface) {
  return Math.abs(was[0] - surface.width_m) > 1e-3 || Math.abs(was[1] - surface.height_m) > 1e-3;
}
