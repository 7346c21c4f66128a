// Step of the installation: the outputs, their monitors and their corners.

import { get } from "../core/api.js";
import { h, View } from "../core/dom.js";
import { t } from "../core/i18n.js";
import { documents, schema, send, setEdit, status } from "../core/store.js";
import { on } from "../core/topics.js";
import { context } from "../editor/context.js";
import { editor } from "../editor/form.js";
import { join } from "../editor/schema.js";
import { confirmed } from "../parts/dialog.js";
import { troubles, troubleText } from "../parts/health.js";
import { icon } from "../parts/icons.js";
import "./corner_editor.js";
import { stateHint } from "./steps.js";

/** Test pictures, in the order of their use. `blend` only says something about several projectors. */
const PATTERNS = ["grid", "corners", "rulers", "targets", "outputs", "blend"];
/** Size of a window, which full screen replaces by that of the monitor. */
const WINDOW_SIZE = ["width_px", "height_px"];

class OutputStep extends View {
  #index = 0;
  /** The corner that the test picture marks. */
  #corner = "top_left";
  /** Whether this page has shown the test picture, and ends it. */
  #hasShown = false;
  /** Monitors that are connected; `null` if there is no display that could list them. @type {{ name: string, size_px: number[] }[] | null} */
  #monitors = null;
  #state = { open: new Set(), wrong: new Map() };

  start() {
    for (const topic of ["documents", "language", "status"]) this.until(on(topic, this.update));
    get("/monitors").then((answer) => {
      this.#monitors = answer.monitors ?? null;
      this.update();
    }).catch(() => {});
  }

  stop() {
    if (this.#hasShown && status?.test_picture) this.#show(null);
  }

  view() {
    const site = documents.get("site");
    if (!site || schema === null || status === null) return null;
    const outputs = site.effective.outputs ?? [];
    const ctx = context([site], this.update, this.#state);
    const add = async () => {
      const isAdded = await send({ command: "edit", edits: [{ document: site.document, path: "outputs", change: { do: "insert", value: { width_px: 1920, height_px: 1080 } } }] });
      if (isAdded) this.#choose(outputs.length);
    };
    if (outputs.length === 0) return h("div", { class: "empty column" }, h("p", null, unnamed()), h("div", { class: "center" }, h("button", { type: "button", class: "primary", onclick: add }, icon("plus"), t("output.add"))));
    const index = Math.min(this.#index, outputs.length - 1);
    const path = join("outputs", index);
    const output = outputs[index];
    const shown = status.outputs[index];
    const size = shown?.size_px?.[0] > 0 ? shown.size_px : [output.width_px, output.height_px];
    const item = schema.site.properties.outputs.items;
    return [
      h("div", { class: "row spread" },
        h("div", { class: "segments", role: "group", "aria-label": t("output.which") }, outputs.map((/** @type {any} */ _, /** @type {number} */ i) =>
          h("button", { key: i, type: "button", "aria-pressed": String(i === index), onclick: () => this.#choose(i) }, t("now.output", { n: i + 1 })))),
        h("div", { class: "row" },
          h("button", { type: "button", onclick: add }, icon("plus"), t("output.add")),
          outputs.length > 1 && h("button", { type: "button", class: "plain square", "aria-label": t("output.remove"), onclick: () => this.#remove(ctx, path) }, icon("trash")))),
      h("div", { class: "grid two top" },
        h("section", { class: "card" },
          this.#test(outputs.length),
          h("h2", { class: "top" }, t("corners.title")),
          h("p", { class: "muted" }, t("corners.help")),
          h("shoal-corners", { key: index, output: { corners: output.corners, size_px: size }, onchoose: (/** @type {any} */ e) => this.#mark(e.detail), oncorner: (/** @type {any} */ e) => send({ command: "edit", edits: [setEdit(site.document, join(join(path, "corners"), e.detail.name), e.detail.value)] }) })),
        h("div", { class: "column" },
          h("section", { class: "card" }, h("h2", null, t("output.monitor")), this.#monitor(site.document, path, output, shown)),
          h("section", { class: "card" }, h("h2", null, t("output.more")), h("p", { class: "muted" }, t("output.more_help")), editor(ctx, item, path, "", { isBare: true, skip: ["corners", "monitor", ...WINDOW_SIZE] }),
            h("details", { class: "fold" }, h("summary", null, t("output.window_size")), h("p", { class: "muted" }, t("output.window_size_help")),
              WINDOW_SIZE.map((key) => editor(ctx, item.properties[key], join(path, key), key)))))),
    ];
  }

  /** Shows another projector, as soon as it is in the documents. @param {number} index */
  #choose(index) {
    this.#index = index;
    if (status.test_picture) this.#show(status.test_picture.pattern);
    this.update();
  }

  /** The choice of a test picture. @param {number} outputs */
  #test(outputs) {
    const isPossible = status.outputs.length > 0;
    const shown = status.test_picture?.pattern ?? null;
    const names = [null, ...PATTERNS.filter((name) => name !== "blend" || outputs > 1)];
    return [
      h("h2", null, t("output.test")),
      h("div", { class: "chips wrap", role: "group", "aria-label": t("output.test") }, names.map((name) =>
        h("button", { key: name ?? "off", type: "button", disabled: !isPossible, "aria-pressed": String(name === shown), onclick: () => this.#show(name) }, t(`output.test.${name ?? "off"}`)))),
      h("p", { class: "small muted" }, isPossible ? shown && PATTERNS.includes(shown) ? t(`output.test_what.${shown}`) : t("output.test_help") : t("output.test_impossible")),
    ];
  }

  /** Shows a test picture that marks the chosen corner, or the fish again. @param {string | null} pattern */
  #show(pattern) {
    this.#hasShown = pattern !== null;
    return send(pattern === null ? { command: "test_picture" } : { command: "test_picture", pattern, corner: { output: this.#index, corner: this.#corner } });
  }

  /** @param {string} corner */
  #mark(corner) {
    this.#corner = corner;
    if (status.test_picture) this.#show(status.test_picture.pattern);
  }

  /** @param {import("../core/store.js").DocumentName} document @param {string} path @param {any} output @param {any} shown */
  #monitor(document, path, output, shown) {
    // A monitor that is chosen but not connected stays in the list.
    const names = [...new Set([...(this.#monitors ?? []).map((monitor) => monitor.name), output.monitor].filter(Boolean))];
    const choose = (/** @type {string} */ name) => send({ command: "edit", edits: [setEdit(document, join(path, "monitor"), name)] });
    const state = shown?.monitor ? t("output.shown_on", { monitor: shown.monitor, width: String(shown.size_px[0]), height: String(shown.size_px[1]) }) : t("output.not_shown");
    return [
      stateHint(state, Boolean(shown?.monitor), troubles(status).filter(({ name }) => name === "picture" || name === "monitor").map(troubleText)),
      h("div", { class: "field top" }, h("label", { for: "monitor" }, t("output.monitor_name")),
        this.#monitors
          ? h("select", { id: "monitor", value: output.monitor ?? "", onchange: (/** @type {any} */ e) => choose(e.target.value) },
            h("option", { value: "" }, t("output.any_monitor")),
            names.map((name) => h("option", { key: name, value: name }, monitorText(name, this.#monitors))))
          : h("input", { id: "monitor", value: output.monitor ?? "", placeholder: t("output.any_monitor"), onchange: (/** @type {any} */ e) => choose(e.target.value) })),
    ];
  }

  /** @param {import("../editor/fields.js").Context} ctx @param {string} path */
  async #remove(ctx, path) {
    if (await confirmed({ title: t("output.remove"), text: t("output.remove_text"), yes: t("output.remove"), isDanger: true })) {
      ctx.send([{ document: ctx.docs[0].document, path, change: { do: "remove" } }]);
    }
  }
}

/** Says what is shown while no projector is set up. */
function unnamed() {
  const shown = status.outputs.map((/** @type {any} */ output) => output.monitor).filter(Boolean);
  return shown.length > 0 ? t("output.unnamed", { monitor: shown.join(", ") }) : t("output.none");
}

/** @param {string} name @param {{ name: string, size_px: number[] }[] | null} monitors */
function monitorText(name, monitors) {
  const size = monitors?.find((monitor) => monitor.name === name)?.size_px;
  return size ? `${name} (${size.join(" × ")})` : t("output.not_connected", { monitor: name });
}

customElements.define("shoal-output-step", OutputStep);
