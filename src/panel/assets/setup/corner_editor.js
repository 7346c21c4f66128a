// The four corners of an output, dragged with a finger, a mouse or the arrow keys. The picture on the floor follows.

import { h, View } from "../core/dom.js";
import { number, t } from "../core/i18n.js";
import { icon } from "../parts/icons.js";

/** @typedef {"top_left" | "top_right" | "bottom_right" | "bottom_left"} Corner */
/** @typedef {Record<Corner, { x: number, y: number }>} Corners */

/** @type {Corner[]} */
const ORDER = ["top_left", "top_right", "bottom_right", "bottom_left"];
const HOME = { top_left: [0, 0], top_right: [1, 0], bottom_right: [1, 1], bottom_left: [0, 1] };
/** Shortest time between two changes while a corner is dragged. */
const SEND_MS = 120;
/** How far outside the output a corner can be shown. */
const MARGIN = 0.18;

class CornerEditor extends View {
  /** @type {Corners} */
  #corners = { top_left: { x: 0, y: 0 }, top_right: { x: 1, y: 0 }, bottom_right: { x: 1, y: 1 }, bottom_left: { x: 0, y: 1 } };
  #size = [1920, 1080];
  /** @type {Corner} */
  #chosen = "top_left";
  #isDragged = false;
  #sentAt = 0;
  /** Pixels of a step. */
  #step = 1;

  /** @param {{ corners: Corners, size_px: number[] }} output */
  set output({ corners, size_px }) {
    // While a corner is dragged, what the pool answers is older than the finger.
    if (!this.#isDragged) this.#corners = structuredClone(corners);
    if (size_px[0] > 0) this.#size = size_px;
    this.update();
  }

  view() {
    const [width, height] = this.#size;
    const [mx, my] = [width * MARGIN, height * MARGIN];
    const points = ORDER.map((name) => [this.#corners[name].x * width, this.#corners[name].y * height]);
    const screenPx = (width * (1 + 2 * MARGIN)) / (this.clientWidth || 320);
    const radius = Math.max(width * 0.03, 14 * screenPx);
    // A finger needs 44 pixels of the screen, however small the drawing is.
    const grasp = Math.max(radius, 24 * screenPx);
    const chosen = this.#corners[this.#chosen];
    return [
      h("svg", { class: "corner-editor", viewBox: `${-mx} ${-my} ${width + 2 * mx} ${height + 2 * my}`, role: "group", "aria-label": t("corners.title") },
        h("rect", { x: 0, y: 0, width, height, fill: "none", class: "cross" }),
        h("polygon", { class: "area", points: points.map((p) => p.join(",")).join(" ") }),
        ORDER.map((name, index) => h("g", { key: name, class: name === this.#chosen ? "handle selected" : "handle", tabindex: "0", role: "button", "aria-pressed": String(name === this.#chosen), "aria-label": `${index + 1}: ${t(`corners.${name}`)}`,
          transform: `translate(${points[index][0]} ${points[index][1]})`,
          onfocus: () => this.#choose(name),
          onpointerdown: (/** @type {PointerEvent} */ e) => this.#drag(e, name),
          onkeydown: (/** @type {KeyboardEvent} */ e) => this.#onKey(e) },
          h("circle", { class: "grasp", r: grasp }), h("circle", { class: "ring", r: radius }), h("text", { "font-size": radius }, index + 1)))),
      h("div", { class: "row spread top" },
        h("div", null,
          h("div", { class: "chips", role: "group", "aria-label": t("corners.which") }, ORDER.map((name, index) => h("button", { key: name, type: "button", "aria-pressed": String(name === this.#chosen), "aria-label": `${index + 1}: ${t(`corners.${name}`)}`, onclick: () => this.#choose(name) }, index + 1))),
          h("p", { class: "small muted top" }, t(`corners.${this.#chosen}`), ": ", number(chosen.x * width, 0), " · ", number(chosen.y * height, 0), " px"),
          h("div", { class: "segments top", role: "group", "aria-label": t("corners.step") }, [1, 5, 25].map((step) => h("button", { key: step, type: "button", "aria-pressed": String(step === this.#step), onclick: () => { this.#step = step; this.update(); } }, t("corners.px", { n: step }))))),
        h("div", { class: "arrow-pad", role: "group", "aria-label": t("corners.arrows") },
          h("span", null), this.#arrow("up", 0, -1), h("span", null),
          this.#arrow("left", -1, 0), h("button", { type: "button", class: "plain square", "aria-label": t("corners.home"), title: t("corners.home"), onclick: () => this.#moveTo(this.#chosen, HOME[this.#chosen][0], HOME[this.#chosen][1], true) }, icon("revert")), this.#arrow("right", 1, 0),
          h("span", null), this.#arrow("down", 0, 1), h("span", null))),
    ];
  }

  /** @param {string} name @param {number} dx @param {number} dy */
  #arrow(name, dx, dy) {
    return h("button", { type: "button", class: "square", "aria-label": t(`corners.${name}`), onclick: () => this.#nudge(dx * this.#step, dy * this.#step) }, icon(name));
  }

  /** @param {Corner} name */
  #choose(name) {
    if (this.#chosen === name) return;
    this.#chosen = name;
    this.dispatchEvent(new CustomEvent("choose", { detail: name }));
    this.update();
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!by) return;
    event.preventDefault();
    const step = event.shiftKey ? 10 : 1;
    this.#nudge(by[0] * step, by[1] * step);
  }

  /** @param {number} dx pixels @param {number} dy pixels */
  #nudge(dx, dy) {
    const { x, y } = this.#corners[this.#chosen];
    this.#moveTo(this.#chosen, x + dx / this.#size[0], y + dy / this.#size[1], true);
  }

  /** @param {Corner} name @param {number} x @param {number} y @param {boolean} isLast */
  #moveTo(name, x, y, isLast) {
    const tidy = (/** @type {number} */ value) => Number(value.toFixed(5));
    this.#corners[name] = { x: tidy(x), y: tidy(y) };
    this.update();
    if (!isLast && Date.now() - this.#sentAt < SEND_MS) return;
    this.#sentAt = Date.now();
    this.dispatchEvent(new CustomEvent("corner", { detail: { name, value: this.#corners[name] } }));
  }

  /** @param {PointerEvent} down @param {Corner} name */
  #drag(down, name) {
    const handle = /** @type {SVGGElement} */ (down.currentTarget);
    const svg = /** @type {SVGSVGElement} */ (handle.ownerSVGElement);
    down.preventDefault();
    handle.focus({ preventScroll: true });
    handle.setPointerCapture(down.pointerId);
    this.#choose(name);
    const place = (/** @type {PointerEvent} */ e) => new DOMPoint(e.clientX, e.clientY).matrixTransform(svg.getScreenCTM()?.inverse());
    const start = place(down);
    // A finger covers the corner, so it may be grasped beside it: the distance stays.
    const offset = [this.#corners[name].x * this.#size[0] - start.x, this.#corners[name].y * this.#size[1] - start.y];
    this.#isDragged = true;
    const move = (/** @type {PointerEvent} */ e, /** @type {boolean} */ isLast) => {
      const here = place(e);
      const limit = (/** @type {number} */ v) => Math.max(-MARGIN, Math.min(1 + MARGIN, v));
      this.#moveTo(name, limit((here.x + offset[0]) / this.#size[0]), limit((here.y + offset[1]) / this.#size[1]), isLast);
    };
    handle.onpointermove = (e) => move(e, false);
    handle.onpointerup = (e) => {
      handle.onpointermove = handle.onpointerup = handle.onpointercancel = null;
      move(e, true);
      setTimeout(() => { this.#isDragged = false; }, 400);
    };
    handle.onpointercancel = handle.onpointerup;
  }
}

customElements.define("shoal-corners", CornerEditor);
