// Undo and redo: what would be taken back and who made it, and a question if that was somebody else.

import { session } from "../core/api.js";
import { t } from "../core/i18n.js";
import { send, status } from "../core/store.js";
import { confirmed } from "./dialog.js";
import { changeText } from "./event_text.js";

/** @typedef {"undo" | "redo"} Direction */

/** Says what the next step in a direction is; empty if there is none. @param {Direction} direction */
export function nextStepText(direction) {
  const change = status[direction];
  return change ? t(`changes.${direction}_what`, { change: changeText(change) }) : "";
}

/** Undoes or redoes exactly the change that the page names. What somebody else made is asked about. @param {Direction} direction */
export async function step(direction) {
  const change = status[direction];
  if (!change) return;
  const { author, number } = change;
  const isMine = author?.kind === "panel" && author.name === session.user;
  const what = changeText(change);
  const question = { title: t(`changes.${direction}_title`), text: t("changes.other", { change: what }), yes: t(`changes.${direction}`) };
  if (!isMine && !(await confirmed(question))) return;
  await send({ command: direction, change: number }, t(`changes.${direction}_done`, { change: what }));
}
