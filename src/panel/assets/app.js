// The frame of the panel: log-in, navigation, connection, bar of unsaved changes.

import { changeSession, hasEnded, isOutdated, isSessionKnown, leaveSession, loadSession, may, session, setPasswordQuestion } from "./core/api.js";
import { h, View } from "./core/dom.js";
import { clock, language, setLanguage, t } from "./core/i18n.js";
import { complain, send, status } from "./core/store.js";
import { closeStream, connection, newsAt, openStream, subscribe } from "./core/stream.js";
import { emit, on } from "./core/topics.js";
import { setTheme, theme } from "./core/theme.js";
import { health } from "./parts/health.js";
import { icon } from "./parts/icons.js";
import { endRejections, notify } from "./parts/notices.js";
import { openDialog } from "./parts/dialog.js";
import { overlayNotice } from "./parts/overlay_switch.js";
import { askPassword } from "./parts/password.js";
import "./parts/access.js";
import { describeCommand } from "./parts/event_text.js";
import { nextStepText, step } from "./parts/undo.js";
import "./pages/hours.js";
import "./pages/life.js";
import "./pages/live.js";
import "./pages/login.js";
import "./pages/now.js";
import "./pages/scenes.js";
import "./pages/setup.js";
import "./pages/system.js";
import "./pages/visitors.js";

/** @typedef {{ name: string, role: import("./core/api.js").Role, onPhone: boolean, isEditor?: boolean }} Page */

/** The pages, in the order of the navigation. @type {Page[]} */
const PAGES = [
  { name: "now", role: "view", onPhone: true },
  { name: "live", role: "view", onPhone: true },
  { name: "visitors", role: "view", onPhone: false },
  { name: "life", role: "operate", onPhone: true, isEditor: true },
  { name: "scenes", role: "admin", onPhone: false, isEditor: true },
  { name: "hours", role: "operate", onPhone: true, isEditor: true },
  { name: "setup", role: "admin", onPhone: false, isEditor: true },
  { name: "system", role: "admin", onPhone: false, isEditor: true },
];

/** Returns the page that the address names. */
function currentPage() {
  const name = location.hash.replace(/^#\/?/, "").split("/")[0];
  const allowed = PAGES.filter((page) => may(page.role));
  return allowed.find((page) => page.name === name) ?? allowed[0];
}

/** What *Save* writes. The site file is written at once; if it is unsaved, the disk refuses it, which is a fault. */
const drafts = () => status.unsaved.filter((/** @type {any} */ name) => name.kind !== "site");

class App extends View {
  #menuIsOpen = false;
  #unsubscribe = () => {};
  /** @type {string | null} */
  #shownPage = null;

  start() {
    for (const topic of ["session", "language", "connection", "theme"]) this.until(on(topic, this.update));
    this.until(on("session", () => this.#followSession()));
    this.until(on("unsaved", () => notify("info", t("unsaved"))));
    this.until(on("restarted", () => session.user !== null && notify("info", t("restarted"))));
    setPasswordQuestion(askPassword);
    this.until(on("status", () => this.#followStatus()));
    this.until(on("event", (event) => this.#tellWhoChanged(event)));
    window.addEventListener("hashchange", () => {
      this.#menuIsOpen = false;
      endRejections();
      this.update();
    });
    document.addEventListener("keydown", (event) => this.#onKey(event));
    this.#load();
  }

  async #load() {
    try {
      await loadSession();
    } catch {
      setTimeout(() => this.#load(), 1500);
      this.update();
    }
  }

  /** The user whose page is shown. @type {string | null} */
  #user = null;

  #followSession() {
    this.#unsubscribe();
    this.#unsubscribe = () => {};
    const isOther = this.#user !== null && session.user !== null && session.user !== this.#user;
    this.#user = session.user;
    if (isOther) notify("bad", t("ended.other", { name: session.user ?? "" }));
    if (hasEnded) this.#askLogin();
    else this.#closeLogin();
    if (session.user === null || hasEnded) return closeStream();
    this.#unsubscribe = subscribe("status", "events");
    openStream();
  }

  /** Closes the question for the log-in. @type {() => void} */
  #closeLogin = () => {};
  #isAsking = false;

  /** Asks for a log-in after a session that ended. What was entered in the page stays in it. */
  async #askLogin() {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const name = session.user ?? "";
    await openDialog(t("ended.title"), (close) => {
      this.#closeLogin = close;
      return [h("p", null, t("ended.what", { name })), h("shoal-login", null)];
    });
    this.#isAsking = false;
    this.#closeLogin = () => {};
    if (hasEnded) leaveSession();
  }

  #lastFrame = "";

  /** The frame shows little of the status, so it is drawn only if that changed. */
  #followStatus() {
    const next = JSON.stringify([status.unsaved, status.undo, status.redo, health(status), status.site, status.calibration.is_running, status.test_picture, status.overlay?.show, Math.round((status.overlay?.left_secs ?? 0) / 10)]);
    if (next !== this.#lastFrame) this.update();
    this.#lastFrame = next;
  }

  /** @param {import("./core/store.js").PoolEvent} event */
  #tellWhoChanged(event) {
    if (event.event !== "command_applied") return;
    const isMine = event.source.kind === "panel" && event.source.name === session.user;
    // Events of the past come too when the page opens.
    const isOld = Date.now() - Date.parse(event.time) > 10_000 && status && Date.parse(status.time) - Date.parse(event.time) > 10_000;
    if (isMine || isOld || ["calibrate", "director", "test_picture", "overlay"].includes(event.command)) return;
    notify("info", describeCommand(event));
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (event.key === "Escape" && this.#menuIsOpen) this.#toggleMenu(false);
    const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
    if (!(event.ctrlKey || event.metaKey) || !may("operate")) return;
    if (event.key === "s") {
      event.preventDefault();
      if (status?.unsaved.length > 0) send({ command: "save" }, t("changes.saved"));
    } else if (event.key.toLowerCase() === "z" && !isTyping && may("admin")) {
      event.preventDefault();
      step(event.shiftKey ? "redo" : "undo");
    }
  }

  /** @param {boolean} isOpen */
  #toggleMenu(isOpen) {
    this.#menuIsOpen = isOpen;
    this.update();
    requestAnimationFrame(() => {
      const target = isOpen ? ".sheet a, .sheet button" : "#menu-button";
      /** @type {HTMLElement | null} */ (this.querySelector(target))?.focus();
    });
  }

  view() {
    if (!isSessionKnown) return h("div", { class: "waiting" }, h("p", { class: "muted" }, t("connecting")));
    if (session.setup_needed || session.user === null) return h("shoal-login", { key: "login" });
    const page = currentPage();
    document.title = `${t(`page.${page.name}`)} · Shoal`;
    const isNew = this.#shownPage !== null && this.#shownPage !== page.name;
    this.#shownPage = page.name;
    if (isNew) requestAnimationFrame(() => this.#focusPage());
    const hasChanges = this.#hasChangeBar(page);
    // Another user gets a new page.
    return h("div", { class: ["shell", hasChanges && "with-changes", hasEnded && "ended"].filter(Boolean).join(" "), key: `shell ${session.user}` },
      h("a", { class: "button skip", href: "#main", onclick: (/** @type {Event} */ e) => { e.preventDefault(); this.#focusPage(); } }, t("skip")),
      this.#topbar(),
      this.#nav(page),
      connection === "lost" && h("p", { class: "offline", key: "offline", role: "alert" }, icon("warn"), t("offline", { time: clock(new Date(newsAt)) })),
      isOutdated && h("div", { class: "offline info", key: "outdated", role: "status" }, icon("info"), h("span", { class: "grow" }, t("outdated")),
        h("button", { type: "button", onclick: () => location.reload() }, t("outdated.go"))),
      connection === "http" && h("p", { class: "offline info", key: "http", role: "status" }, icon("info"), t("http_only")),
      this.#busy(),
      h("main", { id: "main", tabindex: "-1", key: "main", class: connection === "lost" ? "is-old" : "" },
        // Without a connection, nothing can be pressed or entered.
        h("fieldset", { class: "page", key: "page", disabled: connection === "lost" }, h(`shoal-${page.name}`, { key: page.name }))),
      hasChanges && this.#changes(),
      this.#menuIsOpen && this.#sheet(page));
  }

  /** What stands on the floor instead of the pool, on every page but the one that shows it. */
  #busy() {
    const step = location.hash.split("/").slice(1, 3).join("/");
    if (status?.calibration.is_running && step !== "setup/calibration") {
      return h("div", { class: "offline busy", role: "status", key: "busy" }, icon("warn"), h("span", { class: "grow" }, t("busy.calibration")),
        may("admin") && h("a", { class: "button", href: "#/setup/calibration" }, t("busy.calibration_go")));
    }
    if (status?.test_picture && step !== "setup/output") {
      return h("div", { class: "offline busy", role: "status", key: "busy" }, icon("warn"), h("span", { class: "grow" }, t("busy.test_picture")),
        may("admin") && h("button", { type: "button", onclick: () => send({ command: "test_picture" }) }, t("busy.test_picture_end")));
    }
    return location.hash.startsWith("#/live") ? null : overlayNotice();
  }

  #focusPage() {
    window.scrollTo(0, 0);
    /** @type {HTMLElement | null} */ (this.querySelector("main"))?.focus({ preventScroll: true });
  }

  #topbar() {
    const state = health(status);
    return h("header", { class: "topbar", key: "top" },
      h("img", { class: "mark", src: "/assets/icon.svg", alt: "" }),
      h("span", { class: "title grow" }, "Shoal"),
      h("a", { class: `pill ${state.kind}`, href: "#/now" }, icon(state.icon), state.short),
      h("button", { class: "plain square", type: "button", id: "menu-button", "aria-label": t("menu"), "aria-expanded": String(this.#menuIsOpen), onclick: () => this.#toggleMenu(!this.#menuIsOpen) }, icon("user")));
  }

  /** @param {Page} current */
  #nav(current) {
    const allowed = PAGES.filter((page) => may(page.role));
    const isInMore = !current.onPhone;
    return h("nav", { class: "nav", "aria-label": t("nav"), key: "nav" },
      allowed.map((page) => h("a", {
        key: page.name, href: `#/${page.name}`, class: page.onPhone ? "" : "wide",
        "aria-current": page === current ? "page" : null,
      }, icon(page.name), h("span", null, t(`page.${page.name}`)))),
      h("button", { key: "more", class: "narrow", type: "button", "aria-current": isInMore ? "page" : null, "aria-expanded": String(this.#menuIsOpen), onclick: () => this.#toggleMenu(true) },
        icon("more"), h("span", null, t("more"))));
  }

  /** @param {Page} current */
  #sheet(current) {
    const close = () => this.#toggleMenu(false);
    const others = PAGES.filter((page) => may(page.role) && !page.onPhone);
    return [
      h("div", { class: "sheet-back", key: "back", onclick: close }),
      h("div", { class: "sheet menu", key: "sheet", role: "dialog", "aria-label": t("menu") },
        others.map((page) => h("a", { key: page.name, href: `#/${page.name}`, "aria-current": page === current ? "page" : null }, icon(page.name), t(`page.${page.name}`))),
        others.length > 0 && h("hr", null),
        h("button", { type: "button", onclick: () => setLanguage(language() === "de" ? "en" : "de") }, icon("language"), h("span", { lang: language() === "de" ? "en" : "de" }, language() === "de" ? "English" : "Deutsch")),
        h("button", { type: "button", onclick: () => setTheme(theme() === "dark" ? "light" : "dark") }, icon("sun"), t(theme() === "dark" ? "theme.to_light" : "theme.to_dark")),
        h("hr", null),
        h("button", { type: "button", onclick: () => { close(); openDialog(t("system.tab.devices"), () => h("shoal-devices", { key: "devices" })); } }, icon("user"), t("system.tab.devices")),
        h("button", { type: "button", onclick: () => { close(); openDialog(t("password.change"), (done) => h("shoal-own-password", { onchanged: done })); } }, icon("user"), t("password.change")),
        h("button", { type: "button", onclick: () => changeSession("logout", {}).catch(complain) }, icon("out"), t("logout", { name: session.user ?? "" })),
        h("button", { type: "button", onclick: close }, icon("close"), t("close"))),
    ];
  }

  /** @param {Page} page */
  #hasChangeBar(page) {
    // Scenes and species are the designer's: staff set what is written at once.
    if (!may("admin") || status === null) return false;
    // What is saved can still be undone, where things are edited.
    const canUndo = page.isEditor && (status.undo !== null || status.redo !== null);
    return drafts().length > 0 || canUndo;
  }

  /** The bar with the unsaved changes: undo, redo, revert, save. */
  #changes() {
    const button = (/** @type {string} */ name, /** @type {string} */ iconName, /** @type {boolean} */ isOn, /** @type {() => void} */ action, title = t(`changes.${name}`)) =>
      h("button", { key: name, class: "plain wordy", type: "button", title, "aria-label": title, disabled: !isOn || connection === "lost", onclick: action }, icon(iconName), h("span", null, t(`changes.${name}`)));
    const back = nextStepText("undo");
    const unsaved = drafts().length;
    return h("div", { class: unsaved > 0 ? "changes is-draft" : "changes", key: "changes", role: "region", "aria-label": t("changes.title") },
      h("p", { class: "grow" }, unsaved > 0 ? t("changes.unsaved", { n: unsaved }) : t("changes.all_saved"), back && h("span", { class: "small muted undo-what" }, back)),
      button("undo", "undo", back !== "", () => step("undo"), back || t("changes.undo")),
      button("redo", "redo", status.redo !== null, () => step("redo"), nextStepText("redo") || t("changes.redo")),
      button("revert", "revert", unsaved > 0, () => send({ command: "revert" })),
      h("button", { class: "primary", type: "button", disabled: unsaved === 0 || connection === "lost", onclick: () => send({ command: "save" }, t("changes.saved")) }, icon("save"), h("span", null, t("changes.save"), unsaved > 0 && h("span", { class: "count", "aria-hidden": "true" }, unsaved))));
  }
}

customElements.define("shoal-app", App);
emit("theme");
