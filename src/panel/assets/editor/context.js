// What the editors of a page share: the documents, sending, names to choose from.

import { may } from "../core/api.js";
import { documents, documentsOf, send } from "../core/store.js";

/** @typedef {import("./fields.js").Context} Context */
/** @typedef {import("../core/store.js").Doc} Doc */

/** Relations that the actions know by themselves. */
const RELATIONS = ["enemy", "prey", "friend", "food", "mother", "child", "leader"];

/**
 * @param {Doc[]} docs
 * @param {() => void} update
 * @param {{ open: Set<string>, wrong: Map<string, import("./fields.js").Wrong> }} state kept by the page
 * @returns {Context}
 */
export function context(docs, update, state) {
  return {
    docs, update, ...state,
    send: (edits) => {
      if (edits.length > 0) send({ command: "edit", edits }).then(update);
    },
    suggest: (path, key) => suggest(docs[0], path, key),
    isReadOnly: !may("admin"),
  };
}

/** Returns the names of all species, and of the visitors. */
export function speciesNames() {
  return documentsOf("species").map((doc) => doc.document.name ?? "").sort();
}

/** Returns the names of all groups. */
export function groupNames() {
  return [...new Set(documentsOf("species").flatMap((doc) => doc.effective?.groups ?? []))].sort();
}

/** Returns the names of all relations that a species has, after the usual ones. */
export function relationNames() {
  const used = documentsOf("species").flatMap((doc) => Object.keys(doc.effective?.relations ?? {}));
  return [...new Set([...RELATIONS.slice(0, 3), ...used])];
}

/** @param {Doc} doc @param {string} path @param {string} key @returns {string[]} */
function suggest(doc, path, key) {
  if (path === "population" || key === "species" || key === "like" || key === "extends") return speciesNames();
  if (path.startsWith("relations.") || key === "acts_on") return [...speciesNames(), ...groupNames(), "visitor"];
  if (key === "relations" || key === "relation" || path === "relations") return [...new Set([...relationNames(), ...RELATIONS])];
  if (key === "groups") return groupNames();
  if (key === "scene") return documentsOf("scene").map((d) => d.document.name ?? "");
  if (/needs\[\d+\]\.actions$|standard\.actions$/.test(path)) return Object.keys(doc.effective?.actions ?? {});
  if (key === "need") return [...new Set(documentsOf("species").flatMap((d) => (d.effective?.needs ?? []).map((/** @type {any} */ n) => n.name)))];
  if (key === "field" || key === "fields") return (documents.get("scene")?.effective?.fields ?? []).map((/** @type {any} */ f) => f.name);
  return [];
}
