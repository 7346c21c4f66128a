// The guided installation. Every step stands alone and can be repeated.

import { may, session } from "../core/api.js";
import { h, View } from "../core/dom.js";
import { date, language, number, percent, setLanguage, t, when } from "../core/i18n.js";
import { documents, documentsOf, fileOf, schema, send, setEdit, status, useDocuments } from "../core/store.js";
import { on } from "../core/topics.js";
import { context } from "../editor/context.js";
import { editor } from "../editor/form.js";
import { allCameras, rateText } from "../parts/camera_choice.js";
import { confirmed } from "../parts/dialog.js";
import { health, troubles, troubleText } from "../parts/health.js";
import { icon } from "../parts/icons.js";
import { notify } from "../parts/notices.js";
import { brokenFiles } from "../parts/broken.js";
import "../setup/calibration_step.js";
import "../setup/camera_step.js";
import { surfaceDrawing } from "../setup/drawings.js";
import { lampText } from "../setup/lamp_step.js";
import "../setup/output_step.js";
import { STEPS, calibrationDoubts, isOtherSurface, isSiteSaved, isTrue, stateHint } from "../setup/steps.js";
import { done, sceneTitle } from "./now.js";
import { thumbnail } from "../parts/thumbnail.js";

/** Time after which a changed step is drawn. */
const STRIP_MS = 100;

class Setup extends View {
  #state = { open: new Set(), wrong: new Map() };
  /** Whether the panel was opened to the network here. */
  #isReachSet = false;

  start() {
    this.until(useDocuments(), ...["documents", "language", "status"].map((topic) => on(topic, this.update)));
    const moved = () => {
      this.update();
      this.#followStrip();
    };
    this.#followStrip();
    window.addEventListener("hashchange", moved);
    this.until(() => window.removeEventListener("hashchange", moved));
  }

  /** Asks about drafts when the installation is left, also with *Finish*. */
  async stop() {
    if (status === null || !may("admin")) return;
    // The site file is no draft: if it is unsaved, the disk refuses it.
    const drafts = status.unsaved.filter((/** @type {any} */ name) => name.kind !== "site");
    if (!isSiteSaved()) notify("bad", `${t("fault.site_unsaved")} ${t("remedy.site_unsaved")}`);
    if (drafts.length === 0) return;
    const names = drafts.map(fileOf).join(", ");
    if (await confirmed({ title: t("setup.leave_title"), text: t("setup.leave_text", { names }), yes: t("changes.save"), no: t("setup.leave_drafts") })) {
      send({ command: "save" }, t("changes.saved"));
    }
  }

  /** Scrolls the strip of steps of a phone to the current one. */
  #followStrip() {
    setTimeout(() => {
      const strip = this.querySelector(".steps ol");
      const step = /** @type {HTMLElement | null} */ (strip?.querySelector("[aria-current]"));
      if (strip && step) strip.scrollTo({ left: step.offsetLeft - (strip.clientWidth - step.offsetWidth) / 2 });
    }, STRIP_MS);
  }

  #step() {
    const name = location.hash.split("/")[2];
    return Math.max(0, STEPS.findIndex((step) => step.name === name));
  }

  view() {
    if (schema === null || status === null || documents.size === 0) return h("p", { class: "muted" }, t("connecting"));
    const index = this.#step();
    const { name } = STEPS[index];
    return h("div", { class: "setup" },
      h("nav", { class: "steps no-print", "aria-label": t("setup.steps") },
        h("h1", null, t("page.setup")),
        h("p", { class: "small muted steps-count" }, t("setup.step", { n: index + 1, total: STEPS.length })),
        h("ol", null, STEPS.map((step, i) => h("li", { key: step.name },
          h("a", { href: `#/setup/${step.name}`, "aria-current": i === index ? "step" : null },
            h("span", { class: isTrue(step) ? "step-mark done" : "step-mark" }, isTrue(step) ? icon("check", t("setup.done")) : i + 1), h("span", { class: "step-name" }, t(`setup.${step.name}`))))))),
      h("div", { class: "setup-body", key: name },
        h("h2", { class: "setup-title" }, t(`setup.${name}`)),
        h("p", { class: "muted setup-help no-print" }, t(`setup.${name}_help`)),
        brokenFiles(),
        this.#body(name),
        h("div", { class: "row spread setup-foot no-print" },
          index > 0 ? h("a", { class: "button", href: `#/setup/${STEPS[index - 1].name}` }, icon("left"), t("setup.back")) : h("span", null),
          index < STEPS.length - 1
            ? h("a", { class: "button primary", href: `#/setup/${STEPS[index + 1].name}` }, t("setup.next"), icon("right"))
            : h("a", { class: "button primary", href: "#/now" }, t("setup.finish"), icon("check")))));
  }

  /** @param {string} name */
  #body(name) {
    const site = documents.get("site");
    switch (name) {
      case "language": return this.#language();
      case "password": return this.#password();
      case "camera": return h("shoal-camera-step", null);
      case "surface": return site && this.#surface(site);
      case "output": return h("shoal-output-step", null);
      case "calibration": return h("shoal-calibration-step", null);
      case "lamp": return h("shoal-lamp-step", null);
      case "scene": return this.#scene();
      case "hours": return h("shoal-hours", null);
      default: return this.#report();
    }
  }

  /** The surface: which length is which, in the order in which they are measured. @param {import("../core/store.js").Doc} site */
  #surface(site) {
    const ctx = context([site], this.update, this.#state);
    const { surface } = schema.site.properties;
    const was = status.calibration.current?.surface_m;
    return h("section", { class: "card" },
      h("div", { class: "grid two" },
        h("div", { class: "rows" }, ["kind", "width_m", "height_m", "eye_height_m"].map((key) => editor(ctx, { ...surface.properties[key], title: t(`surface.title.${key}`) }, `surface.${key}`, key))),
        surfaceDrawing(site.effective.surface)),
      was?.[0] > 0 && isOtherSurface(was, site.effective.surface) && h("p", { class: "hint warn" }, icon("warn"), h("span", null, t("fault.calibration_surface"), " ", t("remedy.calibration_surface"))));
  }

  #language() {
    const choose = (/** @type {"en" | "de"} */ code) => {
      setLanguage(code);
      // The projection speaks the language of the site.
      if ("language" in schema.site.properties) send({ command: "edit", edits: [setEdit({ kind: "site" }, "language", code)] });
    };
    return h("div", { class: "choices" }, /** @type {const} */ ([["en", "English"], ["de", "Deutsch"]]).map(([code, title]) =>
      h("button", { key: code, type: "button", lang: code, "aria-pressed": String(language() === code), onclick: () => choose(code) }, h("span", { class: "grow" }, title), language() === code && icon("check"))));
  }

  #password() {
    return h("section", { class: "card stack narrow-card" },
      stateHint(t("password.set", { name: session.user ?? "" }), true, troubles(status).filter(({ name }) => name === "panel.users").map(troubleText)),
      h("details", { class: "fold" }, h("summary", null, t("password.change")),
        h("shoal-own-password", null)));
  }

  #scene() {
    const scenes = documentsOf("scene").sort((a, b) => sceneTitle(a.document.name).localeCompare(sceneTitle(b.document.name)));
    return h("div", { class: "scene-cards" }, scenes.map((doc) => {
      const name = doc.document.name ?? "";
      const population = Object.entries(doc.effective.population ?? {}).map(([species, n]) => `${n} ${species}`).join(", ");
      const kinds = doc.effective.surfaces;
      return h("button", { key: name, type: "button", "aria-pressed": String(name === status.scene), onclick: () => name !== status.scene && send({ command: "switch_scene", name }, done("now.done.scene", { scene: sceneTitle(name) })) },
        thumbnail("scene", name), h("strong", null, sceneTitle(name)), h("span", { class: "small muted" }, population),
        kinds?.length > 0 && h("span", { class: "small muted" }, t("setup.made_for", { kinds: kinds.map((/** @type {string} */ kind) => t(`surface.${kind}`)).join(", ") })),
        name === status.scene && h("span", { class: "pill accent" }, t("now.shown")));
    }));
  }

  #report() {
    const site = documents.get("site")?.effective ?? {};
    const calibration = status.calibration.current;
    const state = health(status);
    const faults = troubles(status).filter((trouble) => trouble.kind !== "good");
    /** @type {[string, any][]} */
    const rows = [
      [t("report.date"), date(new Date(status.time), { dateStyle: "long", timeStyle: "short" })],
      [t("report.version"), [status.versions.shoal, status.versions.kernel].filter(Boolean).join(" · ")],
      [t("report.health"), state.sentence],
      ...allCameras().map((camera) => /** @type {[string, any]} */ ([[t("live.camera"), camera.name].filter(Boolean).join(" "), [camera.source, rateText(camera), camera.kind !== "tracker" && `${t("live.level")} ${percent(camera.mean_level)} · ${t("live.saturated")} ${percent(camera.saturated_share)}`].filter(Boolean).join(" · ")])),
      [t("setup.surface"), `${t(`surface.${site.surface?.kind ?? "floor"}`)}, ${number(site.surface?.width_m ?? 0)} × ${number(site.surface?.height_m ?? 0)} m`],
      ...status.outputs.map((/** @type {any} */ output, /** @type {number} */ i) => [t("now.output", { n: i + 1 }), `${output.monitor || "–"} · ${output.size_px.join(" × ")} · ${t("unit.fps", { n: Math.round(output.fps) })}`]),
      [t("setup.calibration"), [calibration ? t("calibration.current", { mean: number(calibration.predicted_rms_m * 1000, 0), worst: number(calibration.predicted_worst_m * 1000, 0), date: when(calibration.date) }) : t("calibration.none"), ...calibrationDoubts().map((reason) => t("setup.no_longer", { reason }))].join(" ")],
      [t("setup.lamp"), lampText(calibration)],
      [t("setup.scene"), `${sceneTitle(status.scene)} · ${Object.entries(status.species).map(([name, s]) => `${/** @type {any} */ (s).count} ${name}`).join(", ")}`],
      [t("report.speed"), [t("report.speed_fish", { tick: number(status.timing.tick.p99_ms, 1) }), status.timing.draw.count > 0 && t("report.speed_picture", { draw: number(status.timing.draw.p99_ms, 1) })].filter(Boolean).join(" · ")],
      [t("report.user"), session.user ?? ""],
    ];
    return h("div", { class: "stack" }, this.#reach(site.panel?.listen), h("section", { class: "card report" },
      h("dl", { class: "report-list" }, rows.map(([name, value]) => [h("dt", { key: `t${name}` }, name), h("dd", { key: `d${name}` }, value)])),
      faults.length > 0 && h("ul", null, faults.map((trouble) => h("li", { key: trouble.name, class: `hint ${trouble.kind}` }, icon("warn"), h("span", null, troubleText(trouble))))),
      h("div", { class: "row no-print top" }, h("button", { type: "button", class: "primary", onclick: () => print() }, icon("print"), t("report.print")),
        status.unsaved.length > 0 && h("button", { type: "button", onclick: () => send({ command: "save" }, t("changes.saved")) }, icon("save"), t("changes.save")))));
  }

  /** Asks whether the network reaches the panel after a start for the set-up, too. @param {string | undefined} listen */
  #reach(listen) {
    const isHere = ["localhost", "[::1]"].includes(location.hostname) || location.hostname.startsWith("127.");
    if (isHere || (listen !== "local" && !this.#isReachSet)) return null;
    const allow = async () => {
      this.#isReachSet = await send({ command: "edit", edits: [setEdit({ kind: "site" }, "panel.listen", "lan")] });
      this.update();
    };
    return h("section", { class: "card stack no-print" },
      h("h2", null, t("report.reach")),
      this.#isReachSet
        ? stateHint([t("report.reach_done"), !isSiteSaved() && t("setup.unsaved")].filter(Boolean).join(" "), isSiteSaved())
        : [h("p", null, t("report.reach_help")),
          h("div", null, h("button", { type: "button", class: "primary", onclick: allow }, t("report.reach_yes"))),
          h("p", { class: "small muted" }, t("report.reach_no"))]);
  }
}

customElements.define("shoal-setup", Setup);
