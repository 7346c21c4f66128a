// Reads the schema of a document: which values exist, how they are called, and which range they have.

import { language } from "../core/i18n.js";
import { PARAMETERS_DE } from "../messages/parameters_de.js";

/** @typedef {Record<string, any>} Schema */

/** Returns a key as a part of a path: in quotation marks if it has other characters. @param {string} key */
export function pathKey(key) {
  return /^[\p{L}\p{N}_-]+$/u.test(key) ? key : `"${key}"`;
}

/** @param {string} path @param {string | number} key */
export function join(path, key) {
  if (typeof key === "number") return `${path}[${key}]`;
  return path === "" ? pathKey(key) : `${path}.${pathKey(key)}`;
}

/** Returns the parts of a path. @param {string} path @returns {(string | number)[]} */
export function segments(path) {
  const parts = [...path.matchAll(/"([^"]*)"|\[(\d+)\]|([^.[\]"]+)/g)];
  return parts.map(([, quoted, index, name]) => (index !== undefined ? Number(index) : (quoted ?? name)));
}

/** Returns the value at a path; `undefined` if there is none. @param {any} value @param {string} path */
export function valueAt(value, path) {
  let found = value;
  for (const part of segments(path)) {
    if (found === null || typeof found !== "object") return undefined;
    found = found[part];
  }
  return found;
}

/** Returns the name of a parameter in the reader's language. @param {Schema} schema @param {string} key */
export function titleOf(schema, key) {
  const title = schema.title ?? sentence(key);
  return language() === "de" ? (PARAMETERS_DE[title] ?? title) : title;
}

/** Returns a key as words: `still_flee_distance_m` is "Still flee distance m". @param {string} key */
export function sentence(key) {
  const words = key.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * Returns the help of a parameter: the description without the list of its choices.
 * @param {Schema} schema
 */
export function helpOf(schema) {
  return (schema.description ?? "").split("\n- ")[0].replace(/\n/g, " ").replaceAll("`", "").replaceAll("**", "").trim();
}

/** Returns what each choice of an enumeration means. @param {Schema} schema @returns {Record<string, string>} */
export function choiceHelp(schema) {
  /** @type {Record<string, string>} */
  const help = {};
  for (const part of (schema.description ?? "").split("\n- ").slice(1)) {
    const [name, ...text] = part.replace(/\n/g, " ").split(": ");
    help[name] = text.join(": ");
  }
  return help;
}

/** Returns the key that says which variant of a tagged choice a table is. @param {Schema} schema @returns {string} */
export function tagOf(schema) {
  const first = schema.oneOf[0].properties;
  return Object.keys(first).find((key) => "const" in first[key]) ?? "";
}

/** @param {Schema} schema @param {any} value @returns {Schema | undefined} */
export function variantOf(schema, value) {
  const tag = tagOf(schema);
  return schema.oneOf.find((/** @type {Schema} */ variant) => variant.properties[tag]?.const === value?.[tag]);
}

/** Returns a first value: the default, or the least that the schema needs. @param {Schema} schema @returns {any} */
export function firstValue(schema) {
  if ("const" in schema) return schema.const;
  if (schema.default !== undefined && schema.default !== null) return structuredClone(schema.default);
  if (schema.oneOf) return firstValue(schema.oneOf[0]);
  if (schema.enum) return schema.enum[0];
  switch (schema.type) {
    case "boolean": return false;
    case "string": return "";
    case "integer":
    case "number": return Math.max(schema.minimum ?? 0, Math.min(schema.maximum ?? 0, 0));
    case "array": return Array.from({ length: schema.minItems ?? 0 }, () => firstValue(schema.items));
    default: return requiredOf(schema);
  }
}

/** Returns a table with the keys that must be there. @param {Schema} schema */
function requiredOf(schema) {
  const required = /** @type {string[]} */ (schema.required ?? []);
  return Object.fromEntries(required.map((key) => [key, firstValue(schema.properties[key])]));
}

/** Kind of editor that a value needs. @param {Schema} schema */
export function kindOf(schema) {
  if (schema.oneOf) return "choice";
  if (schema.enum) return "enum";
  if (schema.type === "array") {
    if (["number", "integer"].includes(schema.items?.type) && schema.minItems === schema.maxItems && schema.maxItems <= 4) return "vector";
    return schema.items?.type === "string" ? "names" : "list";
  }
  if (schema.type === "object") return schema.properties && Object.keys(schema.properties).length > 0 ? "table" : "map";
  return schema.type ?? "text";
}

/** Returns the names of the numbers of a vector. @param {string} key @param {number} length */
export function axes(key, length) {
  if (length === 3) return ["x", "y", "z"];
  if (length === 2) return /_px$/.test(key) ? ["x", "y"] : ["x", "z"];
  return Array.from({ length }, (_, index) => String(index + 1));
}

/** Returns the schema of the value at a path, following the variants that `value` has. @param {Schema} schema @param {any} value @param {string} path */
export function schemaAt(schema, value, path) {
  let node = schema;
  let here = value;
  for (const part of segments(path)) {
    if (node?.oneOf) node = variantOf(node, here) ?? {};
    node = typeof part === "number" ? node.items : (node.properties?.[part] ?? (typeof node.additionalProperties === "object" ? node.additionalProperties : undefined));
    if (!node) return undefined;
    here = here?.[part];
  }
  return node;
}

/** @typedef {{ path: string, key: string, schema: Schema, group: string, needsRestart: boolean }} Leaf */

/**
 * Lists every parameter that has an editor of its own.
 * @param {Schema} schema
 * @param {any} value
 * @returns {Leaf[]}
 */
export function leaves(schema, value) {
  /** @type {Leaf[]} */
  const found = [];
  walk(schema, value, "", "", "", false, found);
  return found;
}

/**
 * @param {Schema} schema @param {any} value @param {string} path @param {string} key @param {string} group
 * @param {boolean} needsRestart @param {Leaf[]} found
 */
function walk(schema, value, path, key, group, needsRestart, found) {
  const restart = needsRestart || schema["x-restart"] === true;
  const kind = kindOf(schema);
  const inner = kind === "choice" ? variantOf(schema, value) : schema;
  if (kind === "table" || (kind === "choice" && inner)) {
    const tag = kind === "choice" ? tagOf(schema) : "";
    const name = path === "" ? "" : [group, titleOf(schema, key)].filter(Boolean).join(" › ");
    for (const [child, childSchema] of Object.entries(inner?.properties ?? {})) {
      if (child !== tag) walk(childSchema, value?.[child], join(path, child), child, name, restart, found);
    }
  } else if (kind === "map" && typeof schema.additionalProperties === "object") {
    for (const child of Object.keys(value ?? {})) {
      walk({ title: child, ...schema.additionalProperties }, value[child], join(path, child), child, [group, titleOf(schema, key)].filter(Boolean).join(" › "), restart, found);
    }
  } else if (kind === "list" && Array.isArray(value)) {
    value.forEach((item, index) => walk(schema.items, item, join(path, index), String(index), [group, `${titleOf(schema, key)} ${item?.name || index + 1}`].filter(Boolean).join(" › "), restart, found));
  } else if (path !== "") found.push({ path, key, schema, group, needsRestart: restart });
}
