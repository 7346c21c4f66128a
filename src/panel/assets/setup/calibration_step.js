// Step of the installation: where camera pixels lie on the floor. The result is an error in millimetres, or a rejection.

import { session } from "../core/api.js";
import { h, View } from "../core/dom.js";
import { number, t, when } from "../core/i18n.js";
import { parseNumber } from "../core/numbers.js";
import { documents, send, status, useDocuments } from "../core/store.js";
import { on } from "../core/topics.js";
import { keepUnfinished } from "../parts/unfinished.js";
import { cameraChoice } from "../parts/camera_choice.js";
import { icon } from "../parts/icons.js";
import "../parts/picture.js";
import "./point_picker.js";
import { calibrationDoubts, isOtherSurface, stateHint } from "./steps.js";
import { rejectionText, waiting } from "./waiting.js";

/** @typedef {{ camera_px: [number, number], floor_m: [number, number] }} Marker */

/** Fewest markers for a fit. */
const MARKERS_MIN = 6;

class CalibrationStep extends View {
  #method = "touch";
  #targets = { columns: 4, rows: 4, mark: "disc" };
  /** @type {Marker[]} */
  #markers = [];
  #table = "";
  /** The start of Shoal in which the last procedure was running; empty if none was, or if it ended as it should. */
  #ranIn = "";

  start() {
    this.until(useDocuments(), keepUnfinished(() => (this.#markers.length > 0 || this.#table.trim() !== "" ? t("setup.calibration") : "")));
    this.#note();
    this.until(on("status", () => { this.#note(); this.update(); }));
    for (const topic of ["language", "session"]) this.until(on(topic, this.update));
  }

  /** Notes whether a procedure runs, once for each status: after a restart, the session can be newer than the status. */
  #note() {
    if (status === null) return;
    const { phase, end } = status.calibration;
    if (phase !== "idle") this.#ranIn = session.instance;
    else if (end) this.#ranIn = "";
  }

  view() {
    if (status === null) return null;
    const calibration = status.calibration;
    if (status.camera.kind === "tracker") return [cameraChoice(), h("p", { class: "hint" }, icon("info"), h("span", null, t("camera.tracker")))];
    // While it runs, what to do stands at the top: the phone lies on the floor beside the technician.
    if (calibration.phase !== "idle") return this.#procedure(calibration);
    return [cameraChoice(), this.#current(calibration), this.#chooser(calibration)];
  }

  /** @param {any} calibration */
  #current(calibration) {
    const known = calibration.current;
    if (!known) return h("p", { class: "hint warn" }, icon("warn"), h("span", null, t("calibration.none")));
    const drift = calibration.drift;
    const text = t("calibration.current", { mean: mm(known.predicted_rms_m), worst: mm(known.predicted_worst_m), date: when(known.date) });
    return [
      stateHint([text, !calibration.is_saved && t("setup.unsaved")].filter(Boolean).join(" "), calibration.is_saved, calibrationDoubts()),
      this.#otherSurface(known.surface_m),
      drift?.is_alarm && h("p", { class: "hint bad" }, icon("warn"), h("span", null, t("calibration.drift", { mm: mm(drift.shift_m) }))),
    ];
  }

  /** Says that the surface had another size when it was calibrated. @param {[number, number]} was */
  #otherSurface(was) {
    const surface = documents.get("site")?.effective?.surface;
    if (!surface || was[0] === 0 || !isOtherSurface(was, surface)) return null;
    const size = (/** @type {number} */ width, /** @type {number} */ height) => `${number(width)} × ${number(height)} m`;
    return h("p", { class: "hint warn" }, icon("warn"), h("span", null, t("calibration.other_surface", { from: size(was[0], was[1]), to: size(surface.width_m, surface.height_m) })));
  }

  /** @param {any} step @param {string} [done] */
  #send(step, done) {
    return send({ command: "calibrate", step }, done);
  }

  /** How the last procedure ended. "Saved" is said only when it is on the disk. @param {any} calibration */
  #end({ end, is_saved }) {
    const isDone = end === "accepted" && is_saved && calibrationDoubts().length === 0;
    const text = end !== "accepted" ? t(`calibration.end_${end}`) : t(is_saved ? "calibration.accepted" : "calibration.unsaved");
    return h("p", { class: isDone ? "hint good" : "hint", role: "status" }, icon(isDone ? "check" : "info"), h("span", null, text));
  }

  /** @param {any} calibration */
  #chooser(calibration) {
    const methods = ["touch", "gray", "markers", "table"];
    return h("section", { class: "card stack" },
      // Where the lamp cannot be is said at its own step.
      calibration.rejection && calibration.rejection.code !== "impossible_position" ? this.#rejection(calibration.rejection) : calibration.end && this.#end(calibration),
      this.#ranIn !== "" && this.#ranIn !== session.instance && h("p", { class: "hint warn", role: "alert" }, icon("warn"), h("span", null, t(calibration.current ? "calibration.interrupted" : "calibration.interrupted_first"))),
      status.outputs.length === 0 && h("p", { class: "hint warn" }, icon("warn"), h("span", null, t("calibration.no_output"))),
      h("h2", null, t("calibration.method")),
      h("div", { class: "choices methods", role: "group", "aria-label": t("calibration.method") }, methods.map((name) =>
        h("button", { key: name, type: "button", "aria-pressed": String(name === this.#method), onclick: () => { this.#method = name; this.update(); } },
          h("span", { class: "grow" }, h("strong", null, t(`calibration.${name}`)), h("br", null), h("span", { class: "small muted" }, t(`calibration.${name}_what`)))))),
      this.#form());
  }

  #form() {
    switch (this.#method) {
      case "touch": return this.#touchForm();
      case "gray": return h("button", { type: "button", class: "primary", onclick: () => this.#send({ do: "gray_code" }) }, icon("play"), t("calibration.start"));
      case "markers": return this.#markerForm();
      default: return [
        h("div", { class: "field" }, h("label", { for: "table" }, t("calibration.table")), h("textarea", { id: "table", value: this.#table, spellcheck: "false", "aria-describedby": "table-help", oninput: (/** @type {any} */ e) => { this.#table = e.target.value; this.update(); } }), h("p", { class: "help", id: "table-help" }, t("calibration.table_help"))),
        h("button", { type: "button", class: "primary", disabled: this.#table.trim() === "", onclick: () => this.#send({ do: "table", text: this.#table }) }, t("calibration.compute")),
      ];
    }
  }

  #touchForm() {
    const choose = (/** @type {"columns" | "rows"} */ key) => h("div", { class: "field" }, h("label", { for: `targets-${key}` }, t(`calibration.${key}`)),
      h("select", { id: `targets-${key}`, value: String(this.#targets[key]), onchange: (/** @type {any} */ e) => { this.#targets[key] = Number(e.target.value); this.update(); } }, [3, 4, 5].map((n) => h("option", { key: n, value: String(n) }, n))));
    return [
      h("div", { class: "plan-fields" }, choose("columns"), choose("rows"),
        h("div", { class: "field" }, h("label", { for: "mark" }, t("calibration.mark")), h("select", { id: "mark", value: this.#targets.mark, onchange: (/** @type {any} */ e) => { this.#targets.mark = e.target.value; this.update(); } }, ["disc", "pole"].map((mark) => h("option", { key: mark, value: mark }, t(`calibration.mark_${mark}`)))))),
      h("p", { class: "muted" }, t("calibration.touch_help", { n: this.#targets.columns * this.#targets.rows })),
      h("button", { type: "button", class: "primary", onclick: () => this.#send({ do: "start", ...this.#targets }) }, icon("play"), t("calibration.start")),
    ];
  }

  #markerForm() {
    return [
      h("p", { class: "muted" }, t("calibration.markers_help", { n: MARKERS_MIN })),
      h("shoal-points", { marks: this.#markers.map((marker, index) => ({ px: marker.camera_px, label: String(index + 1) })), onpoint: (/** @type {any} */ e) => { this.#markers.push({ camera_px: e.detail, floor_m: [0, 0] }); this.update(); } }),
      h("ol", { class: "items" }, this.#markers.map((marker, index) => h("li", { key: index, class: "row marker" },
        h("strong", { class: "number" }, index + 1),
        ["x", "z"].map((axis, i) => h("label", { key: axis, class: "row tight" }, axis, h("input", { inputmode: "decimal", autocomplete: "off", value: String(marker.floor_m[i]), "aria-label": t("calibration.marker_place", { n: index + 1, axis }), "aria-invalid": Number.isNaN(marker.floor_m[i]) ? "true" : null, onchange: (/** @type {any} */ e) => { marker.floor_m[i] = parseNumber(e.target.value); this.update(); } }), "m")),
        h("button", { type: "button", class: "plain square", "aria-label": t("edit.remove", { name: String(index + 1) }), onclick: () => { this.#markers.splice(index, 1); this.update(); } }, icon("trash"))))),
      h("button", { type: "button", class: "primary", disabled: this.#markers.length < MARKERS_MIN || this.#markers.some((marker) => marker.floor_m.some(Number.isNaN)), onclick: () => this.#send({ do: "markers", points: this.#markers }) }, t("calibration.compute")),
    ];
  }

  /** Why something was rejected. @param {import("./waiting.js").Rejection} rejection */
  #rejection(rejection) {
    const text = rejectionText(rejection);
    return h("div", { class: "hint bad", role: "alert" }, icon("warn"), h("div", null,
      h("p", null, text ?? t("calibration.rejected")),
      text ? h("details", { class: "fold small" }, h("summary", null, t("health.detail")), h("p", { lang: "en" }, rejection.text)) : h("p", { class: "small", lang: "en" }, rejection.text)));
  }

  /** The running procedure: what it waits for, and what can be done. @param {import("./waiting.js").Calibration} calibration */
  #procedure(calibration) {
    const { phase, target, targets, taken, rejection, result } = calibration;
    const isTouch = phase === "touch";
    const isAgain = isTouch && rejection?.code === "misplaced_point";
    const text = waiting(calibration);
    const isStuck = ["unseen", "camera_lost", "camera_black", "camera_saturated", "camera_frozen", "new_start"].includes(calibration.waits_for ?? "");
    return h("section", { class: "card stack procedure", "aria-live": "polite" },
      target !== null && h("p", { class: "procedure-target" }, t("calibration.target", { n: target, total: targets })),
      isAgain ? h("p", { class: "hint bad" }, icon("warn"), h("span", null, t("calibration.again"))) : rejection && this.#rejection(rejection),
      isStuck ? h("p", { class: "hint warn procedure-title", role: "alert" }, icon("warn"), h("span", null, text)) : h("p", { class: "procedure-title" }, text ?? t("calibration.working")),
      ["unseen", "camera_black", "camera_saturated", "camera_frozen"].includes(calibration.waits_for ?? "") && h("shoal-picture", { source: { topic: "camera" } }),
      targets > 0 && h("div", null,
        h("progress", { max: targets, value: taken, "aria-label": t("calibration.progress") }),
        h("p", { class: "small muted" }, t(phase === "stripes" ? "calibration.shown" : "calibration.taken", { n: taken, total: targets }))),
      !text && h("p", { lang: "en" }, calibration.sentence),
      result && this.#result(result),
      phase === "proven" && h("button", { type: "button", class: "primary block", onclick: () => this.#send({ do: "accept" }) }, icon("check"), t("calibration.accept")),
      h("div", { class: "row" },
        isTouch && h("button", { type: "button", onclick: () => this.#send({ do: "back" }) }, icon("left"), t("calibration.back")),
        isTouch && h("button", { type: "button", onclick: () => this.#send({ do: "repeat" }) }, icon("revert"), t("calibration.repeat")),
        isTouch && h("button", { type: "button", onclick: () => this.#send({ do: "skip" }) }, t("calibration.skip"), icon("right")),
        (phase === "rejected" || isTouch) && h("button", { type: "button", class: phase === "rejected" ? "primary" : "", onclick: () => this.#send({ do: "start_again" }) }, icon("play"), t("calibration.start_again")),
        h("button", { type: "button", class: "danger", onclick: () => this.#send({ do: "cancel" }) }, icon("close"), t("calibration.cancel"))),
      text && h("details", { class: "fold" }, h("summary", null, t("health.detail")), h("p", { class: "muted", lang: "en" }, calibration.sentence)),
      this.#canRepeat(calibration) && h("details", { class: "fold", open: phase === "rejected" }, h("summary", null, t("calibration.single")),
        h("div", { class: "chips" }, Array.from({ length: targets }, (_, index) => h("button", { key: index, type: "button", "aria-label": t("calibration.repeat_one", { n: index + 1 }), "aria-pressed": String(target === index + 1), onclick: () => this.#send({ do: "repeat", target: index + 1 }) }, index + 1)))));
  }

  /** Whether single touch targets can be measured again. @param {import("./waiting.js").Calibration} calibration */
  #canRepeat({ phase, result }) {
    return phase === "touch" || phase === "rejected" || (phase === "proven" && (result?.targets.length ?? 0) > 0);
  }

  /** The result that waits until it is used: the predicted error, and the error of each target. @param {import("./waiting.js").Result} result */
  #result(result) {
    return h("div", { class: "stack" },
      h("p", { class: "procedure-target" }, t("calibration.result", { mean: mm(result.predicted_rms_m), worst: mm(result.predicted_worst_m) })),
      result.is_mirrored && h("p", { class: "hint" }, icon("info"), h("span", null, t("calibration.mirrored"))),
      result.targets.length > 0 && h("div", null,
        h("h3", null, t("calibration.target_errors")),
        h("ul", { class: "target-errors top" }, result.targets.map((target) => h("li", { key: target.number }, h("span", { class: "muted" }, t("calibration.cross", { n: target.number })), h("strong", { class: "number" }, `${mm(target.error_m)} mm`))))));
  }
}

/** @param {number} meters */
function mm(meters) {
  return number(meters * 1000, 0);
}

customElements.define("shoal-calibration-step", CalibrationStep);
