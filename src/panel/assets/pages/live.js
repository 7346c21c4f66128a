// What the pool does right now: camera, fish, visitors, and how fast it all runs.

import { may } from "../core/api.js";
import { h, View } from "../core/dom.js";
import { lastDay, lastMinute } from "../core/history.js";
import { bytes, duration, number, percent, t } from "../core/i18n.js";
import { documents, send, status, useDocuments } from "../core/store.js";
import { on } from "../core/topics.js";
import { allCameras, cameraChoice, rateText } from "../parts/camera_choice.js";
import { icon } from "../parts/icons.js";
import "../parts/picture.js";
import { PoolView } from "../parts/pool_view.js";
import { spark } from "../parts/spark.js";

/** Time for which a fish shows another mind. */
const UPDATE_MS = 300;
/** Agitation above which a visitor on the spot stamps or waves; also the default of the director's condition. */
const RESTLESS_MPS = 0.04;
/** Speed below which a visitor is on the spot. */
const ON_SPOT_MPS = 0.3;

class Live extends View {
  #shown = "pool";
  /** @type {number | null} */
  #chosen = null;
  #span = "minute";
  #drawnAt = 0;
  /** @type {PoolView | null} */
  #pool = null;

  start() {
    this.until(useDocuments(), ...["status", "language", "documents"].map((topic) => on(topic, this.update)));
  }

  view() {
    if (status === null) return h("p", { class: "muted" }, t("connecting"));
    return [
      h("div", { class: "page-head", key: "head" }, h("h1", null, t("page.live")), this.#switch()),
      h("div", { class: "grid live", key: "live" },
        h("section", { class: "card live-view", key: "view" }, this.#view()),
        h("div", { class: "column", key: "side" }, this.#shown === "pool" && this.#fish(), this.#visitors(), cameraChoice(), this.#camera())),
      this.#curves(),
    ];
  }

  #switch() {
    const views = ["pool", "camera", ...status.outputs.map((/** @type {any} */ _, /** @type {number} */ index) => `output/${index}`)];
    const title = (/** @type {string} */ name) => (name.startsWith("output/") ? t("now.output", { n: Number(name.slice(7)) + 1 }) : t(`live.${name}`));
    return h("div", { class: "segments", role: "group", "aria-label": t("live.what") }, views.map((name) =>
      h("button", { key: name, type: "button", "aria-pressed": String(this.#shown === name), onclick: () => { this.#shown = name; this.update(); } }, title(name))));
  }

  #view() {
    if (this.#shown === "camera") return this.#cameraPictures();
    if (this.#shown !== "pool") return h("shoal-picture", { key: this.#shown, source: { topic: this.#shown } });
    const surface = documents.get("site")?.effective?.surface;
    return h("shoal-pool", {
      key: "pool", size: [surface?.width_m ?? 4, surface?.height_m ?? 3], chosen: { id: this.#chosen },
      ref: (/** @type {PoolView} */ element) => { this.#pool = element; },
      onchoose: (/** @type {any} */ e) => this.#choose(e.detail),
      onagents: () => this.#followAgents(),
    });
  }

  /** The picture of the camera with the outlines and ids of the visitors, beside what the detection makes of it. */
  #cameraPictures() {
    return h("div", { class: "grid two", key: "camera" }, ["camera", "mask"].map((topic) =>
      h("figure", { key: topic }, h("shoal-picture", { source: { topic, outlines: topic === "camera" } }), h("figcaption", { class: "small muted" }, t(`live.${topic}_what`)))));
  }

  #followAgents() {
    if (Date.now() - this.#drawnAt < UPDATE_MS) return;
    this.#drawnAt = Date.now();
    this.update();
  }

  /** @param {number | null} id */
  #choose(id) {
    this.#chosen = id;
    this.update();
  }

  /** Chooses the next or previous fish, for those who do not tap. @param {number} by */
  #step(by) {
    const ids = (this.#pool?.agents ?? []).map((agent) => agent.id).sort((a, b) => a - b);
    if (ids.length === 0) return;
    const index = ids.indexOf(this.#chosen ?? -1);
    this.#choose(ids[(index + by + ids.length) % ids.length]);
  }

  #fish() {
    const agent = this.#pool?.agents.find((other) => other.id === this.#chosen);
    return h("section", { class: "card", key: "fish", "aria-live": "polite" },
      h("div", { class: "card-head" }, h("h2", null, agent ? t("live.fish", { species: agent.species, id: agent.id }) : t("live.tap")),
        h("button", { class: "square", type: "button", "aria-label": t("live.previous"), onclick: () => this.#step(-1) }, icon("left")),
        h("button", { class: "square", type: "button", "aria-label": t("live.next"), onclick: () => this.#step(1) }, icon("right"))),
      agent ? [
        h("dl", { class: "facts" },
          h("dt", null, t("live.need")), h("dd", null, agent.need || t("live.standard")),
          h("dt", null, t("live.actions")), h("dd", null, agent.actions.join(", ") || "–"),
          h("dt", null, t("live.speed")), h("dd", null, `${number(Math.hypot(...agent.velocity_mps), 2)} m/s`, Boolean(agent.boost) && ` · ${t("live.boost")}`),
          h("dt", null, t("live.place")), h("dd", null, agent.position_m.map((value) => number(value, 2)).join(" · "), " m")),
        this.#forces(agent.forces ?? {}),
        may("admin") && h("div", { class: "row top" },
          h("a", { class: "button", href: "#/life" }, icon("life"), t("live.edit")),
          h("button", { type: "button", class: "plain", onclick: () => send({ command: "remove_individual", id: agent.id }, t("live.removed")) }, icon("trash"), t("live.remove"))),
      ] : this.#species());
  }

  /** What pulls the fish where, the strongest first. @param {Record<string, number[]>} forces */
  #forces(forces) {
    const list = Object.entries(forces).map(([name, force]) => ({ name, newtons: Math.hypot(...force) })).filter((force) => force.newtons > 0.005).sort((a, b) => b.newtons - a.newtons);
    if (list.length === 0) return null;
    return [
      h("h3", { class: "top" }, t("live.forces")),
      h("ul", { class: "forces" }, list.slice(0, 6).map(({ name, newtons }) => h("li", { key: name },
        h("span", { class: "row spread" }, h("span", null, name), h("span", { class: "number muted" }, `${number(newtons, 2)} N`)),
        h("span", { class: "meter", style: { "--share": `${Math.round((newtons / list[0].newtons) * 100)}%` } })))),
    ];
  }

  #species() {
    return h("ul", { class: "legend" }, Object.entries(status.species).map(([name, species]) => {
      const needs = Object.entries(/** @type {any} */ (species).needs).sort((a, b) => Number(b[1]) - Number(a[1])).slice(0, 3);
      return h("li", { key: name },
        h("span", { class: "dot", style: { background: this.#pool?.colourOf(name) ?? "var(--muted)" } }),
        h("span", { class: "grow" }, h("strong", null, /** @type {any} */ (species).count, " ", name), h("br", null),
          h("span", { class: "small muted" }, needs.map(([need, count]) => `${need || t("live.standard")} ${count}`).join(" · "))));
    }));
  }

  #visitors() {
    const tracks = status.tracks;
    return h("section", { class: "card", key: "visitors" },
      h("h2", null, t("live.visitors", { n: tracks.length })),
      tracks.length === 0 ? h("p", { class: "muted" }, t("live.no_visitor")) :
        h("ul", { class: "legend" }, tracks.slice(0, 12).map((/** @type {any} */ track) => h("li", { key: track.id },
          h("strong", { class: "number" }, track.id),
          h("span", { class: "grow small" }, t("live.visitor", { time: duration(track.age_secs) }), track.still_secs > 2 && ` · ${t("live.still", { time: duration(track.still_secs) })}`,
            track.agitation_mps > RESTLESS_MPS && Math.hypot(...track.velocity_mps) < ON_SPOT_MPS && ` · ${t("live.restless")}`)))));
  }

  #camera() {
    const camera = status.camera;
    const calibration = status.calibration;
    return h("section", { class: "card", key: "camera" },
      h("h2", null, [t("live.camera"), camera.name].filter(Boolean).join(" ")),
      h("dl", { class: "facts" },
        h("dt", null, t("live.source")), h("dd", null, camera.source),
        h("dt", null, t("live.rate")), h("dd", null, rateText(camera)),
        camera.kind !== "tracker" && [
          h("dt", null, t("live.level")), h("dd", null, percent(camera.mean_level)),
          h("dt", null, t("live.saturated")), h("dd", null, percent(camera.saturated_share)),
          h("dt", null, t("live.lost")), h("dd", null, number(camera.dropped + camera.skipped)),
          h("dt", null, t("live.calibration")), h("dd", null, calibration.current ? t("live.error_mm", { n: Math.round(calibration.current.predicted_rms_m * 1000) }) : t("live.no_calibration"))]));
  }

  #curves() {
    const samples = this.#span === "minute" ? lastMinute : lastDay;
    const timing = status.timing;
    /** @type {[keyof import("../core/history.js").Sample, string, string][]} */
    const curves = [
      ["camera", t("live.curve.camera"), t("unit.fps", { n: Number(Math.min(...allCameras().map((camera) => camera.fps)).toFixed(1)) })],
      ["draw", t("live.curve.draw"), timing.draw.count > 0 ? `${number(timing.draw.p99_ms, 1)} ms` : "–"],
      ["tick", t("live.curve.tick"), `${number(timing.tick.p99_ms, 1)} ms`],
      ["memory", t("live.curve.memory"), bytes(status.machine.memory_bytes)],
    ];
    return h("section", { class: "card top", key: "curves" },
      h("div", { class: "card-head" }, h("h2", null, t("live.curves")),
        h("div", { class: "segments", role: "group", "aria-label": t("live.span") }, ["minute", "day"].map((span) =>
          h("button", { key: span, type: "button", "aria-pressed": String(this.#span === span), onclick: () => { this.#span = span; this.update(); } }, t(`live.${span}`))))),
      h("p", { class: "small muted" }, t(this.#span === "minute" ? "live.minute_what" : "live.day_what")),
      h("div", { class: "curves" }, curves.map(([key, title, now]) =>
        h("div", { key }, h("div", { class: "row spread" }, h("span", null, title), h("strong", { class: "number" }, now)), spark(samples.map((sample) => sample[key]), `${title}: ${now}`)))));
  }
}

customElements.define("shoal-live", Live);
