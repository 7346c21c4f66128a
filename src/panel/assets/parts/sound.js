// The sound: what is heard now, the volume, and a test of each loudspeaker.

import { may } from "../core/api.js";
import { h } from "../core/dom.js";
import { number, t } from "../core/i18n.js";
import { send, sendEdits, setEdit } from "../core/store.js";
import { icon } from "./icons.js";

/** @typedef {{ is_on: boolean, is_muted: boolean, is_heard: boolean, volume_db: number, device: string, problem: string, peak_db: number, speakers: string[], rejected: number }} SoundStatus */

/** Range of the volume in decibels. */
const VOLUME_DB = [-60, 0];

/** @param {string} key @param {number | boolean} value */
function change(key, value) {
  return sendEdits([setEdit({ kind: "site" }, `sound.${key}`, value)]);
}

/** A card with the sound; nothing if the site wants none. @param {any} status */
export function soundCard(status) {
  const sound = /** @type {SoundStatus | undefined} */ (status.sound);
  if (!sound?.is_on) return null;
  const isPlaying = sound.device !== "";
  const volume = `${number(sound.volume_db)} dB`;
  return h("section", { class: "card stack", key: "sound" },
    h("h2", null, t("sound.title")),
    h("p", { class: "muted" }, icon(isPlaying ? "check" : "info"), " ", sentence(sound)),
    may("operate") && h("div", { class: "row" },
      h("label", { for: "sound-volume" }, t("sound.volume")),
      h("input", { id: "sound-volume", class: "grow", type: "range", min: VOLUME_DB[0], max: VOLUME_DB[1], step: 1, value: String(sound.volume_db), "aria-valuetext": volume,
        onchange: (/** @type {any} */ e) => change("volume_db", Number(e.target.value)) }),
      h("span", { class: "number" }, volume),
      h("button", { type: "button", "aria-pressed": String(sound.is_muted), onclick: () => change("mute", !sound.is_muted) }, t(sound.is_muted ? "sound.unmute" : "sound.mute"))),
    may("admin") && isPlaying && h("div", { class: "row", role: "group", "aria-label": t("sound.test") },
      h("span", null, t("sound.test")),
      sound.speakers.map((speaker) => h("button", { key: speaker, type: "button", disabled: sound.is_muted, onclick: () => send({ command: "test_sound", speaker }, t("sound.tested", { name: speaker })) }, speaker))));
}

/** Says what is heard. @param {SoundStatus} sound */
function sentence(sound) {
  if (sound.device === "") return t("sound.no_device");
  if (sound.is_muted) return t("sound.is_muted", { device: sound.device });
  if (!sound.is_heard) return t("sound.silent", { device: sound.device });
  return t("sound.heard", { device: sound.device, peak: number(Math.round(sound.peak_db)) });
}
