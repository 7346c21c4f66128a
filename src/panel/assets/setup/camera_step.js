// Step of the installation: the camera, its exposure, and the proof that it does not see the projection.

import { get } from "../core/api.js";
import { h, View } from "../core/dom.js";
import { number, percent, t } from "../core/i18n.js";
import { documents, schema, send, setEdit, status } from "../core/store.js";
import { on } from "../core/topics.js";
import { keepUnfinished } from "../parts/unfinished.js";
import { context } from "../editor/context.js";
import { editor } from "../editor/form.js";
import { cameraChoice, chosenCamera } from "../parts/camera_choice.js";
import { troubles, troubleText } from "../parts/health.js";
import { icon } from "../parts/icons.js";
import "../parts/picture.js";
import "./area_editor.js";
import { networkSource, withoutPassword } from "./network_camera.js";

/** Time that the projection gets to become dark, or light again. */
const DARK_MS = 3500;
/** Time after which a dark projection of a test that was left ends by itself. */
const TEST_SECS = 20;
/** Change of brightness above which the camera sees the projection, as a share of full scale. */
const SEEN = 0.012;

/** Factor above which no longer exposure is advised. */
const FACTOR_MAX = 16;

class CameraStep extends View {
  /** Cameras that are connected; `null` if they cannot be listed. @type {{ source: string, card: string, bus: string, problem: string | null }[] | null} */
  #cameras = null;
  #isListing = false;
  #state = { open: new Set(["camera.controls"]), wrong: new Map() };
  #address = "";
  #login = { user: "", password: "" };
  /** `of` is the source that was tested. @type {{ step: "" | "dark" | "light" | "done" | "failed", change: number, of: string }} */
  #test = { step: "", change: 0, of: "" };

  start() {
    for (const topic of ["documents", "language", "status"]) this.until(on(topic, this.update));
    this.until(keepUnfinished(() => (this.#address + this.#login.user + this.#login.password === "" ? "" : t("camera.network"))));
    this.#readCameras();
  }

  async #readCameras() {
    this.#isListing = true;
    this.update();
    const answer = await get("/cameras").catch(() => null);
    this.#isListing = false;
    this.#cameras = Array.isArray(answer?.cameras) ? answer.cameras : null;
    this.update();
  }

  view() {
    const site = documents.get("site");
    if (!site || schema === null || status === null) return null;
    const ctx = context([site], this.update, this.#state);
    const chosen = chosenCamera(schema);
    const source = this.#source();
    const hasPassword = withoutPassword(source) !== source;
    return [h("div", { class: "grid two", key: "camera" },
      h("div", { class: "column" },
        cameraChoice(),
        this.#chooser(),
        status.camera.tracker ? this.#tracker(status.camera.tracker) : [
          h("shoal-picture", { source: { topic: "camera" } }),
          this.#exposure(),
          this.#projectionTest()]),
      h("div", { class: "column" },
        h("section", { class: "card" }, h("h2", null, t("camera.settings")), editor(ctx, chosen.schema, chosen.path, "camera", { isBare: true, skip: [...(hasPassword ? ["source"] : []), "ignore", "include"] })))),
    h("shoal-areas", { key: `areas ${chosen.path}` })];
  }

  #chooser() {
    const cameras = this.#cameras;
    const current = this.#source();
    const choose = (/** @type {string} */ source) => send({ command: "edit", edits: [setEdit({ kind: "site" }, chosenCamera(schema).source, source)] });
    return h("section", { class: "card" },
      h("div", { class: "card-head" }, h("h2", null, t("camera.which")), h("button", { class: "square plain", type: "button", "aria-label": t("camera.again"), disabled: this.#isListing, onclick: () => this.#readCameras() }, icon("revert"))),
      this.#isListing && h("p", { class: "muted", role: "status" }, t("camera.searching")),
      !this.#isListing && cameras === null && h("p", { class: "hint warn" }, icon("warn"), h("span", null, t("camera.not_listed"))),
      cameras?.length === 0 && !this.#isWorking() && !status.camera.tracker && h("div", { class: "hint warn" }, icon("warn"), h("div", null, h("p", null, t("camera.none")), h("ul", { class: "checklist" }, ["plug", "linux", "group", "network"].map((name) => h("li", { key: name }, t(`camera.check.${name}`)))))),
      this.#isSimulated() && h("p", { class: "hint warn" }, icon("warn"), h("span", null, t("camera.simulated"))),
      h("div", { class: "choices" }, (cameras ?? []).map((camera) => h("button", { key: camera.source, type: "button", "aria-pressed": String(camera.source === current), onclick: () => choose(camera.source) }, h("span", { class: "grow" }, camera.card, h("br", null), h("span", { class: "small muted" }, camera.problem ?? camera.source))))),
      // What is open, and not what the site file wants.
      h("p", { class: "small muted top" }, t("camera.current", { source: withoutPassword(status.camera.source || t("camera.no_source")) }), h("br", null), t("camera.written", { source: withoutPassword(current ?? "") })),
      this.#network());
  }

  /** The source of the chosen camera. */
  #source() {
    const site = documents.get("site")?.effective;
    const { index } = chosenCamera(schema);
    return (index < 0 ? site?.camera : site?.cameras?.[index])?.source ?? "";
  }

  /** Whether a camera that is no device of this computer, such as one in the network, sends pictures. */
  #isWorking() {
    return ["live", "tracker"].includes(status.camera.kind) && status.camera.fps > 0;
  }

  #isSimulated() {
    return status.camera.source.startsWith("synthetic");
  }

  /** A camera in the network, by its address. The program that reads it is built from the address. */
  #network() {
    const address = this.#address.trim();
    const isUsable = /^rtsps?:\/\/\S+$/i.test(address) && !/['"\\]/.test(address);
    const use = async () => {
      const source = networkSource(address, this.#login);
      if (await send({ command: "edit", edits: [setEdit({ kind: "site" }, chosenCamera(schema).source, source)] })) {
        this.#address = "";
        this.#login = { user: "", password: "" };
      }
      this.update();
    };
    const field = (/** @type {string} */ id, /** @type {string} */ label, /** @type {any} */ props) => h("div", { class: "field", key: id }, h("label", { for: id }, label), h("input", { id, autocomplete: "off", spellcheck: "false", autocapitalize: "none", ...props }));
    return h("details", { class: "fold" }, h("summary", null, t("camera.network")),
      h("div", { class: "stack" },
        h("p", { class: "muted" }, t("camera.network_help")),
        field("rtsp-address", t("camera.address"), { inputmode: "url", placeholder: "rtsp://192.168.1.64:554/stream1", value: this.#address, oninput: (/** @type {any} */ e) => { this.#address = e.target.value; this.update(); } }),
        field("rtsp-user", t("camera.user"), { value: this.#login.user, oninput: (/** @type {any} */ e) => { this.#login.user = e.target.value; } }),
        field("rtsp-password", t("camera.password"), { type: "password", value: this.#login.password, oninput: (/** @type {any} */ e) => { this.#login.password = e.target.value; } }),
        address !== "" && !isUsable && h("p", { class: "wrong", role: "alert" }, t("camera.address_wrong")),
        h("button", { type: "button", class: "primary", disabled: !isUsable, onclick: use }, t("camera.use_address"))));
  }

  /** What comes from a tracker. @param {{ received: number, refused: number, late: number, rate_hz: number, last_peer: string, last_problem: string }} tracker */
  #tracker(tracker) {
    return h("section", { class: "card stack" },
      h("p", { class: "hint" }, icon("info"), h("span", null, t("camera.tracker"))),
      h("dl", { class: "facts" },
        h("dt", null, t("camera.tracker_rate")), h("dd", null, t("unit.reports", { n: Math.round(tracker.rate_hz) })),
        tracker.last_peer !== "" && [h("dt", null, t("camera.tracker_from")), h("dd", null, tracker.last_peer)],
        h("dt", null, t("camera.tracker_late")), h("dd", null, String(tracker.late)),
        h("dt", null, t("remote.refused")), h("dd", null, String(tracker.refused))),
      tracker.last_problem !== "" && h("p", { class: "small muted", lang: "en" }, tracker.last_problem));
  }

  #exposure() {
    const { camera } = status;
    if (!(camera.fps > 0)) return h("p", { class: "hint warn" }, icon("warn"), h("span", null, t("camera.no_picture")));
    return h("section", { class: "card stack" },
      h("h2", null, t("camera.exposure")),
      this.#advice(camera),
      camera.exposure && this.#lighting(camera.exposure),
      h("dl", { class: "facts" },
        h("dt", null, t("live.level")), h("dd", null, percent(camera.mean_level)),
        h("dt", null, t("live.saturated")), h("dd", null, percent(camera.saturated_share)),
        h("dt", null, t("live.rate")), h("dd", null, t("unit.fps", { n: Number(camera.fps.toFixed(1)) }))));
  }

  /** What to do about the picture of now; that it is being measured while nothing is known about it. @param {any} camera */
  #advice({ exposure, faults }) {
    // Simulated visitors have no exposure that could be good.
    if (this.#isSimulated()) return null;
    const [fault] = faults;
    const spoiler = fault && troubles(status).find((trouble) => trouble.name.split(" ")[0] === `camera.${fault}`);
    if (spoiler && !spoiler.isAway) return h("p", { class: "hint warn", role: "alert" }, icon("warn"), h("span", null, troubleText(spoiler)));
    if (!exposure) {
      const isJudged = (documents.get("site")?.effective?.vision?.polarity ?? "dark") === "dark";
      return isJudged && h("p", { class: "hint", role: "status" }, icon("info"), h("span", null, t("camera.measuring")));
    }
    const { factor } = exposure;
    // No camera has so much to spare: something covers the lens, or the lamp is off.
    const advice = exposure.advice === "raise" && factor > FACTOR_MAX ? "covered" : exposure.advice;
    return h("p", { class: `hint ${advice === "good" ? "good" : "warn"}`, "aria-live": "polite" }, icon(advice === "good" ? "check" : "warn"), h("span", null, t(`camera.advice.${advice}`, { factor: number(Number(factor.toFixed(1))) })));
  }

  /** How the surface is lit, as the server measures it. @param {any} exposure */
  #lighting(exposure) {
    const { histogram, dark_share: dark, saturated_share: saturated } = exposure;
    const most = Math.max(...histogram, 0.01);
    // 0 is a part of the surface whose contrast cannot be measured.
    const seen = exposure.contrast.flat().filter((/** @type {number} */ contrast) => contrast > 0);
    return h("div", { class: "stack" },
      h("div", null,
        h("div", { class: "bars", role: "img", "aria-label": t("camera.histogram", { saturated: percent(saturated), dark: percent(dark) }) },
          histogram.map((/** @type {number} */ share, /** @type {number} */ index) => h("span", { key: index, class: "bar", style: { height: `${Math.max(1, Math.sqrt(share / most) * 100)}%` } }))),
        h("div", { class: "bars-scale" }, h("span", null, t("camera.black")), h("span", null, t("camera.white")))),
      h("dl", { class: "facts" },
        h("dt", null, t("camera.surface_saturated")), h("dd", null, percent(saturated)),
        h("dt", null, t("camera.surface_dark")), h("dd", null, percent(dark)),
        seen.length > 0 && h("dt", null, t("camera.contrast")), seen.length > 0 && h("dd", null, t("camera.contrast_of", { least: number(Math.round(Math.min(...seen))), needed: number(Math.ceil(exposure.needed_contrast)) }))));
  }

  /** Compares the camera's picture with a dark and a light projection. */
  #projectionTest() {
    const isPossible = status.schedule !== undefined && status.outputs.length > 0;
    const { change, of } = this.#test;
    // What was found says nothing about another camera.
    const step = of === status.camera.source ? this.#test.step : "";
    const seen = Math.abs(change) > SEEN;
    return h("section", { class: "card stack" },
      h("h2", null, t("camera.unseen")),
      h("p", { class: "muted" }, t("camera.unseen_help")),
      !isPossible && h("p", { class: "small muted" }, t("camera.unseen_impossible")),
      step === "done" && h("p", { class: `hint ${seen ? "bad" : "good"}`, role: "status" }, icon(seen ? "warn" : "check"), h("span", null, t(seen ? "camera.seen" : "camera.not_seen", { change: percent(Math.abs(change)) }))),
      step === "failed" && h("p", { class: "hint warn", role: "alert" }, icon("warn"), h("span", null, t("camera.test_failed"))),
      (step === "dark" || step === "light") && h("p", { class: "hint", role: "status" }, icon("dim"), h("span", null, t(`camera.test_${step}`))),
      h("button", { type: "button", disabled: !isPossible || step === "dark" || step === "light", onclick: () => this.#compare() }, icon("dim"), t("camera.test")));
  }

  async #compare() {
    const step = (/** @type {"dark" | "light" | "done" | "failed"} */ name) => {
      this.#test = { ...this.#test, step: name, of: status.camera.source };
      this.update();
    };
    // For a limited time, so that what was set by hand before comes back with its end, also without this page.
    const show = (/** @type {"dark" | "open"} */ state) => send({ command: "schedule", step: { do: "by_hand", state, until: { secs: TEST_SECS } } });
    /** The brightness of a picture of now; `null` if there is none. */
    const measure = async () => {
      await new Promise((resolve) => setTimeout(resolve, DARK_MS));
      return status.camera.fps > 0 && status.camera.faults.length === 0 ? status.camera.mean_level : null;
    };
    step("dark");
    const dark = await show("dark") ? await measure() : null;
    if (dark === null) return step("failed");
    step("light");
    const light = await show("open") ? await measure() : null;
    await send({ command: "schedule", step: { do: "end" } });
    if (light === null) return step("failed");
    this.#test.change = light - dark;
    step("done");
  }
}

customElements.define("shoal-camera-step", CameraStep);
