// The password once more, before a change of users, tokens, programs or the whole site; and a new one for oneself.

import { ApiError, changeSession, post } from "../core/api.js";
import { h, View } from "../core/dom.js";
import { t } from "../core/i18n.js";
import { errorText } from "../core/store.js";
import { openDialog } from "./dialog.js";
import { icon } from "./icons.js";
import { notifyDone } from "./notices.js";

/** Asks for the password and confirms it. Resolves to false if the user gives up. @returns {Promise<boolean>} */
export async function askPassword() {
  let password = "";
  let wrong = "";
  let isRight = false;
  await openDialog(t("password.title"), (close, update) => h("form", { class: "stack", onsubmit: async (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      await post("/confirm", { password });
      isRight = true;
      close();
    } catch (error) {
      const e = /** @type {ApiError} */ (error);
      wrong = e.code === "wrong_credentials" ? t("password.wrong") : errorText(e);
      update();
    }
  } },
    h("p", { class: "muted" }, t("password.why")),
    h("div", { class: "field" },
      h("label", { for: "password-again" }, t("login.password")),
      h("input", { id: "password-again", type: "password", required: true, autocomplete: "current-password", "aria-invalid": wrong ? "true" : null, "aria-describedby": "password-again-help", oninput: (/** @type {any} */ e) => { password = e.target.value; } }),
      h("p", { class: "help", id: "password-again-help", role: wrong ? "alert" : null }, wrong)),
    h("div", { class: "row end" },
      h("button", { type: "button", onclick: close }, t("cancel")),
      h("button", { type: "submit", class: "primary" }, t("password.go")))));
  return isRight;
}

/** The form with which users change their own password. It tells its parent `onchanged`. */
class OwnPassword extends View {
  #values = { old: "", next: "", again: "" };
  #wrong = "";

  view() {
    const field = (/** @type {"old" | "next" | "again"} */ name, /** @type {string} */ autocomplete) => h("div", { class: "field", key: name }, h("label", { for: `password-${name}` }, t(`password.${name}`)),
      h("input", { id: `password-${name}`, type: "password", required: true, autocomplete, value: this.#values[name], oninput: (/** @type {any} */ e) => { this.#values[name] = e.target.value; } }));
    return h("form", { class: "stack", onsubmit: (/** @type {Event} */ e) => { e.preventDefault(); this.#change(); } },
      field("old", "current-password"), field("next", "new-password"), field("again", "new-password"),
      this.#wrong && h("p", { class: "hint bad", role: "alert" }, icon("warn"), h("span", null, this.#wrong)),
      h("div", null, h("button", { type: "submit", class: "primary" }, t("password.change"))));
  }

  async #change() {
    const { old, next, again } = this.#values;
    this.#wrong = next === again ? "" : t("first.differs");
    if (!this.#wrong) {
      try {
        const { unsaved } = await changeSession("password", { old, new: next });
        this.#values = { old: "", next: "", again: "" };
        notifyDone(t("password.changed"), unsaved);
        this.dispatchEvent(new CustomEvent("changed"));
      } catch (error) {
        const e = /** @type {ApiError} */ (error);
        this.#wrong = e.code === "wrong_credentials" ? t("password.wrong") : errorText(e);
      }
    }
    this.update();
  }
}

customElements.define("shoal-own-password", OwnPassword);
