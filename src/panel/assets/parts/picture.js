// A live picture from the stream: the camera, its foreground mask, or an output. Over the picture of the camera, the outlines and ids
// of the visitors can be drawn.

import { pictureUrl } from "../core/api.js";
import { h, View } from "../core/dom.js";
import { t } from "../core/i18n.js";
import { subscribe } from "../core/stream.js";
import { on } from "../core/topics.js";

/** Pause between two pictures that are asked for, while the stream sends none. */
const ASK_MS = 1000;
/** Number of outlines that are kept: those of a frame can come before or after its picture, which takes longer to encode. */
const KEPT = 6;
/** Time for which a picture without the outlines of its own frame shows the newest ones. */
const FRESH_MS = 1000;

/** @typedef {{ id: number, foot_px: [number, number], outline_px: [number, number][] }} Outline */
/** @typedef {{ frame: number, size_px: [number, number], visitors: Outline[] }} Outlines */

class Picture extends View {
  /** What is shown: `camera`, `mask` or `output/N`. */
  #topic = "camera";
  #url = "";
  #heardAt = 0;
  #hasOutlines = false;
  /** The newest outlines, the last one first. @type {{ outlines: Outlines, at: number }[]} */
  #outlines = [];
  /** Lowest byte of the number of the shown frame. */
  #frame = 0;
  #stopOld = () => {};

  /** @param {{ topic: string, outlines?: boolean }} source */
  set source({ topic, outlines = false }) {
    if (topic === this.#topic && outlines === this.#hasOutlines && this.isConnected) return;
    [this.#topic, this.#hasOutlines] = [topic, outlines];
    if (this.isConnected) this.#listen();
  }

  start() {
    this.#listen();
    const timer = setInterval(() => this.#ask(), ASK_MS);
    this.until(() => clearInterval(timer), () => this.#stopOld());
  }

  stop() {
    if (this.#url) URL.revokeObjectURL(this.#url);
    this.#url = "";
  }

  #listen() {
    this.#stopOld();
    const stops = [subscribe(this.#topic), on(this.#topic, (blob) => {
      this.#heardAt = Date.now();
      this.#show(blob);
    })];
    if (this.#hasOutlines) {
      stops.push(subscribe("outlines"), on("camera_frame", (frame) => { this.#frame = frame; }), on("outlines", (outlines) => {
        this.#outlines = [{ outlines, at: Date.now() }, ...this.#outlines].slice(0, KEPT);
        if (outlines.frame % 256 === this.#frame) this.update();
      }));
    }
    this.#stopOld = () => stops.forEach((stop) => stop());
  }

  async #ask() {
    if (Date.now() - this.#heardAt < 3 * ASK_MS || document.hidden) return;
    const answer = await fetch(pictureUrl(`/${this.#topic}.jpg`)).catch(() => null);
    if (answer?.ok) this.#show(await answer.blob());
    else if (this.isConnected) this.#show(null);
  }

  /** @param {Blob | null} blob */
  #show(blob) {
    const old = this.#url;
    this.#url = blob ? URL.createObjectURL(blob) : "";
    if (old) setTimeout(() => URL.revokeObjectURL(old), 300);
    this.update();
  }

  view() {
    return h("div", { class: "picture" },
      this.#url ? h("img", { key: "picture", src: this.#url, alt: t(this.#topic === "camera" ? "picture.camera" : this.#topic === "mask" ? "picture.mask" : "picture.output") }) : h("p", { key: "none" }, t("picture.none")),
      this.#url && this.#drawnOutlines());
  }

  /** The outlines of the shown frame, or the newest ones. */
  #drawnOutlines() {
    const kept = this.#outlines.find(({ outlines }) => outlines.frame % 256 === this.#frame) ?? this.#outlines[0];
    if (!kept || Date.now() - kept.at > FRESH_MS) return null;
    const { size_px: [width, height], visitors } = kept.outlines;
    // Whole numbers are the centers of pixels.
    return h("svg", { key: "outlines", viewBox: `-0.5 -0.5 ${width} ${height}`, "aria-hidden": "true" }, visitors.map(({ id, foot_px: [x, y], outline_px }) => {
      const points = outline_px.map((point) => point.join(",")).join(" ");
      return h("g", { key: id, class: "visitor-outline" },
        h("polygon", { class: "under", points }), h("polygon", { points }),
        h("circle", { cx: x, cy: y, r: width / 90 }),
        h("text", { x, y: y - width / 45, "font-size": width / 22 }, String(id)));
    }));
  }
}

customElements.define("shoal-picture", Picture);
