// Says which files on the disk are broken, and opens them in the text editor.

import { may } from "../core/api.js";
import { h } from "../core/dom.js";
import { t } from "../core/i18n.js";
import { documents, fileOf, keyOf } from "../core/store.js";
import { on } from "../core/topics.js";
import "./code_editor.js";
import { openDialog } from "./dialog.js";
import { icon } from "./icons.js";

/** Returns a warning for each broken file. */
export function brokenFiles() {
  const broken = [...documents.values()].filter((doc) => doc.broken_text !== undefined);
  return broken.map((doc) => h("div", { class: "hint bad", key: `broken-${fileOf(doc.document)}`, role: "alert" }, icon("warn"),
    h("p", { class: "grow" }, t("text.broken", { file: fileOf(doc.document) })),
    may("admin") && h("button", { type: "button", onclick: () => editText(doc) }, icon("edit"), t("text.open"))));
}

/** Opens the text of a broken file, and closes it when the file is whole again. @param {import("../core/store.js").Doc} doc */
async function editText(doc) {
  const key = keyOf(doc.document);
  let stop = () => {};
  await openDialog(fileOf(doc.document), (close, update) => {
    stop();
    stop = on("documents", () => (documents.get(key)?.broken_text === undefined ? close() : update()));
    return h("shoal-code", { doc: documents.get(key) ?? doc });
  });
  stop();
}
