// The relations between species as a table of check boxes.

import { h } from "../core/dom.js";
import { known, t } from "../core/i18n.js";
import { asked } from "../parts/dialog.js";
import { icon } from "../parts/icons.js";
import { groupNames, relationNames } from "./context.js";
import { join } from "./schema.js";

/** @typedef {import("./fields.js").Context} Context */
/** @typedef {import("../core/store.js").Doc} Doc */

/** @param {string} name */
function relationTitle(name) {
  return known("relation", name) ?? name;
}

/**
 * @param {Doc[]} docs the species that the table shows
 * @param {{ relation: string, added: string[] }} state
 * @param {Context} ctx
 */
export function relations(docs, state, ctx) {
  const names = [...new Set([...relationNames(), ...state.added])];
  if (!names.includes(state.relation)) state.relation = names[0];
  const columns = [...docs.map((doc) => doc.document.name ?? ""), ...groupNames(), "visitor"];
  // Names that a species relates to although they are not in this scene stay visible.
  const others = [...new Set(docs.flatMap((doc) => doc.effective.relations?.[state.relation] ?? []))].filter((name) => !columns.includes(name));
  columns.push(...others);
  const add = async () => {
    const name = await asked({ title: t("relations.add"), label: t("edit.name"), help: t("relations.add_help"), yes: t("edit.add") });
    if (name) {
      state.added.push(name);
      state.relation = name;
      ctx.update();
    }
  };
  return h("section", { class: "card stack" },
    h("h2", null, t("relations.title")),
    h("p", { class: "muted" }, t("relations.help")),
    h("div", { class: "chips", role: "group", "aria-label": t("relations.which") },
      names.map((name) => h("button", { key: name, type: "button", "aria-pressed": String(name === state.relation), onclick: () => { state.relation = name; ctx.update(); } }, relationTitle(name))),
      !ctx.isReadOnly && h("button", { key: "+", type: "button", class: "plain", onclick: add }, icon("plus"), t("relations.add"))),
    h("div", { class: "table-wrap", tabindex: "0", role: "region", "aria-label": t("relations.title") }, h("table", { class: "matrix" },
      h("thead", null, h("tr", null, h("td", null), columns.map((name) => h("th", { key: name, scope: "col" }, h("span", null, name === "visitor" ? t("relations.visitor") : name))))),
      h("tbody", null, docs.map((doc) => {
        const own = doc.document.name ?? "";
        const listed = doc.effective.relations?.[state.relation] ?? [];
        return h("tr", { key: own }, h("th", { scope: "row" }, own), columns.map((name) => h("td", { key: name },
          h("label", null, h("input", { type: "checkbox", checked: listed.includes(name), disabled: ctx.isReadOnly, "aria-label": t("relations.cell", { who: own, relation: relationTitle(state.relation), whom: name }),
            onchange: (/** @type {any} */ e) => {
              const next = e.target.checked ? [...listed, name] : listed.filter((/** @type {string} */ other) => other !== name);
              ctx.send([{ document: doc.document, path: join("relations", state.relation), change: { do: "set", value: next } }]);
            } })))));
      })))));
}
