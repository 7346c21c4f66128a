// The password once more, before a change of users, tokens, programs or the whole site.

import { ApiError, post } from "../core/api.js";
import { h } from "../core/dom.js";
import { t } from "../core/i18n.js";
import { errorText } from "../core/store.js";
import { openDialog } from "./dialog.js";

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
