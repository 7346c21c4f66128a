// What the pool does right now: camera, fish, visitors, and how fast it all runs.

import { may } from "../core/api.js";
import { h, View } from "../core/dom.js";
import { lastDay, lastMinute } from "../core/history.js";
import { bytes, duration, number, percent, t } from "../core/i18n.js";
import { documents, send, status, useDocuments } from "../core/store.js";
import { subscribe } from "../core/stream.js";
import { on } from "../core/topics.js";
import { allCameras, cameraChoice, rateText } from "../parts/camera_choice.js";
import { icon } from "../parts/icons.js";
import "../parts/picture.js";
import { leadFish } from "../parts/lead_fish.js";
import { mindView } from "../parts/mind_view.js";
import { overlaySwitch } from "../parts/overlay_switch.js";
import { PoolView } from "../parts/pool_view.js";
import { spark } from "../parts/spark.js";

/** Time between two pictures of what a fish thinks. */
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
  /** The mind of the chosen fish. @type {import("../parts/mind_view.js").Mind | null} */
  #mind = null;
  /** Ends the watch of the chosen fish. */
  #unwatch = () => {};
  /** Species of which the next tap places a fish; empty: taps choose. */
  #placed = "";

  start() {
    this.until(useDocuments(), ...["status", "language", "documents"].map((topic) => on(topic, this.update)));
  }

  stop() {
    this.#unwatch();
    this.#unwatch = () => {};
  }

  view() {
    if (status === null) return h("p", { class: "muted" }, t("connecting"));
    return [
      h("div", { class: "page-head", key: "head" }, h("h1", null, t("page.live")), this.#switch()),
      h("div", { class: "grid live", key: "live" },
        h("div", { class: "column main", key: "main" },
          h("section", { class: "card live-view", key: "view" }, this.#view()),
          overlaySwitch(this.#agent(), this.update), this.#shown === "pool" && this.#place()),
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
      neighbors: { ids: (this.#mind?.neighbors ?? []).filter((other) => other.counts.length > 0).map((other) => other.id) },
      onchoose: (/** @type {any} */ e) => (this.#placed === "" ? this.#choose(e.detail.id) : this.#put(e.detail.at)),
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
    if (id !== this.#chosen) {
      this.#unwatch();
      this.#unwatch = () => {};
      this.#mind = null;
    }
    if (id !== null && id !== this.#chosen) {
      const topic = `mind/${id}`;
      const stops = [subscribe(topic), on(topic, (/** @type {any} */ mind) => { this.#mind = mind; })];
      this.#unwatch = () => stops.forEach((stop) => stop());
    }
    this.#chosen = id;
    this.update();
  }

  #agent() {
    return this.#pool?.agents.find((other) => other.id === this.#chosen);
  }

  /** Places a fish where the finger taps. */
  #place() {
    if (!may("admin")) return null;
    const names = Object.keys(status.species);
    if (this.#placed !== "") {
      return h("section", { class: "card accent-card", key: "place" },
        h("p", null, t("live.place_tap", { species: this.#placed })),
        h("button", { type: "button", onclick: () => { this.#placed = ""; this.update(); } }, t("live.place_end")));
    }
    return h("section", { class: "card", key: "place" },
      h("h2", null, t("live.place_title")),
      h("div", { class: "chips" }, names.map((name) => h("button", { key: name, type: "button", onclick: () => { this.#placed = name; this.update(); } }, icon("plus"), name))));
  }

  /** @param {number[]} at */
  #put([x, z]) {
    const depth = this.#pool?.agents.filter((agent) => agent.species === this.#placed).map((agent) => agent.position_m[1]) ?? [];
    // Between its own kind; at half the depth of the pool if it is the first.
    const y = depth.length > 0 ? depth.reduce((sum, one) => sum + one, 0) / depth.length : -0.3;
    send({ command: "add_individual", species: this.#placed, position_m: [x, y, z] }, t("live.placed", { species: this.#placed }));
  }

  /** Chooses the next or previous fish, for those who do not tap. @param {number} by */
  #step(by) {
    const ids = (this.#pool?.agents ?? []).map((agent) => agent.id).sort((a, b) => a - b);
    if (ids.length === 0) return;
    const index = ids.indexOf(this.#chosen ?? -1);
    this.#choose(ids[(index + by + ids.length) % ids.length]);
  }

  #fish() {
    const agent = this.#agent();
    const name = this.#mind?.individual;
    // Its values change several times a second, so nothing of it is announced but the heading.
    return h("section", { class: "card", key: "fish" },
      h("div", { class: "card-head" }, h("h2", { "aria-live": "polite" }, agent ? (name ? t("live.named", { name, species: agent.species }) : t("live.fish", { species: agent.species, id: agent.id })) : t("live.tap")),
        h("button", { class: "square", type: "button", "aria-label": t("live.previous"), onclick: () => this.#step(-1) }, icon("left")),
        h("button", { class: "square", type: "button", "aria-label": t("live.next"), onclick: () => this.#step(1) }, icon("right"))),
      agent ? [
        this.#led(agent),
        this.#mind ? mindView(this.#mind) : h("dl", { class: "facts" },
          h("dt", null, t("live.need")), h("dd", null, agent.need || t("live.standard")),
          h("dt", null, t("live.actions")), h("dd", null, agent.actions.join(", ") || "–")),
        this.#forces(agent.forces ?? {}),
        h("dl", { class: "facts top", key: "facts" },
          h("dt", null, t("live.speed")), h("dd", null, `${number(Math.hypot(...agent.velocity_mps), 2)} m/s`, Boolean(agent.boost) && ` · ${t("live.boost")}`),
          h("dt", null, t("live.place")), h("dd", null, agent.position_m.map((value) => number(value, 2)).join(" · "), " m")),
        may("admin") && h("div", { class: "row top" },
          h("button", { type: "button", onclick: () => leadFish(agent) }, icon("hand"), t("lead.button")),
          h("a", { class: "button", href: "#/life" }, icon("life"), t("live.edit")),
          h("button", { type: "button", class: "plain", onclick: () => send({ command: "remove_individual", id: agent.id }, t("live.removed")) }, icon("trash"), t("live.remove"))),
      ] : this.#species());
  }

  /** Says that the fish does not follow its own mind. @param {import("../parts/pool_view.js").Agent} agent */
  #led(agent) {
    if (!agent.has_other_mind) return null;
    const left = this.#mind?.other_mind_secs;
    return h("p", { class: "hint led", key: "led" }, icon("hand"), h("span", { class: "grow" }, t("lead.now"), typeof left === "number" && ` ${t("lead.left", { time: duration(left) })}`),
      may("admin") && h("button", { type: "button", onclick: () => send({ command: "end_override", id: agent.id }, t("lead.ended")) }, t("lead.end")));
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
        h("span", { class: "grow" }, h("strong", null, `${/** @type {any} */ (species).count} ${name}`), h("br", null),
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
