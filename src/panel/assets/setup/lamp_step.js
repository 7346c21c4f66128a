// Step of the installation: where the infrared lamp is, measured with a tape or by the shadows of a pole.

import { h, View } from "../core/dom.js";
import { number, t } from "../core/i18n.js";
import { parseNumber } from "../core/numbers.js";
import { documents, send, status, useDocuments } from "../core/store.js";
import { on } from "../core/topics.js";
import { keepUnfinished } from "../parts/unfinished.js";
import { cameraChoice } from "../parts/camera_choice.js";
import { icon } from "../parts/icons.js";
import { lampDrawing } from "./drawings.js";
import "./point_picker.js";
import { calibrationDoubts, stateHint } from "./steps.js";

/** @typedef {{ foot_px: [number, number], tip_px?: [number, number] }} Pole */

const POLES_MIN = 3;

class LampStep extends View {
  #method = "tape";
  /** What was typed for each coordinate; `null` shows the place in use. @type {(string | null)[]} */
  #typed = [null, null, null];
  #height = "1";
  /** @type {Pole[]} */
  #poles = [];

  start() {
    this.until(useDocuments(), keepUnfinished(() => (this.#typed.some((text) => text !== null) || this.#poles.length > 0 ? t("setup.lamp") : "")));
    for (const topic of ["language", "status"]) this.until(on(topic, this.update));
  }

  view() {
    if (status === null) return null;
    const { current, is_saved } = status.calibration;
    if (!current) return [cameraChoice(), h("p", { class: "hint warn", key: "first" }, icon("warn"), h("span", null, t("lamp.first_calibrate")))];
    return [
      cameraChoice(),
      stateHint([lampText(current), current.knows_lamp && t(is_saved ? "lamp.saved" : "setup.unsaved")].filter(Boolean).join(" "), current.knows_lamp && is_saved, calibrationDoubts()),
      h("section", { class: "card stack" },
        h("div", { class: "segments", role: "group", "aria-label": t("lamp.how") }, ["tape", "poles"].map((name) => h("button", { key: name, type: "button", "aria-pressed": String(name === this.#method), onclick: () => { this.#method = name; this.update(); } }, t(`lamp.${name}`)))),
        this.#method === "tape" ? this.#tape() : this.#pole()),
    ];
  }

  #tape() {
    const labels = ["lamp.x", "lamp.y", "lamp.z"].map((key) => t(key));
    const known = status.calibration.current.lamp_m;
    const shown = this.#typed.map((text, i) => text ?? (known ? number(known[i]) : ""));
    const position = shown.map(parseNumber);
    const isWrong = (/** @type {number} */ i) => this.#typed[i] !== null && this.#typed[i] !== "" && Number.isNaN(position[i]);
    const set = async () => {
      if (await send({ command: "calibrate", step: { do: "lamp", position_m: position } })) this.#typed = [null, null, null];
      this.update();
    };
    return [
      h("p", { class: "muted" }, t("lamp.tape_help")),
      h("div", { class: "plan-fields" }, labels.map((label, i) => h("div", { class: "field", key: i }, h("label", { for: `lamp-${i}` }, label),
        h("input", { id: `lamp-${i}`, inputmode: "decimal", autocomplete: "off", value: shown[i], "aria-invalid": isWrong(i) ? "true" : null, oninput: (/** @type {any} */ e) => { this.#typed[i] = e.target.value; this.update(); } }),
        isWrong(i) && h("p", { class: "wrong", role: "alert" }, t("lamp.no_number", { example: number(2.85) }))))),
      lampDrawing(documents.get("site")?.effective?.surface, position),
      h("button", { type: "button", class: "primary", disabled: position.some(Number.isNaN), onclick: set }, t("lamp.set")),
    ];
  }

  #pole() {
    const open = this.#poles.at(-1);
    const isTipNext = open !== undefined && open.tip_px === undefined;
    const whole = this.#poles.filter((pole) => pole.tip_px !== undefined);
    const marks = this.#poles.flatMap((pole, index) => [{ px: pole.foot_px, label: t("lamp.foot", { n: index + 1 }) }, ...(pole.tip_px ? [{ px: pole.tip_px, label: t("lamp.tip", { n: index + 1 }), kind: "tip" }] : [])]);
    const take = (/** @type {[number, number]} */ px) => {
      if (isTipNext) open.tip_px = px;
      else this.#poles.push({ foot_px: px });
      this.update();
    };
    const compute = async () => {
      if (await send({ command: "calibrate", step: { do: "poles", height_m: parseNumber(this.#height), poles: whole } })) this.#poles = [];
      this.update();
    };
    return [
      h("p", { class: "muted" }, t("lamp.poles_help", { n: POLES_MIN })),
      h("div", { class: "field narrow" }, h("label", { for: "pole-height" }, t("lamp.height")), h("input", { id: "pole-height", inputmode: "decimal", autocomplete: "off", value: this.#height, oninput: (/** @type {any} */ e) => { this.#height = e.target.value; this.update(); } })),
      h("p", { class: "hint", "aria-live": "polite" }, icon("hand"), h("span", null, t(isTipNext ? "lamp.tap_tip" : "lamp.tap_foot", { n: isTipNext ? this.#poles.length : this.#poles.length + 1 }))),
      h("shoal-points", { marks, onpoint: (/** @type {any} */ e) => take(e.detail) }),
      h("div", { class: "row" },
        h("button", { type: "button", disabled: this.#poles.length === 0, onclick: () => { if (isTipNext || !open) this.#poles.pop(); else delete open.tip_px; this.update(); } }, icon("undo"), t("lamp.undo")),
        h("button", { type: "button", class: "primary", disabled: whole.length < POLES_MIN || !(parseNumber(this.#height) > 0), onclick: compute }, t("calibration.compute"))),
    ];
  }
}

/** Says where the lamp is. @param {any} current the calibration in use */
export function lampText(current) {
  const at = current?.lamp_m;
  if (!at) return t("lamp.unknown");
  const [x, y, z] = at;
  const place = [t(x < 0 ? "lamp.left" : "lamp.right", { m: number(Math.abs(x)) }), t("lamp.high", { m: number(y) }), t(z < 0 ? "lamp.upper" : "lamp.lower", { m: number(Math.abs(z)) })];
  return t("lamp.known", { place: place.join(", ") });
}

customElements.define("shoal-lamp-step", LampStep);
