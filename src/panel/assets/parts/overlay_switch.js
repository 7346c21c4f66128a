// Switches what is drawn on the floor to explain the fish, and says what the drawings mean.

import { may } from "../core/api.js";
import { h } from "../core/dom.js";
import { duration, t } from "../core/i18n.js";
import { send, status } from "../core/store.js";

/** Parts that are about single fish, then those of the whole pool. */
const PARTS = ["why", "forces", "flock", "sight", "shelter", "vectors", "shadows", "fields", "ways", "mesh"];
/** How long the drawings stay, in seconds. */
const TIMES = [60, 300, 1800];
/** Colours of the drawings on the floor, by part. @type {Record<string, [string, string][]>} */
const LEGEND = {
  flock: [["#ff4d33", "separation"], ["#ffd926", "alignment"], ["#4df273", "cohesion"]],
  sight: [["#d9ebff", "sight"]],
  shelter: [["#bf8cff", "shelter"]],
  forces: [["#ffffff", "sum"]],
};

/** What the next tap shows, beside what is shown. */
const choice = { fish: "all", secs: 300 };

/** Says on every page that the floor shows more than the pool, and ends it with one tap. */
export function overlayNotice() {
  const overlay = status?.overlay;
  if (!overlay) return null;
  const left = overlay.left_secs === null ? "" : ` ${t("overlay.ends", { time: duration(overlay.left_secs) })}`;
  return h("div", { class: "offline busy", role: "status", key: "overlay" },
    h("span", { class: "grow" }, t("overlay.on"), left),
    may("operate") && h("button", { type: "button", onclick: end }, t("overlay.end")));
}

function end() {
  return send({ command: "overlay" });
}

/**
 * The card with the switches. `agent` is the chosen fish.
 * @param {{ id: number, species: string } | undefined} agent
 * @param {() => void} update
 */
export function overlaySwitch(agent, update) {
  if (!may("operate") || status.outputs.length === 0) return null;
  const shown = /** @type {string[]} */ (status.overlay?.show ?? []);
  if (!agent && choice.fish !== "all") choice.fish = "all";
  const fish = { all: null, one: agent?.id, species: agent?.species }[choice.fish];
  const show = (/** @type {string[]} */ parts) => send({ command: "overlay", show: parts, secs: choice.secs, ...(fish === null || fish === undefined ? {} : { fish }) });
  const toggle = (/** @type {string} */ part) => show(shown.includes(part) ? shown.filter((one) => one !== part) : [...shown, part]);
  const again = () => { update(); if (shown.length > 0) show(shown); };
  return h("section", { class: "card overlay-switch", key: "overlay-switch" },
    h("h2", null, t("overlay.title")),
    h("p", { class: "small muted" }, t("overlay.help")),
    h("div", { class: "chips", role: "group", "aria-label": t("overlay.title") }, PARTS.map((part) =>
      h("button", { key: part, type: "button", "aria-pressed": String(shown.includes(part)), title: t(`overlay.what.${part}`), onclick: () => toggle(part) }, t(`overlay.part.${part}`)))),
    shown.map((part) => h("p", { class: "small legend-line", key: `what-${part}` }, h("strong", null, t(`overlay.part.${part}`)), " – ", t(`overlay.what.${part}`),
      (LEGEND[part] ?? []).map(([colour, name]) => h("span", { key: name, class: "legend-item" }, h("span", { class: "dot", style: { background: colour } }), t(`overlay.legend.${name}`))))),
    h("div", { class: "row top" },
      h("div", { class: "field grow" }, h("label", { class: "small", for: "overlay-fish" }, t("overlay.of")),
        h("select", { id: "overlay-fish", value: choice.fish, onchange: (/** @type {any} */ e) => { choice.fish = e.target.value; again(); } },
          h("option", { value: "all" }, t("overlay.all")),
          agent && h("option", { value: "one" }, t("overlay.one", { species: agent.species, id: agent.id })),
          agent && h("option", { value: "species" }, t("overlay.species", { species: agent.species })))),
      h("div", { class: "field grow" }, h("label", { class: "small", for: "overlay-time" }, t("overlay.time")),
        h("select", { id: "overlay-time", value: String(choice.secs), onchange: (/** @type {any} */ e) => { choice.secs = Number(e.target.value); again(); } },
          TIMES.map((secs) => h("option", { key: secs, value: String(secs) }, duration(secs)))))),
    shown.length > 0 && h("div", { class: "row top" }, h("button", { type: "button", onclick: end }, t("overlay.end")),
      status.overlay.left_secs !== null && h("span", { class: "small muted" }, t("overlay.ends", { time: duration(status.overlay.left_secs) }))));
}
