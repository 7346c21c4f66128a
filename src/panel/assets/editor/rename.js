// Gives a species another name, in every file that names it. One step to undo.

import { documentsOf, setEdit, status } from "../core/store.js";
import { join, valueAt } from "./schema.js";

/** @typedef {import("../core/store.js").Doc} Doc */
/** @typedef {import("../core/store.js").Edit} Edit */

/** Tables of a scene whose keys are species, apart from the population. */
const TABLES = ["fish", "pool.margins_m"];

/**
 * Returns the commands that rename a species: a copy with the new name, the changes of all files that name it, and its removal.
 * @param {Doc} doc of the species @param {string} name
 */
export function renameCommands(doc, name) {
  const old = doc.document.name ?? "";
  const scenes = documentsOf("scene");
  const shown = scenes.find((scene) => scene.document.name === status.scene);
  const others = documentsOf("species").filter((other) => other !== doc);
  const edits = [
    ...scenes.flatMap((scene) => sceneEdits(scene, old, name, scene === shown)),
    ...others.flatMap((other) => speciesEdits(other, old, name)),
  ];
  return [
    { command: "add_species", name, text: doc.text, count: shown?.effective?.population?.[old] ?? 0 },
    ...(edits.length > 0 ? [{ command: "edit", edits }] : []),
    { command: "remove_species", name: old },
  ];
}

/** @param {Doc} scene @param {string} old @param {string} name @param {boolean} isShown @returns {Edit[]} */
function sceneEdits(scene, old, name, isShown) {
  const { document, values } = scene;
  const count = values?.population?.[old];
  const edits = count !== undefined && !isShown ? [setEdit(document, join("population", name), count)] : [];
  for (const table of TABLES) {
    const own = valueAt(values, table)?.[old];
    if (own === undefined) continue;
    edits.push(setEdit(document, join(table, name), own), { document, path: join(table, old), change: { do: "remove" } });
  }
  /** Changes every value of a key `species`: that of an individual, and the lists of the rules. */
  const walk = (/** @type {any} */ value, /** @type {string} */ path, /** @type {boolean} */ isSpecies) => {
    if (typeof value === "string") {
      if (isSpecies && value === old) edits.push(setEdit(document, path, name));
    } else if (Array.isArray(value)) value.forEach((item, index) => walk(item, join(path, index), isSpecies));
    else if (value !== null && typeof value === "object") for (const [key, child] of Object.entries(value)) walk(child, join(path, key), key === "species");
  };
  walk(values, "", false);
  return edits;
}

/** @param {Doc} other @param {string} old @param {string} name @returns {Edit[]} */
function speciesEdits({ document, values }, old, name) {
  const edits = values?.extends === old ? [setEdit(document, "extends", name)] : [];
  for (const [relation, names] of Object.entries(values?.relations ?? {})) {
    if (names.includes(old)) edits.push(setEdit(document, join("relations", relation), names.map((/** @type {string} */ one) => (one === old ? name : one))));
  }
  return edits;
}
