// Starting Shoal again, for the settings that need it.

import { h } from "../core/dom.js";
import { t } from "../core/i18n.js";
import { send } from "../core/store.js";
import { confirmed } from "./dialog.js";
import { icon } from "./icons.js";

/** Starts the whole program again, after a question. */
export async function restartProgram() {
  const what = t("machine.restart.program");
  if (await confirmed({ title: t("machine.restart_title", { what }), text: t("machine.restart_what.program"), yes: t("machine.restart_yes") })) {
    await send({ command: "restart_program" }, t("machine.restarts_now"));
  }
}

/** Names the settings that need a new start of the program, with the button for it. @param {any} status */
export function restartNeeded(status) {
  return status.restart_needed.length > 0 && h("div", { class: "hint warn top", key: "restart" }, icon("info"),
    h("p", { class: "grow" }, t("machine.restart_needed", { what: status.restart_needed.join(", ") })),
    h("button", { type: "button", onclick: restartProgram }, icon("power"), t("machine.restart.program")));
}
