// Where users are logged in, the devices that are known for them, and the audit trail.

import { ApiError, get, post } from "../core/api.js";
import { h, View } from "../core/dom.js";
import { known, t, when } from "../core/i18n.js";
import { complain } from "../core/store.js";
import { on } from "../core/topics.js";
import { icon } from "./icons.js";

/** @typedef {{ id: string, user: string, address: string, is_of_pin: boolean, created: string | null, used: string | null, is_this: boolean }} Session */
/** @typedef {{ id: string, user: string, created: string, may_use_pin: boolean, is_this: boolean }} Device */
/** @typedef {{ time: string, event: string, who: string, address: string, detail?: string, more?: number }} Entry */

class Devices extends View {
  /** @type {{ sessions: Session[], devices: Device[] } | null} */
  #listed = null;

  start() {
    this.until(on("language", this.update));
    get("/devices").then((answer) => this.#take(answer)).catch(complain);
  }

  /** @param {{ sessions: Session[], devices: Device[] }} answer */
  #take(answer) {
    this.#listed = answer;
    this.update();
  }

  /** @param {{ end_session: string } | { forget_device: string }} change */
  async #change(change) {
    try {
      this.#take(await post("/devices", change));
    } catch (error) {
      complain(/** @type {ApiError} */ (error));
    }
  }

  view() {
    if (this.#listed === null) return h("p", { class: "muted" }, t("connecting"));
    const { sessions, devices } = this.#listed;
    return [
      h("section", { class: "card stack", key: "sessions" }, h("h2", null, t("devices.sessions")),
        h("ul", { class: "items" }, sessions.map((session) => h("li", { key: session.id, class: "item user" },
          h("div", { class: "grow" }, h("strong", null, session.user), session.is_this && h("span", { class: "pill accent" }, t("devices.this")), h("br", null),
            h("span", { class: "small muted" }, session.address, session.used && ` · ${t("devices.used", { when: when(session.used) })}`, session.is_of_pin && ` · ${t("devices.by_pin")}`)),
          h("button", { type: "button", onclick: () => this.#change({ end_session: session.id }) }, icon("out"), t("devices.end")))))),
      h("section", { class: "card stack top", key: "devices" }, h("h2", null, t("devices.known")), h("p", { class: "muted" }, t("devices.help")),
        devices.length === 0 && h("p", { class: "empty" }, t("devices.none")),
        h("ul", { class: "items" }, devices.map((device) => h("li", { key: device.id, class: "item user" },
          h("div", { class: "grow" }, h("strong", null, device.user), device.is_this && h("span", { class: "pill accent" }, t("devices.this")), h("br", null),
            h("span", { class: "small muted" }, when(device.created), device.may_use_pin && ` · ${t("devices.pin")}`)),
          h("button", { type: "button", onclick: () => this.#change({ forget_device: device.id }) }, icon("trash"), t("devices.forget")))))),
    ];
  }
}

class Audit extends View {
  /** @type {Entry[] | null} */
  #entries = null;

  start() {
    this.until(on("language", this.update));
    get("/audit").then((answer) => { this.#entries = answer.entries; this.update(); }).catch(complain);
  }

  view() {
    const entries = this.#entries;
    if (entries === null) return h("p", { class: "muted" }, t("connecting"));
    return h("section", { class: "card stack" }, h("p", { class: "muted" }, t("audit.help")),
      h("ul", { class: "items" }, entries.map((entry, index) => h("li", { key: entries.length - index, class: "item note" },
        h("p", { class: "small muted" }, h("time", { datetime: entry.time }, when(entry.time)), ` · ${entry.who} · ${entry.address}`),
        h("p", { class: "note-text" }, known("audit", entry.event) ?? entry.event, entry.detail && `: ${entry.detail}`, (entry.more ?? 0) > 0 && ` (+${entry.more})`)))));
  }
}

customElements.define("shoal-devices", Devices);
customElements.define("shoal-audit", Audit);
