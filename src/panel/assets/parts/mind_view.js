// Why a fish does what it does: its needs in their order, its drives, what it remembers, and its neighbours.

import { h } from "../core/dom.js";
import { known, number, t } from "../core/i18n.js";

/** @typedef {{ name: string, is_possible: boolean | null, acts: boolean, force_n: number }} ActionLine */
/** @typedef {{ name: string, standing: "active" | "kept" | "satisfied" | "waiting", limit: { of: string, value: number, limit: number, is_lower: boolean } | null, keep_secs: number, actions: ActionLine[] }} NeedLine */
/** @typedef {{ relation: string, species: string, id: number | null, distance_m: number | null, secs: number }} MemoryLine */
/** @typedef {{ id: number, species: string, distance_m: number, is_in_view: boolean, counts: string[] }} NeighborLine */
/** @typedef {{ id: number, is_present: boolean, species: string, individual: string | null, active_secs: number, needs: NeedLine[], standard: ActionLine[], drives: { name: string, value: number }[], memory: MemoryLine[], neighbors: NeighborLine[], neighbor_count: number, other_mind_secs: number | null, max_force_n: number }} Mind */

/** Number of neighbours that are listed. */
const NEIGHBORS = 6;
const STANDING = { active: "accent", kept: "accent", satisfied: "", waiting: "" };

/** @param {string} of */
function variable(of) {
  return of === "own" ? t("why.variable") : (known("value", of) ?? of);
}

/** The reason in one sentence. @param {Mind} mind */
export function reason(mind) {
  const need = mind.needs.find((one) => one.standing === "active" || one.standing === "kept");
  if (!need) return t("why.none");
  if (need.standing === "kept") return t("why.kept", { need: need.name, secs: number(mind.active_secs, 1), of: number(need.keep_secs, 1) });
  if (need.limit) {
    const { of, value, limit, is_lower } = need.limit;
    return t(is_lower ? "why.below" : "why.above", { need: need.name, of: variable(of), value: number(value, 2), limit: number(limit, 2) });
  }
  const possible = need.actions.filter((action) => action.is_possible || action.acts).map((action) => action.name);
  if (possible.length === 0) return t("why.last", { need: need.name });
  const text = t("why.possible", { need: need.name, actions: possible.join(", ") });
  return need === mind.needs[0] ? text : `${text} ${t("why.before")}`;
}

/** @param {Mind} mind */
export function mindView(mind) {
  return h("div", { class: "why", key: "why" },
    h("p", { class: "why-reason", key: "reason" }, reason(mind)),
    h("h3", { key: "needs-title" }, t("why.needs")),
    h("ol", { class: "why-needs", key: "needs" }, mind.needs.map((need) => needRow(need, mind)),
      h("li", { key: "standard", class: "why-need" },
        h("span", { class: "row spread" }, h("strong", null, t("why.always")), h("span", { class: "pill" }, t("why.standing.always"))),
        actions(mind.standard))),
    mind.drives.length > 0 && [
      h("h3", { key: "drives-title" }, t("why.drives")),
      h("ul", { class: "forces", key: "drives" }, mind.drives.map((drive) => h("li", { key: drive.name },
        h("span", { class: "row spread" }, h("span", null, variable(drive.name)), h("span", { class: "number muted" }, number(drive.value, 2))),
        meter(drive.value)))),
    ],
    mind.memory.length > 0 && [
      h("h3", { key: "memory-title" }, t("why.memory")),
      h("ul", { class: "why-list", key: "memory" }, mind.memory.map((line, index) => h("li", { key: index }, memoryText(line)))),
    ],
    h("h3", { key: "neighbors-title" }, t("why.neighbors", { n: mind.neighbor_count })),
    mind.neighbors.length > 0 && h("ul", { class: "why-list", key: "neighbors" }, mind.neighbors.slice(0, NEIGHBORS).map((other) => h("li", { key: other.id, class: "row spread" },
      h("span", null, `${other.species} ${other.id}`, !other.is_in_view && h("span", { class: "muted" }, ` · ${t("why.unseen")}`)),
      h("span", { class: "muted" }, `${number(other.distance_m, 2)} m`, other.counts.length > 0 && ` · ${other.counts.map((part) => t(`why.part.${part}`)).join(", ")}`)))));
}

/** @param {NeedLine} need @param {Mind} mind */
function needRow(need, mind) {
  const acts = need.standing === "active" || need.standing === "kept";
  const limit = need.limit;
  return h("li", { key: need.name, class: acts ? "why-need acts" : "why-need" },
    h("span", { class: "row spread" }, h("strong", null, need.name),
      h("span", { class: `pill ${STANDING[need.standing]}` }, t(`why.standing.${need.standing}`), acts && ` ${number(mind.active_secs, 1)} s`)),
    limit && h("span", { class: "small muted" }, t(limit.is_lower ? "why.limit_below" : "why.limit_above", { of: variable(limit.of), value: number(limit.value, 2), limit: number(limit.limit, 2) })),
    limit && limit.limit > 0 && meter(limit.value / (1.25 * limit.limit), 0.8),
    actions(need.actions));
}

/** @param {number} share @param {number} [mark] */
function meter(share, mark) {
  const percent = (/** @type {number} */ value) => `${Math.round(100 * Math.max(0, Math.min(1, value)))}%`;
  return h("span", { class: mark === undefined ? "meter" : "meter marked", style: { "--share": percent(share), "--mark": percent(mark ?? 1) } });
}

/** @param {ActionLine[]} list */
function actions(list) {
  return h("ul", { class: "why-actions" }, list.map((action, index) => {
    const state = action.acts ? "acts" : action.is_possible === true ? "possible" : action.is_possible === false ? "impossible" : "unasked";
    return h("li", { key: `${action.name}${index}`, class: state, title: t(`why.action.${state}`) }, action.name,
      action.acts && action.force_n > 0.005 && h("span", { class: "number" }, ` ${number(action.force_n, 2)} N`),
      h("span", { class: "unseen" }, ` (${t(`why.action.${state}`)})`));
  }));
}

/** @param {MemoryLine} line */
function memoryText(line) {
  const relation = known("relation", line.relation) ?? line.relation;
  const who = [line.species === "visitor" ? t("why.visitor") : line.species, line.id ?? ""].filter((part) => part !== "").join(" ") || t("why.somebody");
  if (line.relation === "known") return t("why.known", { who, secs: number(line.secs, 0) });
  const distance = number(line.distance_m ?? 0, 2);
  return line.secs === 0 ? t("why.sees", { relation, who, distance }) : t("why.saw", { relation, who, distance, secs: number(line.secs, 0) });
}
