// The page for everybody: is all well, who is there, and six large buttons.

import { get, may, pictureUrl } from "../core/api.js";
import { h, View } from "../core/dom.js";
import { clock, duration, isoDay, known, number, t, when } from "../core/i18n.js";
import { documents, documentsOf, send, startedAt, status, useDocuments } from "../core/store.js";
import { on } from "../core/topics.js";
import { brokenFiles } from "../parts/broken.js";
import { allCameras } from "../parts/camera_choice.js";
import { health, troubles, troubleText } from "../parts/health.js";
import { icon } from "../parts/icons.js";
import { openDialog } from "../parts/dialog.js";
import { thumbnail } from "../parts/thumbnail.js";
import { soundCard } from "../parts/sound.js";
import { askedUntil, minutes, never, nextChange, tomorrow } from "../parts/until.js";

/** Pause between two thumbnails. */
const PICTURE_MS = 4000;

class Now extends View {
  /** Addresses of the newest thumbnails, by output. @type {string[]} */
  #pictures = [];
  /** Visitors of today, by hour; `null` if Shoal does not count them. @type {number[] | null} */
  #byHour = null;

  start() {
    this.until(useDocuments(), ...["status", "language", "documents", "session", "connection"].map((topic) => on(topic, this.update)));
    const first = on("status", () => {
      first();
      this.#refresh();
      this.#readHours();
    });
    this.until(first);
    if (status !== null) this.#refresh();
    const timer = setInterval(() => this.#refresh(), PICTURE_MS);
    this.#readHours();
    const hours = setInterval(() => this.#readHours(), 60_000);
    this.until(() => clearInterval(timer), () => clearInterval(hours));
  }

  stop() {
    for (const url of this.#pictures) URL.revokeObjectURL(url);
    this.#pictures = [];
  }

  async #refresh() {
    const count = status?.outputs.length ?? 0;
    for (let index = 0; index < count; index++) {
      const answer = await fetch(pictureUrl(`/output/${index}.jpg`)).catch(() => null);
      const old = this.#pictures[index];
      this.#pictures[index] = answer?.ok ? URL.createObjectURL(await answer.blob()) : "";
      if (old) setTimeout(() => URL.revokeObjectURL(old), 500);
    }
    this.update();
  }

  async #readHours() {
    if (status === null) return;
    const answer = await get(`/analytics?from=${isoDay(status.time)}&by=hour`).catch(() => null);
    this.#byHour = Array.isArray(answer?.intervals) ? sumByHour(answer.intervals) : null;
    this.update();
  }

  view() {
    if (status === null) return h("p", { class: "muted" }, t("connecting"));
    return [
      h("h1", { class: "unseen" }, t("page.now")),
      this.#health(),
      brokenFiles(),
      this.#paused(),
      this.#rehearsal(),
      this.#byHand(),
      may("operate") && this.#buttons(),
      h("div", { class: "grid two" }, this.#outputs(), this.#visitors(), soundCard(status)),
    ];
  }

  #health() {
    const state = health(status);
    const others = state.kind === "wait" ? [] : troubles(status).filter((one) => !one.isShow).slice(1);
    return h("section", { class: `health ${state.kind}`, "aria-live": "polite", key: "health" },
      h("div", { class: "health-icon" }, icon(state.icon)),
      h("div", { class: "grow" },
        h("p", { class: "health-sentence" }, state.sentence),
        h("p", null, state.kind === "good" ? this.#wellSince() : state.kind === "wait" ? "" : state.since),
        state.remedy && h("p", { class: "health-remedy" }, h("strong", null, t("health.todo")), " ", state.remedy),
        (state.detail || others.length > 0) && h("details", { class: "fold small" }, h("summary", null, t("health.detail")), h("p", { lang: "en" }, state.detail),
          others.map((other) => h("p", { key: other.name }, troubleText(other))))));
  }

  #wellSince() {
    const scene = sceneTitle(status.scene);
    // Without an output, nothing is shown.
    const isLit = status.outputs.length > 0 && !["dark", "closed"].includes(status.schedule.state);
    return t(isLit ? "now.showing" : "now.loaded", { scene, time: when(new Date(startedAt)) });
  }

  /** Says that the pool stands still, so that nobody looks for a fault. */
  #paused() {
    const secs = status.paused_secs;
    if (typeof secs !== "number") return null;
    const until = status.schedule.paused_until;
    const text = until ? t("now.paused_until", { time: duration(secs), until: when(until) }) : t("now.paused", { time: duration(secs) });
    return h("div", { class: "hint warn", key: "paused" }, icon("pause"), h("p", { class: "grow" }, text, unkept()),
      may("operate") && h("button", { type: "button", onclick: () => this.#goOn() }, icon("play"), t("now.go_on")));
  }

  /** Says that nobody is seen, because a recording is replayed. */
  #rehearsal() {
    if (typeof status.rehearsal !== "string") return null;
    return h("div", { class: "hint warn", key: "rehearsal" }, icon("camera"), h("p", { class: "grow" }, rehearsalText(status), unkept()),
      may("admin") && h("button", { type: "button", onclick: () => send({ command: "recording", step: { do: "live" } }, t("recordings.done.live")) }, t("recordings.live")));
  }

  async #pause() {
    const until = await askedUntil({ title: t("now.pause_title"), text: t("now.pause_text"), choices: [minutes(10), minutes(60), ...tomorrow(), never()] });
    if (until) send({ command: "pause", on: true, until }, t("now.done.pause"));
  }

  #goOn() {
    return send({ command: "pause", on: false }, t("now.done.go_on"));
  }

  /** Says that the plan is overridden, and how to return to it. */
  #byHand() {
    const plan = status.schedule;
    const text = planText(plan);
    if (!plan.by_hand) return text && h("p", { class: "hint plain-hint", key: "plan" }, icon("hours"), h("span", null, text));
    return h("div", { class: "hint warn", key: "plan" }, icon("hand"), h("p", { class: "grow" }, text, unkept()),
      may("operate") && h("button", { type: "button", onclick: () => this.#resume() }, t(plan.is_planned ? "now.resume" : "now.open_again")));
  }

  #resume() {
    return send({ command: "schedule", step: { do: "resume" } }, t("now.done.resume"));
  }

  /** Ends what was set by hand last; what was set by hand before applies again, or the plan. */
  #end() {
    const { then } = status.schedule.by_hand;
    return send({ command: "schedule", step: { do: "end" } }, then?.is_by_hand ? t("now.done.end", { state: known("state", then.state) ?? then.state }) : t("now.done.resume"));
  }

  /** Sets a state for a time that is asked for. @param {"open" | "dark" | "closed"} state @param {import("../parts/until.js").Choice[]} choices */
  async #setState(state, choices) {
    const before = status.schedule.by_hand;
    // A duration interrupts what was set by hand, any other end replaces it.
    const isInterrupted = choices.some(({ until }) => typeof until === "object");
    const key = !isInterrupted ? "now.ends_hand" : before?.until ? "now.interrupts_until" : "now.interrupts";
    const after = before && before.state !== state ? t(key, { state: known("state", before.state) ?? before.state, time: before.until ? when(before.until) : "" }) : "";
    const until = await askedUntil({ title: t(`now.${state}_title`), text: [t(`now.${state}_text`), after].filter(Boolean).join(" "), choices });
    if (until === "plan") this.#resume();
    else if (until) send({ command: "schedule", step: { do: "by_hand", state, until } }, t(`now.done.${state}`));
  }

  /** Opens a closed pool: the plan again if nothing is planned, otherwise for some time. */
  #open() {
    const { by_hand, is_planned } = status.schedule;
    if (by_hand && !is_planned) return this.#resume();
    const asPlanned = by_hand ? [{ until: /** @type {const} */ ("plan"), label: t("now.resume") }] : [];
    return this.#setState("open", [...asPlanned, minutes(60), minutes(180), ...nextChange(), ...tomorrow(), never()]);
  }

  #buttons() {
    const plan = status.schedule;
    const hand = plan.by_hand?.state;
    const isPaused = typeof status.paused_secs === "number";
    const isLit = !["dark", "closed"].includes(plan.state);
    const isClosed = plan.state === "closed";
    const ends = [minutes(10), minutes(60), ...nextChange(), ...tomorrow(), never()];
    // A pressed button says what the next press does.
    const isDark = hand === "dark";
    const then = plan.by_hand?.then;
    const darkThen = then?.is_by_hand ? t("now.button.dark_end_what", { state: known("state", then.state) ?? then.state }) : t("now.resume");
    /** Name, drawing, action, why it is off, whether it is pressed. @type {[string, string, () => void, string, boolean][]} */
    const list = [
      ["scene", "scenes", () => this.#chooseScene(), "", false],
      ["event", "hand", () => this.#chooseEvent(), status.director.length > 0 ? "" : t("now.off.event"), false],
      ["calm", "calm", () => send({ command: "director", event: { event: "calm" } }, done("now.done.calm")), "", false],
      [isDark ? "dark_end" : "dark", "dim", () => (isDark ? this.#end() : this.#setState("dark", ends)), isClosed ? t("now.off.dark") : "", isDark],
      [isPaused ? "pause_end" : "pause", isPaused ? "play" : "pause", () => (isPaused ? this.#goOn() : this.#pause()), isPaused || isLit ? "" : t("now.off.pause"), isPaused],
      isClosed
        ? ["open", "power", () => this.#open(), "", false]
        : ["end", "power", () => this.#setState("closed", [...tomorrow(), never()]), "", false],
    ];
    return h("section", { class: "big-buttons", "aria-label": t("now.buttons"), key: "buttons" }, list.map(([name, drawing, action, off, isPressed]) =>
      h("button", { key: name.replace("_end", ""), type: "button", disabled: off !== "", class: isPressed ? "pressed" : "", onclick: action },
        icon(drawing), h("strong", null, t(`now.button.${name}`)), h("span", { class: "small muted" }, off || (name === "dark_end" ? darkThen : t(`now.button.${name}_what`))))));
  }

  #chooseScene() {
    const kind = documents.get("site")?.effective?.surface?.kind;
    const fits = (/** @type {import("../core/store.js").Doc} */ doc) => !(doc.effective.surfaces?.length > 0) || doc.effective.surfaces.includes(kind);
    const scenes = documentsOf("scene").sort((a, b) => Number(fits(b)) - Number(fits(a)) || sceneTitle(a.document.name).localeCompare(sceneTitle(b.document.name)));
    openDialog(t("now.button.scene"), (close) => [
      h("p", { class: "muted" }, t("now.scene_help")),
      h("div", { class: "choices" }, scenes.map((doc) => {
        const name = doc.document.name ?? "";
        const isShown = name === status.scene;
        return h("button", { key: name, type: "button", "aria-pressed": String(isShown), onclick: async () => { close(); if (!isShown) await send({ command: "switch_scene", name }, done("now.done.scene", { scene: sceneTitle(name) })); } },
          thumbnail("scene", name), h("span", { class: "grow" }, sceneTitle(name), h("br", null), h("span", { class: "small muted" }, sceneText(doc))), isShown && h("span", { class: "small" }, t("now.shown")));
      })),
    ]);
  }

  #chooseEvent() {
    // The steps of a show are not started one by one.
    const rules = documentsOf("scene").find((doc) => doc.document.name === status.scene)?.effective.director ?? [];
    const isStep = (/** @type {any} */ rule) => rule.when?.condition === "after" || Boolean(rule.during);
    const steps = new Set(rules.filter(isStep).map((/** @type {any} */ rule) => rule.name));
    openDialog(t("now.button.event"), (close) => [
      h("p", { class: "muted" }, t("now.event_help")),
      h("div", { class: "choices" }, status.director.filter((/** @type {any} */ rule) => !steps.has(rule.name)).flatMap((/** @type {any} */ rule) => {
        const name = ruleTitle(rule.name);
        const order = (/** @type {string} */ event) => () => { close(); send({ command: "director", event: { event, rule: rule.name } }, done(event === "stop" ? "now.done.event_stop" : "now.done.event", { name })); };
        return [
          h("button", { key: rule.name, type: "button", onclick: order("start") },
            h("span", { class: "grow" }, name), rule.is_active && h("span", { class: "pill accent" }, t("now.active"))),
          rule.is_active && h("button", { key: `${rule.name}:stop`, type: "button", onclick: order("stop") }, h("span", { class: "grow" }, t("now.event_stop", { name }))),
        ];
      })),
    ]);
  }

  #outputs() {
    const outputs = status.outputs;
    return h("section", { class: "card", key: "outputs" },
      h("h2", null, t("now.picture")),
      outputs.length === 0 ? h("p", { class: "muted" }, t("now.no_output")) :
        h("div", { class: outputs.length > 1 ? "grid two" : "" }, outputs.map((/** @type {any} */ output, /** @type {number} */ index) =>
          h("figure", { key: index },
            h("div", { class: "picture" },
              this.#pictures[index] ? h("img", { src: this.#pictures[index], alt: t("now.output_alt", { n: index + 1 }) }) : h("p", null, t("now.no_picture")),
              h("figcaption", { class: "caption" }, output.monitor || t("now.output", { n: index + 1 }), " · ", t("unit.fps", { n: Math.round(output.fps) })))))));
  }

  #visitors() {
    const { now, today } = status.visitors;
    // Nobody is counted in a rehearsal, so the number of today stays that of the camera. A demonstration has other visitors.
    const isRehearsal = typeof status.rehearsal === "string";
    const isReal = isRehearsal || allCameras().every((camera) => ["live", "tracker"].includes(camera.kind));
    // Without a file of counts, the number begins again with each start.
    const start = new Date(startedAt);
    const isWhole = this.#byHour !== null || isoDay(start) !== isoDay(status.time);
    return h("section", { class: "card stack", key: "visitors" },
      h("h2", null, t(isReal ? "now.visitors" : "now.visitors_simulated")),
      isRehearsal && h("p", { class: "small muted" }, t("now.visitors_rehearsal")),
      h("div", { class: "figures" },
        h("div", null, h("strong", null, number(now)), h("span", null, t("now.visitors_now"))),
        h("div", null, h("strong", null, number(today)), h("span", null, isWhole ? t("now.visitors_today") : t("now.visitors_since", { time: clock(start) }))),
        h("div", null, h("strong", null, number(fishCount())), h("span", null, t("now.fish", { n: fishCount() })))),
      this.#byHour && this.#hourBars(this.#byHour));
  }

  /** @param {number[]} hours */
  #hourBars(hours) {
    const most = Math.max(1, ...hours);
    const label = t("now.by_hour", { text: hours.map((n, hour) => `${hour}: ${n}`).join(", ") });
    return h("div", null,
      h("div", { class: "bars", role: "img", "aria-label": label }, hours.map((n, hour) =>
        h("span", { key: hour, class: n > 0 ? "bar" : "bar off", title: `${hour}: ${n}`, style: { height: `${Math.max(3, (n / most) * 100)}%` } }))),
      h("div", { class: "bars-scale" }, h("span", null, "00:00"), h("span", null, clock(status.time))));
  }
}

/** Adds up the arrivals of each hour of today, up to now. @param {{ from: string, arrivals: number | null }[]} intervals */
function sumByHour(intervals) {
  const hours = new Array(Number(clock(status.time).slice(0, 2)) + 1).fill(0);
  for (const interval of intervals) {
    // The time at the pool, as in `2026-12-24T09:00:00+01:00`.
    const hour = Number(interval.from.slice(11, 13));
    if (hour < hours.length) hours[hour] += interval.arrivals ?? 0;
  }
  return hours;
}

function fishCount() {
  return Object.values(status.species).reduce((sum, species) => sum + /** @type {any} */ (species).count, 0);
}

/** Returns the title of a scene; its name if it has none. @param {string | undefined} name */
export function sceneTitle(name) {
  const title = documents.get(`scene/${name}`)?.effective?.title;
  return title || (name ?? "");
}

/** Says what swims in a scene, and what it is made for. @param {import("../core/store.js").Doc} doc */
function sceneText(doc) {
  const population = Object.entries(doc.effective.population ?? {}).map(([species, n]) => `${n} ${species}`).join(", ");
  const kinds = doc.effective.surfaces ?? [];
  return [population, kinds.length > 0 && t("setup.made_for", { kinds: kinds.map((/** @type {string} */ kind) => t(`surface.${kind}`)).join(", ") })].filter(Boolean).join(" · ");
}

/** Says what was done, and why it is not seen now. @param {string} key @param {Record<string, string>} [values] */
export function done(key, values = {}) {
  const isDark = ["dark", "closed"].includes(status.schedule.state);
  const isPaused = typeof status.paused_secs === "number";
  return [t(key, values), isDark ? t("now.unseen.dark") : isPaused && t("now.unseen.paused")].filter(Boolean).join(" ");
}

/** Says that a restart would lose what is set by hand. */
export function unkept() {
  return status.schedule.is_unkept && ` ${t("now.unkept")}`;
}

/** Says what is shown and until when: what is set by hand, or the plan. @param {any} plan */
export function planText(plan) {
  const name = (/** @type {string} */ state) => known("state", state) ?? state;
  if (plan.by_hand) {
    const { state, until, then } = plan.by_hand;
    if (!until) return t("now.by_hand", { state: name(state) });
    return [t("now.by_hand_until", { state: name(state), time: when(until) }), then && thenText(then)].filter(Boolean).join(" ");
  }
  if (!plan.is_clock_trusted) return t("now.clock_unset", { state: name(plan.state) });
  return plan.until && plan.next ? t("now.until", { state: name(plan.state), time: when(plan.until), next: name(plan.next) }) : "";
}

/** Says what applies after a state that was set by hand. @param {{ state: string, is_by_hand: boolean, until: string | null }} then */
function thenText({ state, is_by_hand, until }) {
  const name = known("state", state) ?? state;
  if (!is_by_hand) return t("now.then_plan", { state: name });
  return until ? t("now.then_hand_until", { state: name, time: when(until) }) : t("now.then_hand", { state: name });
}

/** Says that a recording is replayed, and until when. @param {any} status */
export function rehearsalText(status) {
  const until = status.schedule.rehearsal_until;
  return until ? t("recordings.replayed_until", { time: when(until) }) : t("recordings.replayed");
}

/** @param {string} name */
function ruleTitle(name) {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

customElements.define("shoal-now", Now);
