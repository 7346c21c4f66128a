// Leads one fish for a time: another order of what it wants, the mind of another species, or to its enemy.

import { h } from "../core/dom.js";
import { duration, t } from "../core/i18n.js";
import { documents, documentsOf, send } from "../core/store.js";
import { openDialog } from "./dialog.js";
import { icon } from "./icons.js";

/** How long a fish is led, in seconds. */
const TIMES = [10, 30, 120, 600];
const NAME = "by_hand";

/** Returns a mind that wants only one thing. @param {string[]} actions @param {Record<string, any>} [added] */
function wanting(actions, added) {
  const need = { name: NAME, type: "default", actions };
  return { of: "needs", needs: [need], ...(added ? { actions: added } : {}) };
}

/** Asks what the fish is to do, and for how long. @param {{ id: number, species: string }} agent */
export function leadFish(agent) {
  const species = documents.get(`species/${agent.species}`)?.effective ?? {};
  const needs = /** @type {any[]} */ (species.needs ?? []).filter((need) => (need.actions ?? []).length > 0);
  const others = documentsOf("species").map((doc) => doc.document.name ?? "").filter((name) => name !== agent.species).sort();
  const hasEnemy = (species.relations?.enemy ?? []).some((/** @type {string} */ name) => name !== "visitor");
  let secs = TIMES[1];
  let other = others[0] ?? "";
  openDialog(t("lead.title", { species: agent.species, id: agent.id }), (close, update) => {
    const lead = (/** @type {any} */ mind) => {
      close();
      send({ command: "override_mind", id: agent.id, mind, secs }, t("lead.done", { time: duration(secs) }));
    };
    const pursue = { be_caught: { action: "pursue", relations: ["enemy"], weight: 1 } };
    return [
      h("p", { class: "muted" }, t("lead.help")),
      h("div", { class: "segments", role: "group", "aria-label": t("lead.time") }, TIMES.map((time) =>
        h("button", { key: time, type: "button", "aria-pressed": String(time === secs), onclick: () => { secs = time; update(); } }, duration(time)))),
      h("div", { class: "choices top" },
        hasEnemy && h("button", { key: "caught", type: "button", onclick: () => lead(wanting(["be_caught"], pursue)) }, icon("undo"),
          h("span", { class: "grow" }, t("lead.caught"), h("br", null), h("span", { class: "small muted" }, t("lead.caught_what")))),
        needs.map((need) => h("button", { key: `need-${need.name}`, type: "button", onclick: () => lead(wanting(need.actions)) }, icon("right"),
          h("span", { class: "grow" }, t("lead.need", { need: need.name }), h("br", null), h("span", { class: "small muted" }, need.actions.join(", ")))))),
      others.length > 0 && h("div", { class: "row top" },
        h("select", { class: "grow", value: other, "aria-label": t("lead.species"), onchange: (/** @type {any} */ e) => { other = e.target.value; } }, others.map((name) => h("option", { key: name, value: name }, name))),
        h("button", { type: "button", onclick: () => lead({ of: "species", name: other }) }, t("lead.as_species"))),
    ];
  });
}
