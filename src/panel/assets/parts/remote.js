// Other machines: projectors that are switched over the network, show control, and messages to people.

import { h } from "../core/dom.js";
import { duration, known, t } from "../core/i18n.js";
import { icon } from "./icons.js";

/** @typedef {{ name: string, address: string, model: string, is_wanted_on: boolean, power: string, lamp_hours: number | null, errors: string[], warnings: string[], answered_secs_ago: number | null, problem: string }} ProjectorStatus */
/** @typedef {{ listen: string, received: number, commands: number, refused: number, sent: number, last_peer: string, last_problem: string }} ShowControlStatus */
/** @typedef {{ way: string, target: string, delivered: number, failed: number, waiting: number, dropped: number, delivered_secs_ago: number | null, last_problem: string }} DeliveryStatus */

/** @param {any} status @param {import("../core/dom.js").Child} test The button that sends a test. */
export function otherMachines(status, test) {
  const showControl = (/** @type {"osc" | "sacn"} */ way) => {
    const link = /** @type {ShowControlStatus} */ (status[way]);
    return h("section", { class: "card stack", key: way }, h("h2", null, t(`remote.${way}`)),
      link.listen !== "" || link.sent > 0 ? showControlFacts(link) : h("p", { class: "muted" }, t(`remote.no_${way}`)));
  };
  return h("div", { class: "grid two", key: "remote" },
    h("section", { class: "card stack" }, h("h2", null, t("remote.projectors")),
      status.projectors.length === 0 ? h("p", { class: "muted" }, t("remote.no_projectors")) : status.projectors.map(projector)),
    showControl("osc"), showControl("sacn"),
    h("section", { class: "card stack" }, h("h2", null, t("remote.messages")),
      status.deliveries.length === 0 ? h("p", { class: "muted" }, t("remote.no_messages")) : status.deliveries.map(delivery),
      test));
}

/** @param {DeliveryStatus} delivery */
function delivery({ way, target, delivered, failed, waiting, dropped, delivered_secs_ago: ago, last_problem: problem }) {
  return h("div", { key: way },
    h("div", { class: "row" }, icon(problem === "" ? "check" : "warn"), h("h3", null, known("remote.way", way.replace(/\[\d+\]$/, "")) ?? way)),
    h("dl", { class: "facts" },
      h("dt", null, t("remote.target")), h("dd", null, target),
      h("dt", null, t("remote.delivered")), h("dd", null, ago === null ? t("remote.none_delivered") : t("remote.delivered_ago", { n: delivered, time: duration(ago) })),
      failed > 0 && [h("dt", null, t("remote.failed")), h("dd", null, String(failed))],
      waiting > 0 && [h("dt", null, t("remote.waiting")), h("dd", null, String(waiting))],
      dropped > 0 && [h("dt", null, t("remote.dropped")), h("dd", null, String(dropped))]),
    problem !== "" && h("p", { class: "small muted", lang: "en" }, problem));
}

/** @param {ProjectorStatus} projector */
function projector(projector) {
  const { name, address, model, answered_secs_ago: ago } = projector;
  const isAsWanted = projector.is_wanted_on ? projector.power === "on" : ["off", "cooling"].includes(projector.power);
  const parts = (/** @type {string[]} */ names) => names.map((part) => t(`remote.part.${part}`)).join(", ");
  return h("div", { key: name, class: "projector" },
    h("div", { class: "row" }, icon(isAsWanted && projector.errors.length === 0 ? "check" : "warn"), h("h3", null, name)),
    h("dl", { class: "facts" },
      h("dt", null, t("remote.power")), h("dd", null, t(`remote.power.${projector.power}`)),
      h("dt", null, t("remote.wanted")), h("dd", null, t(projector.is_wanted_on ? "remote.power.on" : "remote.power.off")),
      projector.errors.length > 0 && [h("dt", null, t("remote.errors")), h("dd", null, parts(projector.errors))],
      projector.warnings.length > 0 && [h("dt", null, t("remote.warnings")), h("dd", null, parts(projector.warnings))],
      projector.lamp_hours !== null && [h("dt", null, t("remote.lamp")), h("dd", null, t("remote.hours", { n: projector.lamp_hours }))],
      h("dt", null, t("remote.answered")), h("dd", null, ago === null ? t("remote.never") : t("remote.ago", { time: duration(ago) })),
      h("dt", null, t("remote.address")), h("dd", null, model === "" ? address : `${model}, ${address}`)),
    projector.problem !== "" && h("p", { class: "small muted", lang: "en" }, projector.problem));
}

/** @param {ShowControlStatus} link */
function showControlFacts(link) {
  return [
    h("dl", { class: "facts" },
      link.listen !== "" && [h("dt", null, t("remote.listen")), h("dd", null, link.listen)],
      h("dt", null, t("remote.commands")), h("dd", null, String(link.commands)),
      h("dt", null, t("remote.refused")), h("dd", null, String(link.refused)),
      link.sent > 0 && [h("dt", null, t("remote.sent")), h("dd", null, String(link.sent))],
      link.last_peer !== "" && [h("dt", null, t("remote.last_peer")), h("dd", null, link.last_peer)]),
    link.last_problem !== "" && h("p", { class: "small muted", lang: "en" }, link.last_problem),
  ];
}
