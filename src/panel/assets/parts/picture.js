// A live picture from the stream: the camera, its foreground mask, or an output.

import { pictureUrl } from "../core/api.js";
import { h, View } from "../core/dom.js";
import { t } from "../core/i18n.js";
import { subscribe } from "../core/stream.js";
import { on } from "../core/topics.js";

/** Pause between two pictures that are asked for, while the stream sends none. */
const ASK_MS = 1000;

class Picture extends View {
  /** What is shown: `camera`, `mask` or `output/N`. */
  #topic = "camera";
  #url = "";
  #heardAt = 0;
  /** The newest picture. @type {Blob | null} */
  blob = null;
  #stopOld = () => {};

  /** @param {{ topic: string }} source */
  set source({ topic }) {
    if (topic === this.#topic && this.isConnected) return;
    this.#topic = topic;
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
    this.blob = blob;
    this.#url = blob ? URL.createObjectURL(blob) : "";
    if (old) setTimeout(() => URL.revokeObjectURL(old), 300);
    this.update();
    this.dispatchEvent(new CustomEvent("picture", { detail: blob }));
  }

  view() {
    return h("div", { class: "picture" },
      this.#url ? h("img", { src: this.#url, alt: t(this.#topic === "camera" ? "picture.camera" : this.#topic === "mask" ? "picture.mask" : "picture.output") }) : h("p", null, t("picture.none")));
  }
}

customElements.define("shoal-picture", Picture);
