// The camera's picture with points that are tapped into it. The picture stands still while points are set.

import { pictureUrl } from "../core/api.js";
import { h, View } from "../core/dom.js";
import { t } from "../core/i18n.js";
import { icon } from "../parts/icons.js";

/** @typedef {{ px: [number, number], label: string, kind?: string }} Mark */

class PointPicker extends View {
  #url = "";
  #size = [0, 0];
  /** Camera pixels for each pixel of the picture, which leaves some out if the camera has many. */
  #step = 1;
  /** @type {Mark[]} */
  #marks = [];

  start() {
    this.#take();
  }

  stop() {
    if (this.#url) URL.revokeObjectURL(this.#url);
    this.#url = "";
  }

  /** @param {Mark[]} marks */
  set marks(marks) {
    this.#marks = marks;
    this.update();
  }

  async #take() {
    const answer = await fetch(pictureUrl("/camera.jpg")).catch(() => null);
    this.stop();
    this.#step = Number(answer?.headers.get("X-Picture-Step") ?? 1) || 1;
    if (answer?.ok) this.#url = URL.createObjectURL(await answer.blob());
    this.update();
  }

  view() {
    const [width, height] = this.#size;
    return [
      h("div", { class: "point-picker" },
        this.#url
          ? h("img", { src: this.#url, alt: t("picture.camera"), draggable: "false", onload: (/** @type {any} */ e) => { this.#size = [e.target.naturalWidth, e.target.naturalHeight]; this.update(); }, onclick: (/** @type {MouseEvent} */ e) => this.#tap(e) })
          : h("p", { class: "empty" }, t("picture.none")),
        width > 0 && h("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" }, this.#marks.map((mark, index) =>
          h("g", { key: index, class: `mark ${mark.kind ?? ""}`, transform: `translate(${mark.px[0] / this.#step + 0.5} ${mark.px[1] / this.#step + 0.5})` },
            h("circle", { r: width / 60 }), h("path", { d: `M${-width / 40} 0H${width / 40}M0 ${-width / 40}V${width / 40}` }),
            h("text", { y: -width / 40, "font-size": width / 32 }, mark.label))))),
      h("button", { type: "button", onclick: () => this.#take() }, icon("camera"), t("points.new_picture")),
    ];
  }

  /** @param {MouseEvent} event */
  #tap(event) {
    const image = /** @type {HTMLImageElement} */ (event.currentTarget);
    const box = image.getBoundingClientRect();
    // Whole numbers are the centers of pixels.
    const px = [((event.clientX - box.left) / box.width) * image.naturalWidth - 0.5, ((event.clientY - box.top) / box.height) * image.naturalHeight - 0.5];
    this.dispatchEvent(new CustomEvent("point", { detail: px.map((value) => Number((value * this.#step).toFixed(2))) }));
  }
}

customElements.define("shoal-points", PointPicker);
