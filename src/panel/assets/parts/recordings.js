// The recordings of the camera: make one, download it, replay it instead of the camera, delete it.

import { ApiError, downloadUrl, get, post } from "../core/api.js";
import { h, View } from "../core/dom.js";
import { bytes, duration, number, t, when } from "../core/i18n.js";
import { complain, send, status } from "../core/store.js";
import { on } from "../core/topics.js";
import { cameraChoice } from "./camera_choice.js";
import { confirmed } from "./dialog.js";
import { rehearsalText } from "../pages/now.js";
import { icon } from "./icons.js";
import { notify } from "./notices.js";
import { askedUntil, minutes, never, nextChange, tomorrow } from "./until.js";

/** Lengths that are offered, in seconds. */
const LENGTHS = [10, 30, 60, 120, 300];

/** @typedef {{ name: string, bytes: number, time: string }} Recording */

class Recordings extends View {
  /** @type {Recording[] | null} */
  #list = null;
  /** Space for another recording. */
  #leftBytes = 0;
  /** Name of the recording that is being made. */
  #running = "";
  #secs = 60;

  start() {
    this.until(on("language", this.update), on("status", () => {
      const running = status.recording?.name ?? "";
      // A recording that has ended is a file now.
      if (this.#running !== "" && running !== this.#running) this.#read();
      this.#running = running;
      this.update();
    }));
    this.#read();
  }

  #read() {
    get("/recordings").then((answer) => this.#take(answer)).catch(complain);
  }

  /** @param {{ recordings: Recording[], left_bytes: number }} answer */
  #take(answer) {
    this.#list = answer.recordings;
    this.#leftBytes = answer.left_bytes;
    this.update();
  }

  view() {
    return [this.#recorder(), this.#files()];
  }

  #recorder() {
    const running = status.recording;
    return h("section", { class: "card stack", key: "recorder" },
      h("h2", null, t("recordings.record_title")),
      h("p", { class: "muted" }, t("recordings.help")),
      status.cameras.length > 0 && h("p", { class: "hint", key: "several" }, icon("info"), h("span", null, t("recordings.several", { name: status.camera.name }))),
      cameraChoice(),
      running
        ? h("div", { class: "stack", key: "running" },
          h("progress", { max: running.limit_secs, value: String(running.secs), "aria-label": t("recordings.running") }),
          h("div", { class: "row" }, h("span", { class: "number" }, t("recordings.secs", { n: Math.floor(running.secs), of: number(running.limit_secs) })),
            h("span", { class: "small muted grow" }, t("recordings.size", { size: bytes(running.bytes), left: bytes(running.limit_bytes - running.bytes) })),
            h("button", { type: "button", onclick: () => this.#step({ do: "stop" }, "stop") }, t("recordings.stop"))))
        : h("div", { class: "row", key: "idle" },
          h("label", { for: "recording-length" }, t("recordings.length")),
          h("select", { id: "recording-length", class: "narrow", value: String(this.#secs), onchange: (/** @type {any} */ e) => { this.#secs = Number(e.target.value); } },
            LENGTHS.map((secs) => h("option", { key: secs, value: String(secs) }, duration(secs)))),
          h("button", { type: "button", class: "primary", disabled: typeof status.rehearsal === "string" || this.#leftBytes === 0, onclick: () => this.#step({ do: "record", secs: this.#secs }, "record") }, icon("camera"), t("recordings.record")),
          this.#list && h("span", { class: "small muted" }, this.#leftBytes > 0 ? t("recordings.free", { size: bytes(this.#leftBytes) }) : t(this.#list.length > 0 ? "recordings.full" : "recordings.disk_full"))));
  }

  #files() {
    const list = this.#list;
    return h("section", { class: "card stack top", key: "files" },
      h("h2", null, t("recordings.title")),
      typeof status.rehearsal === "string" && h("div", { class: "hint warn", key: "rehearsal" }, icon("camera"), h("p", { class: "grow" }, rehearsalText(status)),
        h("button", { type: "button", onclick: () => this.#step({ do: "live" }, "live") }, t("recordings.live"))),
      list === null ? h("p", { class: "muted" }, t("connecting")) : list.length === 0 ? h("p", { class: "empty" }, t("recordings.none")) :
        h("ul", { class: "items" }, list.map((file) => h("li", { key: file.name, class: "item user wraps" },
          h("div", { class: "grow" }, h("strong", null, when(file.time)), file.name === status.rehearsal && h("span", { class: "pill accent" }, t("recordings.now")), h("br", null), h("span", { class: "small muted" }, `${file.name} · ${bytes(file.bytes)}`)),
          file.name !== status.rehearsal && h("button", { type: "button", disabled: Boolean(status.recording), "aria-label": t("recordings.replay_this", { name: file.name }), onclick: () => this.#replay(file) }, icon("play"), t("recordings.replay")),
          h("a", { class: "button square", href: downloadUrl(`/recordings/${file.name}`), download: file.name, "aria-label": t("recordings.download", { name: file.name }) }, icon("download")),
          h("button", { type: "button", class: "plain square", disabled: file.name === status.rehearsal, "aria-label": t("edit.remove", { name: file.name }), onclick: () => this.#remove(file) }, icon("trash"))))));
  }

  /** @param {any} step @param {string} done */
  #step(step, done) {
    return send({ command: "recording", step }, t(`recordings.done.${done}`));
  }

  /** @param {Recording} file */
  async #replay(file) {
    const until = await askedUntil({ title: t("recordings.replay_title"), text: t("recordings.replay_text"), choices: [minutes(10), minutes(60), ...nextChange(), ...tomorrow(), never()] });
    if (until) await this.#step({ do: "replay", name: file.name, until }, "replay");
  }

  /** @param {Recording} file */
  async #remove(file) {
    if (!(await confirmed({ title: t("edit.remove", { name: file.name }), text: t("recordings.remove_text"), yes: t("life.remove"), isDanger: true }))) return;
    try {
      this.#take(await post("/recordings", { remove: file.name }));
      notify("good", t("life.removed", { name: file.name }));
    } catch (error) {
      complain(/** @type {ApiError} */ (error));
    }
  }
}

customElements.define("shoal-recordings", Recordings);
