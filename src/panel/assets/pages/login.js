// Log-in, and the first start: the code from the floor, then a password.

import { ApiError, changeSession, hasEnded, session } from "../core/api.js";
import { h, View } from "../core/dom.js";
import { language, setLanguage, t } from "../core/i18n.js";
import { errorText } from "../core/store.js";
import { on } from "../core/topics.js";
import { icon } from "../parts/icons.js";

const PASSWORD_MIN = 10;

class Login extends View {
  #values = { code: "", user: "", password: "", again: "", pin: "", remember: false };
  #error = "";
  #isBusy = false;
  #usesPin = false;
  /** @type {string | null} */
  #again = null;

  start() {
    this.#usesPin = session.can_use_pin;
    // Within a page whose session has ended.
    this.#again = hasEnded ? session.user : null;
    this.#values.user = this.#again ?? "";
    // The QR code on the floor can contain the setup code.
    const code = /setup=([A-Z0-9-]+)/i.exec(location.hash)?.[1];
    if (code) this.#values.code = code.toUpperCase();
    this.until(on("language", this.update));
    if (this.#again === null) document.title = "Shoal";
  }

  view() {
    const isSetup = session.setup_needed;
    if (this.#again !== null) return this.#form(isSetup);
    return h("main", { class: "login" },
      h("div", { class: "login-brand" }, h("img", { src: "/assets/icon.svg", alt: "", width: 56, height: 56 }), h("span", null, "Shoal")),
      this.#form(isSetup),
      h("div", { class: "segments center", role: "group", "aria-label": t("language") },
        /** @type {const} */ ([["en", "English"], ["de", "Deutsch"]]).map(([code, name]) =>
          h("button", { key: code, type: "button", lang: code, "aria-pressed": String(language() === code), onclick: () => setLanguage(code) }, name))));
  }

  /** @param {boolean} isSetup */
  #form(isSetup) {
    return h("form", { class: this.#again === null ? "card stack" : "stack", novalidate: true, onsubmit: (/** @type {Event} */ e) => { e.preventDefault(); this.#submit(); } },
      this.#again === null && h("h1", null, t(isSetup ? "first.title" : "login.title")),
      h("p", { class: "muted" }, t(isSetup ? "first.what" : this.#usesPin ? "login.pin_what" : "login.what")),
      isSetup ? this.#setupFields() : this.#usesPin ? this.#pinField() : this.#loginFields(),
      this.#error && h("p", { class: "hint bad", role: "alert" }, icon("warn"), h("span", null, this.#error)),
      h("button", { class: "primary block", type: "submit", disabled: this.#isBusy }, t(isSetup ? "first.go" : "login.go")),
      !isSetup && session.can_use_pin && h("button", { class: "plain block", type: "button", onclick: () => { this.#usesPin = !this.#usesPin; this.#error = ""; this.update(); } },
        t(this.#usesPin ? "login.use_password" : "login.use_pin")));
  }

  /**
   * @param {"code" | "user" | "password" | "again" | "pin"} name
   * @param {string} label
   * @param {Record<string, any>} props
   * @param {string} [help]
   */
  #field(name, label, props, help) {
    return h("div", { class: "field", key: name },
      h("label", { for: `login-${name}` }, label),
      h("input", { id: `login-${name}`, value: this.#values[name], autocapitalize: "none", spellcheck: "false", ...props,
        "aria-describedby": help ? `login-${name}-help` : null,
        oninput: (/** @type {any} */ e) => { this.#values[name] = e.target.value; } }),
      help && h("p", { class: "help", id: `login-${name}-help` }, help));
  }

  #setupFields() {
    return [
      this.#field("code", t("first.code"), { autocomplete: "one-time-code", placeholder: "XXXX-XXXX", class: "code", maxlength: 9 }, t("first.code_help")),
      this.#field("password", t("first.password"), { type: "password", autocomplete: "new-password" }, t("first.password_help", { n: PASSWORD_MIN })),
      this.#field("again", t("first.again"), { type: "password", autocomplete: "new-password" }),
    ];
  }

  #loginFields() {
    return [
      this.#field("user", t("login.user"), { autocomplete: "username" }),
      this.#field("password", t("login.password"), { type: "password", autocomplete: "current-password" }),
      h("label", { class: "tick", key: "remember" },
        h("input", { type: "checkbox", checked: this.#values.remember, onchange: (/** @type {any} */ e) => { this.#values.remember = e.target.checked; } }),
        t("login.remember")),
    ];
  }

  #pinField() {
    return [this.#field("pin", t("login.pin"), { type: "password", inputmode: "numeric", autocomplete: "off", maxlength: 8, class: "code" })];
  }

  async #submit() {
    if (this.#isBusy) return;
    const { code, user, password, again, pin, remember } = this.#values;
    if (session.setup_needed) {
      if ([...password].length < PASSWORD_MIN) return this.#fail(t("first.too_short", { n: PASSWORD_MIN }), "password");
      if (password !== again) return this.#fail(t("first.differs"), "again");
    }
    this.#isBusy = true;
    this.#error = "";
    this.update();
    try {
      if (session.setup_needed) {
        await changeSession("setup", { code: tidyCode(code), password });
        location.hash = "#/setup";
      } else await changeSession("login", this.#usesPin ? { pin } : { user, password, remember });
    } catch (error) {
      const e = /** @type {ApiError} */ (error);
      if (session.setup_needed && e.code === "wrong_credentials") this.#fail(t("first.wrong_code"), "code");
      else this.#fail(errorText(e), this.#usesPin ? "pin" : "password");
    } finally {
      this.#isBusy = false;
      this.update();
    }
  }

  /** @param {string} text @param {string} field */
  #fail(text, field) {
    this.#error = text;
    this.update();
    /** @type {HTMLInputElement | null} */ (this.querySelector(`#login-${field}`))?.focus();
  }
}

/** Returns the code as it is printed, however it was typed. @param {string} text */
function tidyCode(text) {
  const letters = text.toUpperCase().replace(/[^A-Z0-9]/g, "");
  return letters.length === 8 ? `${letters.slice(0, 4)}-${letters.slice(4)}` : text.trim();
}

customElements.define("shoal-login", Login);
