// Several cameras: each with its name and its state. The chosen one is shown and calibrated.

import { may } from "../core/api.js";
import { h } from "../core/dom.js";
import { known, t } from "../core/i18n.js";
import { send, status } from "../core/store.js";
import { icon } from "./icons.js";

/** @typedef {{ name: string, kind: string, fps: number, is_calibrated: boolean, faults: string[] }} Camera */

/** All cameras, also of a site with one. @returns {any[]} */
export const allCameras = () => (status.cameras.length > 0 ? status.cameras : [status.camera]);

/** How many pictures arrive, or reports of a tracker. @param {Camera} camera */
export const rateText = (camera) => (camera.kind === "tracker" ? t("unit.reports", { n: Math.round(camera.fps) }) : t("unit.fps", { n: Number(camera.fps.toFixed(1)) }));

/** Says how a camera is. @param {Camera} camera */
function state(camera) {
  const [fault] = camera.faults;
  if (fault) return known("fault", `camera.${fault}`) ?? fault;
  const rate = rateText(camera);
  return camera.is_calibrated ? rate : `${rate} · ${t("live.no_calibration")}`;
}

/** The choice of a camera; `null` for a site with one. */
export function cameraChoice() {
  const cameras = status.cameras;
  if (cameras.length === 0) return null;
  return h("section", { class: "card", key: "cameras" },
    h("h2", null, t("cameras.title")),
    h("div", { class: "choices", role: "group", "aria-label": t("cameras.title") }, cameras.map((/** @type {Camera} */ camera) =>
      h("button", { key: camera.name, type: "button", disabled: !may("admin"), "aria-pressed": String(camera.name === status.camera.name), onclick: () => send({ command: "choose_camera", name: camera.name }) },
        camera.faults.length > 0 && icon("warn"),
        h("span", { class: "grow" }, h("strong", null, camera.name), h("br", null), h("span", { class: "small muted" }, state(camera)))))),
    status.agreements.map((/** @type {any} */ agreement) => h("p", { key: agreement.cameras.join(), class: "small muted top" },
      t("cameras.agree", { one: agreement.cameras[0], other: agreement.cameras[1], mm: Math.round(agreement.distance_mm) }))),
    h("p", { class: "small muted top" }, t("cameras.what")));
}

/** Returns the place of the chosen camera in the site file: its path, the path of its source, and its schema. @param {any} schema */
export function chosenCamera(schema) {
  const index = status.cameras.findIndex((/** @type {Camera} */ camera) => camera.name === status.camera.name);
  const properties = schema.site.properties;
  const path = index < 0 ? "camera" : `cameras[${index}]`;
  return { path, source: `${path}.source`, schema: index < 0 ? properties.camera : properties.cameras.items, index };
}
