// Step of the installation: where the infrared lamp is, measured with a tape or by the shadows of a pole.

import { h, View } from "../core/dom.js";
import { t } from "../core/i18n.js";
import { send, status } from "../core/store.js";
import { on } from "../core/topics.js";
import { icon } from "../parts/icons.js";
import "./point_picker.js";

/** @typedef {{ foot_px: [number, number], tip_px?: [number, number] }} Pole */

const POLES_MIN = 3;

class LampStep extends View {
  #method = "tape";
  #position = [0, 3, 0];
  #height = 1;
  /** @type {Pole[]} */
  #poles = [];

  start() {
    for (const topic of ["language", "status"]) this.until(on(topic, this.update));
  }

  view() {
    if (status === null) return null;
    const current = status.calibration.current;
    if (!current) return h("p", { class: "hint warn" }, icon("warn"), h("span", null, t("lamp.first_calibrate")));
    return [
      h("p", { class: `hint ${current.knows_lamp ? "good" : "warn"}` }, icon(current.knows_lamp ? "check" : "warn"), h("span", null, t(current.knows_lamp ? "lamp.known" : "lamp.unknown"))),
      h("section", { class: "card stack" },
        h("div", { class: "segments", role: "group", "aria-label": t("lamp.how") }, ["tape", "poles"].map((name) => h("button", { key: name, type: "button", "aria-pressed": String(name === this.#method), onclick: () => { this.#method = name; this.update(); } }, t(`lamp.${name}`)))),
        this.#method === "tape" ? this.#tape() : this.#pole()),
    ];
  }

  #tape() {
    const labels = ["lamp.x", "lamp.y", "lamp.z"].map((key) => t(key));
    return [
      h("p", { class: "muted" }, t("lamp.tape_help")),
      h("div", { class: "plan-fields" }, labels.map((label, i) => h("div", { class: "field", key: i }, h("label", { for: `lamp-${i}` }, label),
        h("input", { id: `lamp-${i}`, type: "number", step: 0.01, value: String(this.#position[i]), onchange: (/** @type {any} */ e) => { this.#position[i] = Number(e.target.value); this.update(); } })))),
      h("button", { type: "button", class: "primary", onclick: () => send({ command: "calibrate", step: { do: "lamp", position_m: this.#position } }, t("lamp.done")) }, t("lamp.set")),
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
    return [
      h("p", { class: "muted" }, t("lamp.poles_help", { n: POLES_MIN })),
      h("div", { class: "field narrow" }, h("label", { for: "pole-height" }, t("lamp.height")), h("input", { id: "pole-height", type: "number", min: 0.1, step: 0.01, value: String(this.#height), onchange: (/** @type {any} */ e) => { this.#height = Number(e.target.value); } })),
      h("p", { class: "hint", "aria-live": "polite" }, icon("hand"), h("span", null, t(isTipNext ? "lamp.tap_tip" : "lamp.tap_foot", { n: isTipNext ? this.#poles.length : this.#poles.length + 1 }))),
      h("shoal-points", { marks, onpoint: (/** @type {any} */ e) => take(e.detail) }),
      h("div", { class: "row" },
        h("button", { type: "button", disabled: this.#poles.length === 0, onclick: () => { if (isTipNext || !open) this.#poles.pop(); else delete open.tip_px; this.update(); } }, icon("undo"), t("lamp.undo")),
        h("button", { type: "button", class: "primary", disabled: whole.length < POLES_MIN, onclick: () => send({ command: "calibrate", step: { do: "poles", height_m: this.#height, poles: whole } }, t("lamp.done")) }, t("calibration.compute"))),
    ];
  }
}

customElements.define("shoal-lamp-step", LampStep);
