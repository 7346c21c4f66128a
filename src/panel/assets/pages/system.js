// For the technician: faults and events, log, files, users, tokens, backup, and the machine.

import { ApiError, downloadUrl, get, post, session, upload } from "../core/api.js";
import { h, View } from "../core/dom.js";
import { bytes, date, duration, known, t, when } from "../core/i18n.js";
import { complain, documents, errorText, events, fileOf, keyOf, schema, send, status, useDocuments } from "../core/store.js";
import { on } from "../core/topics.js";
import { context } from "../editor/context.js";
import { editor } from "../editor/form.js";
import { brokenFiles } from "../parts/broken.js";
import "../parts/code_editor.js";
import "../parts/versions.js";
import "../parts/access.js";
import "../parts/notebook.js";
import "../parts/recordings.js";
import { asked, confirmed, openDialog } from "../parts/dialog.js";
import { describe } from "../parts/event_text.js";
import { troubles } from "../parts/health.js";
import { icon } from "../parts/icons.js";
import { notify, notifyDone } from "../parts/notices.js";
import { otherMachines } from "../parts/remote.js";
import { restartNeeded, restartProgram } from "../parts/restart.js";
import { tabPanel, tabs } from "../parts/tabs.js";
import { mayLeave } from "../parts/unfinished.js";

/** @typedef {{ number: number, time: string, level: string, target: string, message: string }} LogLine */
/** @typedef {{ name: string, role: string, has_pin: boolean, has_password?: boolean, created: string }} User */
/** @typedef {{ id: string, label: string, role: string, created: string }} Token */

const LOG_MS = 3000;
/** Number of lines on the page. */
const SHOWN_MAX = 300;
/** Events of visitors and fish, of which there are many. */
const OF_THE_POOL = /visitor|hunt_began|prey_caught|fish_leapt|rule_/;
const ROLES = ["view", "operate", "admin"];

class System extends View {
  #tab = "events";
  #filter = "";
  #kinds = "operation";
  #level = "info";
  /** @type {LogLine[] | null} */
  #lines = null;
  /** @type {User[] | null} */
  #users = null;
  /** @type {Token[] | null} */
  #tokens = null;
  #file = "site";
  #state = { open: new Set(), wrong: new Map() };
  /** Older events than the page has heard. @type {import("../core/store.js").PoolEvent[]} */
  #older = [];

  start() {
    this.until(useDocuments(), ...["documents", "language", "event"].map((topic) => on(topic, this.update)));
    let last = 0;
    this.until(on("status", () => {
      if (Date.now() - last < 1000) return;
      last = Date.now();
      this.update();
    }));
    const timer = setInterval(() => this.#tab === "log" && this.#readLog(), LOG_MS);
    this.until(() => clearInterval(timer));
    this.#readEvents();
    this.until(on("restarted", () => this.#readEvents()));
  }

  #readEvents() {
    get("/events?after=0").then((page) => {
      this.#older = page.events;
      this.update();
    }).catch(() => {});
  }

  view() {
    if (status === null) return h("p", { class: "muted" }, t("connecting"));
    const list = /** @type {[string, string][]} */ (["events", "log", "settings", "files", "users", "tokens", "devices", "audit", "backup", "recordings", "notebook", "remote", "machine"].map((tab) => [tab, t(`system.tab.${tab}`)]));
    return [
      h("div", { class: "page-head", key: "head" }, h("h1", null, t("page.system"))),
      brokenFiles(),
      tabs(t("page.system"), list, this.#tab, (tab) => this.#open(tab)),
      tabPanel(this.#tab, this.#panel()),
    ];
  }

  /** @param {string} tab */
  #open(tab) {
    this.#tab = tab;
    if (tab === "log") this.#readLog();
    if (tab === "users") get("/users").then((answer) => this.#takeUsers(answer)).catch(complain);
    if (tab === "tokens") get("/tokens").then((answer) => { this.#tokens = answer.tokens; this.update(); }).catch(complain);
    this.update();
  }

  #panel() {
    switch (this.#tab) {
      case "log": return this.#log();
      case "settings": return this.#settings();
      case "files": return this.#files();
      case "users": return this.#userList();
      case "tokens": return this.#tokenList();
      case "devices": return h("shoal-devices", { key: "devices" });
      case "audit": return h("shoal-audit", { key: "audit" });
      case "backup": return this.#backup();
      case "recordings": return h("shoal-recordings", { key: "recordings" });
      case "notebook": return h("shoal-notebook", { key: "notebook" });
      case "remote": return otherMachines(status, this.#testButton());
      case "machine": return this.#machine();
      default: return this.#events();
    }
  }

  #events() {
    const active = troubles(status).filter((trouble) => trouble.kind !== "good");
    const first = events[0]?.number ?? Infinity;
    const all = [...this.#older.filter((event) => event.number < first), ...events].reverse();
    const fits = (/** @type {import("../core/store.js").PoolEvent} */ event) => {
      if (this.#kinds === "operation" && OF_THE_POOL.test(event.event)) return false;
      if (this.#kinds === "faults" && !/fault|stage_restarted/.test(event.event)) return false;
      if (this.#kinds === "changes" && !/command/.test(event.event)) return false;
      if (this.#kinds === "visitors" && !OF_THE_POOL.test(event.event)) return false;
      return this.#filter === "" || JSON.stringify(event).toLowerCase().includes(this.#filter.toLowerCase()) || describe(event).text.toLowerCase().includes(this.#filter.toLowerCase());
    };
    const shown = all.filter(fits).slice(0, SHOWN_MAX);
    return [
      active.length > 0 && h("section", { class: "column bottom", key: "active" }, h("h2", null, t("system.active")), active.map((trouble) =>
        h("div", { key: trouble.name, class: `hint ${trouble.kind}` }, icon("warn"), h("div", null, h("strong", null, trouble.title), " ", trouble.since, h("p", null, trouble.remedy), h("p", { class: "small muted", lang: "en" }, trouble.detail))))),
      h("section", { class: "card", key: "list" },
        h("div", { class: "row" },
          h("div", { class: "segments", role: "group", "aria-label": t("system.which") }, ["operation", "faults", "changes", "visitors", "all"].map((kind) => h("button", { key: kind, type: "button", "aria-pressed": String(this.#kinds === kind), onclick: () => { this.#kinds = kind; this.update(); } }, t(`system.kind.${kind}`)))),
          this.#search(),
          h("button", { type: "button", onclick: () => saveText("shoal-events.jsonl", all.filter(fits).map((event) => JSON.stringify(event)).join("\n")) }, icon("download"), t("system.download"))),
        shown.length === 0 ? h("p", { class: "muted top" }, t("system.no_event")) :
          h("ol", { class: "events" }, shown.map((event) => {
            const { kind, text, detail } = describe(event);
            const drawings = { good: "check", bad: "bad", warn: "warn", info: "info" };
            return h("li", { key: event.number, class: kind }, icon(drawings[kind]), h("time", { class: "small muted number", datetime: event.time }, when(event.time)), h("span", { class: "grow" }, text, detail && h("span", { class: "small muted", lang: "en" }, " ", detail)));
          }))),
    ];
  }

  #search() {
    return h("div", { class: "search" }, icon("search"), h("input", { type: "search", value: this.#filter, placeholder: t("system.filter"), "aria-label": t("system.filter"), oninput: (/** @type {any} */ e) => { this.#filter = e.target.value; this.update(); } }));
  }

  async #readLog() {
    const answer = await get(`/log?after=0&level=${this.#level}`).catch(() => null);
    this.#lines = answer?.lines ?? this.#lines ?? [];
    this.update();
  }

  #log() {
    const lines = (this.#lines ?? []).filter((line) => `${line.target} ${line.message}`.toLowerCase().includes(this.#filter.toLowerCase())).slice(-SHOWN_MAX).reverse();
    return h("section", { class: "card" },
      h("div", { class: "row" },
        h("label", { class: "row tight" }, t("system.level"), h("select", { value: this.#level, onchange: (/** @type {any} */ e) => { this.#level = e.target.value; this.#readLog(); } }, ["error", "warn", "info", "debug"].map((level) => h("option", { key: level, value: level }, t(`system.level.${level}`))))),
        this.#search(),
        h("a", { class: "button", href: downloadUrl("/log.txt"), download: "shoal-log.txt" }, icon("download"), t("system.download"))),
      lines.length === 0 ? h("p", { class: "muted top" }, t("system.no_line")) :
        h("ol", { class: "events log", lang: "en" }, lines.map((line) => h("li", { key: line.number, class: line.level === "error" ? "bad" : line.level },
          h("time", { class: "small muted number", datetime: line.time }, when(line.time)), h("span", { class: "pill" }, line.level), h("code", { class: "grow" }, h("span", { class: "muted" }, line.target, " "), line.message)))));
  }

  #settings() {
    const site = documents.get("site");
    if (!site || schema === null) return h("p", { class: "muted" }, t("connecting"));
    const ctx = context([site], this.update, this.#state);
    const elsewhere = ["scene", "surface", "camera", "outputs", "schedule", "language"];
    return [
      h("p", { class: "muted" }, t("system.settings_help")),
      restartNeeded(status),
      editor(ctx, schema.site, "", "", { isBare: true, skip: elsewhere }),
      "alerts" in schema.site.properties && this.#testButton(),
    ];
  }

  #isTesting = false;

  #testButton() {
    return h("div", { class: "row top", key: "test" }, h("button", { type: "button", disabled: (status.deliveries.length === 0 && status.osc.sent === 0) || this.#isTesting, onclick: () => this.#testAlert() }, t(this.#isTesting ? "system.testing" : "system.test_alert")));
  }

  /** Sends a test message on all ways, and waits until it is delivered. */
  async #testAlert() {
    this.#isTesting = true;
    this.update();
    await send({ command: "test_alert" }, t("system.test_sent"));
    this.#isTesting = false;
    this.update();
  }

  #files() {
    const names = [...documents.values()];
    const doc = documents.get(this.#file) ?? names[0];
    if (!doc) return h("p", { class: "muted" }, t("connecting"));
    return [h("section", { class: "card stack" },
      h("div", { class: "field" }, h("label", { for: "file" }, t("system.file")),
        h("select", { id: "file", value: keyOf(doc.document), onchange: (/** @type {any} */ e) => this.#openFile(e.target) },
          names.map((other) => h("option", { key: keyOf(other.document), value: keyOf(other.document) }, fileOf(other.document), other.broken_text !== undefined ? ` – ${t("system.broken")}` : other.is_unsaved ? ` – ${t("system.unsaved")}` : "")))),
      h("shoal-code", { key: keyOf(doc.document), doc })),
    h("shoal-versions", { key: `versions of ${keyOf(doc.document)}`, doc })];
  }

  /** @param {HTMLSelectElement} choice */
  async #openFile(choice) {
    const next = choice.value;
    if (await mayLeave()) this.#file = next;
    else choice.value = this.#file;
    this.update();
  }

  /** @param {{ users: User[] }} answer */
  #takeUsers(answer) {
    this.#users = answer.users;
    this.update();
  }

  /** Changes a user. Returns what was wrong, or nothing. @param {any} change @param {string} done @returns {Promise<ApiError | null>} */
  async #changeUser(change, done) {
    try {
      const answer = await post("/users", change);
      this.#takeUsers(answer);
      notifyDone(done, answer.unsaved);
      return null;
    } catch (error) {
      return /** @type {ApiError} */ (error);
    }
  }

  #userList() {
    if (this.#users === null) return h("p", { class: "muted" }, t("connecting"));
    return h("section", { class: "card stack" },
      h("p", { class: "muted" }, t("users.help")),
      h("ul", { class: "items" }, this.#users.map((user) => h("li", { key: user.name, class: "item user" },
        h("div", { class: "grow" }, h("strong", null, user.name), user.name === session.user && h("span", { class: "pill accent" }, t("users.you")), h("br", null), h("span", { class: "small muted" }, t(`users.role.${user.role}`), user.has_pin && ` · ${t("users.has_pin")}`)),
        h("button", { type: "button", onclick: () => this.#editUser(user) }, icon("edit"), t("users.edit")),
        user.name !== session.user && h("button", { type: "button", class: "plain square", "aria-label": t("edit.remove", { name: user.name }), onclick: () => this.#removeUser(user) }, icon("trash"))))),
      h("div", { class: "row" }, h("button", { type: "button", class: "primary", onclick: () => this.#editUser(null) }, icon("plus"), t("users.add"))));
  }

  /** @param {User} user */
  async #removeUser(user) {
    if (await confirmed({ title: t("edit.remove", { name: user.name }), text: t("users.remove_text"), yes: t("life.remove"), isDanger: true })) {
      const wrong = await this.#changeUser({ name: user.name, remove: true }, t("life.removed", { name: user.name }));
      if (wrong) complain(wrong);
    }
  }

  /** @param {User | null} user */
  #editUser(user) {
    const values = { name: user?.name ?? "", role: user?.role ?? "operate", password: "", pin: "" };
    let wrong = "";
    // What was typed stays until it is accepted.
    const change = async (/** @type {any} */ next, /** @type {() => void} */ close, /** @type {() => void} */ update) => {
      const error = await this.#changeUser(next, t("users.saved", { name: next.name }));
      wrong = error ? errorText(error) : "";
      if (error) update();
      else close();
    };
    openDialog(user ? user.name : t("users.add"), (close, update) => h("form", { class: "stack", onsubmit: (/** @type {Event} */ e) => {
      e.preventDefault();
      change({ name: values.name, role: values.role, ...(values.password && { password: values.password }), ...(values.pin && { pin: values.pin }) }, close, update);
    } },
      !user && h("div", { class: "field" }, h("label", { for: "user-name" }, t("edit.name")), h("input", { id: "user-name", required: true, autocomplete: "off", value: values.name, oninput: (/** @type {any} */ e) => { values.name = e.target.value; } })),
      h("fieldset", null, h("legend", { class: "legend-label" }, t("users.may")), ROLES.map((role) => h("label", { key: role, class: "tick" },
        h("input", { type: "radio", name: "role", checked: values.role === role, onchange: () => { values.role = role; update(); } }),
        h("span", null, h("strong", null, t(`users.role.${role}`)), h("br", null), h("span", { class: "small muted" }, t(`users.role_what.${role}`)))))),
      h("div", { class: "field" }, h("label", { for: "user-password" }, t(user ? "users.new_password" : "login.password")), h("input", { id: "user-password", type: "password", autocomplete: "new-password", value: values.password, oninput: (/** @type {any} */ e) => { values.password = e.target.value; } }), h("p", { class: "help" }, t("first.password_help", { n: 10 }))),
      values.role !== "admin" && h("div", { class: "field" }, h("label", { for: "user-pin" }, t("users.pin")), h("input", { id: "user-pin", inputmode: "numeric", autocomplete: "off", maxlength: 8, value: values.pin, oninput: (/** @type {any} */ e) => { values.pin = e.target.value; } }), h("p", { class: "help" }, t("users.pin_help"))),
      wrong && h("p", { class: "hint bad", role: "alert" }, icon("warn"), h("span", null, wrong)),
      h("div", { class: "row end" },
        user?.has_pin && h("button", { type: "button", class: "plain", onclick: () => change({ name: user.name, pin: "" }, close, update) }, t("users.remove_pin")),
        h("button", { type: "button", onclick: close }, t("cancel")), h("button", { type: "submit", class: "primary" }, t("users.save")))));
  }

  #tokenList() {
    if (this.#tokens === null) return h("p", { class: "muted" }, t("connecting"));
    return h("section", { class: "card stack" },
      h("p", { class: "muted" }, t("tokens.help")),
      this.#tokens.length === 0 && h("p", { class: "empty" }, t("tokens.none")),
      h("ul", { class: "items" }, this.#tokens.map((token) => h("li", { key: token.id, class: "item user" },
        h("div", { class: "grow" }, h("strong", null, token.label), h("br", null), h("span", { class: "small muted" }, t(`users.role.${token.role}`), " · ", when(token.created))),
        h("button", { type: "button", class: "plain square", "aria-label": t("edit.remove", { name: token.label }), onclick: () => this.#removeToken(token) }, icon("trash"))))),
      h("div", { class: "row" }, ROLES.map((role) => h("button", { key: role, type: "button", onclick: () => this.#addToken(role) }, icon("plus"), t("tokens.add", { role: t(`users.role.${role}`) })))));
  }

  /** @param {string} role */
  async #addToken(role) {
    const label = await asked({ title: t("tokens.new"), label: t("edit.name"), help: t("tokens.name_help"), yes: t("edit.add") });
    if (!label) return;
    try {
      const answer = await post("/tokens", { label, role });
      this.#tokens = answer.tokens;
      this.update();
      await openDialog(label, (close) => [h("p", null, t("tokens.once")), h("code", { class: "token" }, answer.token),
        h("div", { class: "row end" }, h("button", { type: "button", onclick: () => navigator.clipboard?.writeText(answer.token).then(() => notify("good", t("tokens.copied"))) }, t("tokens.copy")), h("button", { type: "button", class: "primary", onclick: close }, t("close")))]);
    } catch (error) {
      complain(/** @type {ApiError} */ (error));
    }
  }

  /** @param {Token} token */
  async #removeToken(token) {
    if (!(await confirmed({ title: t("edit.remove", { name: token.label }), text: t("tokens.remove_text"), yes: t("life.remove"), isDanger: true }))) return;
    try {
      this.#tokens = (await post("/tokens", { remove: token.id })).tokens;
      this.update();
    } catch (error) {
      complain(/** @type {ApiError} */ (error));
    }
  }

  #backup() {
    return h("div", { class: "grid two" },
      h("section", { class: "card stack" }, h("h2", null, t("backup.title")), h("p", { class: "muted" }, t("backup.help")),
        h("a", { class: "button primary", href: downloadUrl("/backup"), download: true }, icon("download"), t("backup.get"))),
      h("section", { class: "card stack" }, h("h2", null, t("backup.restore")), h("p", { class: "muted" }, t("backup.restore_help")),
        h("div", { class: "field" }, h("label", { for: "archive" }, t("backup.file")), h("input", { id: "archive", type: "file", accept: ".tar", onchange: (/** @type {any} */ e) => this.#restore(e.target) }))));
  }

  /** @param {HTMLInputElement} input */
  async #restore(input) {
    const file = input.files?.[0];
    input.value = "";
    if (!file || !(await confirmed({ title: t("backup.restore"), text: t("backup.restore_text", { name: file.name }), yes: t("backup.restore"), isDanger: true }))) return;
    try {
      await upload("/restore", file, "application/x-tar");
      notify("good", t("backup.restored"));
    } catch (error) {
      complain(/** @type {ApiError} */ (error));
    }
  }

  #machine() {
    const { versions, machine } = status;
    return h("div", { class: "grid two" }, h("div", { class: "column wide-gap" },
      h("section", { class: "card" }, h("h2", null, t("machine.title")), h("dl", { class: "facts" },
        h("dt", null, "Shoal"), h("dd", null, versions.shoal),
        h("dt", null, t("machine.kernel")), h("dd", null, versions.kernel || "–"),
        h("dt", null, t("machine.picture")), h("dd", null, versions.picture || "–"),
        h("dt", null, t("machine.running")), h("dd", null, duration(status.uptime_secs)),
        h("dt", null, t("machine.time")), h("dd", null, date(new Date(status.time), { dateStyle: "medium", timeStyle: "medium" })),
        h("dt", null, t("machine.memory")), h("dd", null, t("machine.of_most", { now: bytes(machine.memory_bytes), most: bytes(machine.memory_max_bytes) })),
        h("dt", null, t("machine.disk")), h("dd", null, bytes(machine.disk_free_bytes)),
        h("dt", null, t("file.site")), h("dd", null, status.site || t("machine.built_in")))),
      h("section", { class: "card stack" }, h("h2", null, t("machine.restart")), h("p", { class: "muted" }, t("machine.restart_help")),
        h("div", { class: "row" }, this.#restartable().map((stage) => h("button", { key: stage, type: "button", onclick: () => this.#restart(stage) }, t(`machine.restart.${stage}`)))),
        h("div", { class: "row" }, h("button", { type: "button", onclick: restartProgram }, icon("power"), t("machine.restart.program"))))),
      h("section", { class: "card" }, h("h2", null, t("machine.stages")), h("ul", { class: "legend" }, status.stages.map((/** @type {any} */ stage) => h("li", { key: stage.name },
        icon(stage.is_well ? "check" : "warn"), h("span", { class: "grow" }, known("stage", stage.name) ?? stage.name, h("br", null), h("span", { class: "small muted" }, stage.is_well ? t("machine.well", { time: duration(stage.for_secs) }) : stage.state)),
        stage.restarts > 0 && h("span", { class: "pill warn" }, t("machine.restarts", { n: stage.restarts }))))),
        restartNeeded(status)));
  }

  /** The stages that can be restarted here: a pool without a picture has no projectors. */
  #restartable() {
    const runs = (/** @type {string} */ name) => status.stages.some((/** @type {any} */ stage) => stage.name === name);
    return ["camera", "vision", "simulation", "render", "all"].filter((stage) => stage !== "render" || runs("render"));
  }

  /** @param {string} stage */
  async #restart(stage) {
    const what = t(`machine.restart.${stage}`);
    if (!(await confirmed({ title: t("machine.restart_title", { what }), text: t(`machine.restart_what.${stage}`), yes: t("machine.restart_yes") }))) return;
    await send({ command: "restart", stage }, t("machine.restarted", { what }));
  }
}

/** Saves a text as a file on this device. @param {string} name @param {string} text */
function saveText(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

customElements.define("shoal-system", System);
