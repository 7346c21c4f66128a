// Areas in which a camera detects nobody, or outside of which it detects nobody: drawn in its picture with a finger, a mouse or the arrow
// keys, beside what the detection makes of the picture.

import { h, View } from "../core/dom.js";
import { t } from "../core/i18n.js";
import { schema, send, sendEdits, status } from "../core/store.js";
import { on } from "../core/topics.js";
import { keepUnfinished } from "../parts/unfinished.js";
import { chosenCamera } from "../parts/camera_choice.js";
import { icon } from "../parts/icons.js";
import "../parts/picture.js";

/** @typedef {[number, number]} Point */
/** @typedef {{ list: "ignore" | "include", index: number, is_on_floor: boolean, corners_px: Point[] }} Area */

const CORNERS_MIN = 3;
const CORNERS_MAX = 64;

class AreaEditor extends View {
  /** The area that is drawn or changed; its index is -1 while it is new. @type {Area | null} */
  #open = null;
  #isOnFloor = true;

  start() {
    for (const topic of ["status", "language"]) this.until(on(topic, this.update));
    this.until(keepUnfinished(() => (this.#open && this.#open.corners_px.length > 0 ? t("areas.title") : "")));
  }

  view() {
    if (status === null || schema === null) return null;
    const { areas, size_px: [width] } = status.camera;
    if (!(width > 0)) return null;
    return h("section", { class: "card stack" },
      h("h2", null, t("areas.title")),
      h("p", { class: "muted" }, t("areas.help")),
      h("div", { class: "grid two" },
        h("div", { class: "area-editor" }, h("shoal-picture", { source: { topic: "camera" } }), this.#drawing(areas)),
        h("figure", null, h("shoal-picture", { source: { topic: "mask" } }), h("figcaption", { class: "small muted" }, t("live.mask_what")))),
      this.#open ? this.#tools(this.#open) : this.#list(areas));
  }

  /** @param {Area[]} areas */
  #drawing(areas) {
    const [width, height] = status.camera.size_px;
    const open = this.#open;
    const radius = width / 60;
    const isShown = (/** @type {Area} */ area) => !(open && open.list === area.list && open.index === area.index);
    const points = (/** @type {Area} */ area) => area.corners_px.map((corner) => corner.join(",")).join(" ");
    // Whole numbers are the centers of pixels.
    return h("svg", { viewBox: `-0.5 -0.5 ${width} ${height}`, class: open ? "drawing" : "", role: "group", "aria-label": t("areas.drawing"), onpointerdown: (/** @type {PointerEvent} */ e) => this.#draw(e) },
      areas.filter(isShown).map((area) => h("polygon", { key: `${area.list}${area.index}`, class: area.list, points: points(area) })),
      open && h("polygon", { key: "open", class: `${open.list} open`, points: points(open) }),
      open?.corners_px.map(([x, y], index) => h("g", { key: `corner${index}`, class: "corner", tabindex: "0", role: "button", "aria-label": t("areas.corner", { n: index + 1 }), transform: `translate(${x} ${y})`, onkeydown: (/** @type {KeyboardEvent} */ e) => this.#onKey(e, index) },
        h("circle", { class: "grasp", r: radius * 3 }), h("circle", { class: "ring", r: radius }))));
  }

  /** @param {Area[]} areas */
  #list(areas) {
    const add = (/** @type {"ignore" | "include"} */ list) => this.#edit({ list, index: -1, is_on_floor: this.#isOnFloor, corners_px: [] });
    return h("div", { class: "stack", key: "list" },
      areas.length > 0 && h("ul", { class: "items" }, areas.map((area) => h("li", { key: `${area.list}${area.index}`, class: "item user wraps" },
        h("span", { class: "grow" }, h("strong", null, t(`areas.${area.list}_n`, { n: area.index + 1 })), h("br", null), h("span", { class: "small muted" }, t(area.is_on_floor ? "areas.floor" : "areas.camera"))),
        h("button", { type: "button", class: "square", disabled: area.corners_px.length === 0, "aria-label": t("areas.change"), onclick: () => this.#edit(structuredClone(area)) }, icon("edit")),
        h("button", { type: "button", class: "plain square", "aria-label": t("areas.remove"), onclick: () => this.#remove(area) }, icon("trash"))))),
      h("div", { class: "segments", role: "group", "aria-label": t("areas.where") }, [true, false].map((isOnFloor) =>
        h("button", { key: String(isOnFloor), type: "button", "aria-pressed": String(isOnFloor === this.#isOnFloor), onclick: () => { this.#isOnFloor = isOnFloor; this.update(); } }, t(isOnFloor ? "areas.floor" : "areas.camera")))),
      h("p", { class: "small muted" }, t(this.#isOnFloor ? "areas.floor_what" : "areas.camera_what")),
      h("div", { class: "row" },
        h("button", { type: "button", onclick: () => add("ignore") }, icon("plus"), t("areas.ignore")),
        h("button", { type: "button", onclick: () => add("include") }, icon("plus"), t("areas.include"))));
  }

  /** @param {Area} open */
  #tools(open) {
    const count = open.corners_px.length;
    return h("div", { class: "stack", key: "tools" },
      h("p", { class: "hint", "aria-live": "polite" }, icon("hand"), h("span", null, t(count < CORNERS_MIN ? "areas.tap" : "areas.drag", { n: count }))),
      h("div", { class: "row" },
        h("button", { type: "button", class: "primary", disabled: count < CORNERS_MIN, onclick: () => this.#keep(open) }, icon("check"), t("areas.done")),
        h("button", { type: "button", disabled: count === 0, onclick: () => { open.corners_px.pop(); this.update(); } }, icon("undo"), t("areas.back")),
        h("button", { type: "button", onclick: () => this.#edit(null) }, icon("close"), t("areas.cancel"))));
  }

  /** @param {Area | null} area */
  #edit(area) {
    this.#open = area;
    this.update();
  }

  /** @param {Area} area */
  async #keep({ list, index, is_on_floor, corners_px }) {
    const area = { list, is_on_floor, corners_px, ...(index < 0 ? {} : { index }) };
    if (await send({ command: "draw_area", area }, t("areas.kept"))) this.#edit(null);
  }

  /** @param {Area} area */
  #remove({ list, index }) {
    const camera = chosenCamera(schema);
    const path = `${camera.index < 0 ? "vision" : camera.path}.${list}[${index}]`;
    return sendEdits([{ document: { kind: "site" }, path, change: { do: "remove" } }]);
  }

  /** Adds a corner under the finger, or grasps one, and moves it until the finger is lifted. @param {PointerEvent} down */
  #draw(down) {
    const open = this.#open;
    if (!open) return;
    const svg = /** @type {SVGSVGElement} */ (down.currentTarget);
    down.preventDefault();
    const place = (/** @type {PointerEvent} */ e) => new DOMPoint(e.clientX, e.clientY).matrixTransform(svg.getScreenCTM()?.inverse());
    const start = place(down);
    // Two corners can be near a finger: the nearer one is meant.
    const reach = status.camera.size_px[0] / 20;
    const far = open.corners_px.map(([x, y]) => Math.hypot(x - start.x, y - start.y));
    let corner = far.indexOf(Math.min(...far));
    if (corner < 0 || far[corner] > reach) {
      if (open.corners_px.length >= CORNERS_MAX) return;
      corner = open.corners_px.length;
      open.corners_px.push([start.x, start.y]);
    }
    // A finger covers the corner, so it may be grasped beside it: the distance stays.
    const offset = [open.corners_px[corner][0] - start.x, open.corners_px[corner][1] - start.y];
    svg.setPointerCapture(down.pointerId);
    const move = (/** @type {PointerEvent} */ e) => {
      const here = place(e);
      this.#move(corner, here.x + offset[0], here.y + offset[1]);
    };
    move(down);
    svg.onpointermove = move;
    svg.onpointerup = svg.onpointercancel = () => { svg.onpointermove = svg.onpointerup = svg.onpointercancel = null; };
  }

  /** @param {number} corner @param {number} x @param {number} y */
  #move(corner, x, y) {
    const [width, height] = status.camera.size_px;
    const tidy = (/** @type {number} */ value, /** @type {number} */ most) => Number(Math.max(-0.5, Math.min(most - 0.5, value)).toFixed(1));
    if (this.#open) this.#open.corners_px[corner] = [tidy(x, width), tidy(y, height)];
    this.update();
  }

  /** @param {KeyboardEvent} event @param {number} corner */
  #onKey(event, corner) {
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!by || !this.#open) return;
    event.preventDefault();
    const step = event.shiftKey ? 10 : 1;
    const [x, y] = this.#open.corners_px[corner];
    this.#move(corner, x + by[0] * step, y + by[1] * step);
  }
}

customElements.define("shoal-areas", AreaEditor);
