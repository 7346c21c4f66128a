// The texts of the panel: every text in both languages, with the same values, and none that is not used.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import de from "../../src/panel/assets/messages/de.js";
import en from "../../src/panel/assets/messages/en.js";

const ASSETS = new URL("../../src/panel/assets/", import.meta.url).pathname;

function sources(folder = ASSETS) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "messages" ? [] : sources(path);
    return entry.name.endsWith(".js") ? [{ path, text: readFileSync(path, "utf8") }] : [];
  });
}

/** The values in a message, sorted. */
function values(message) {
  const forms = typeof message === "string" ? [message] : [message.one, message.other];
  return forms.map((form) => [...form.matchAll(/\{(\w+)\}/g)].map((match) => match[1]).sort().join());
}

test("both languages have the same keys with the same values", () => {
  assert.deepEqual(Object.keys(de).sort(), Object.keys(en).sort());
  for (const [key, message] of Object.entries(en)) {
    const names = new Set([...values(message), ...values(de[key])].filter(Boolean));
    assert.ok(names.size <= 1, `${key}: the languages use different values`);
  }
});

test("every key that the code uses exists", () => {
  const missing = [];
  for (const { path, text } of sources()) {
    for (const [call, key] of text.matchAll(/\bt\(\s*"([^"]+)"/g)) if (!(key in en)) missing.push(`${path}: ${call}`);
    for (const [, whole] of text.matchAll(/\bt\(([^()?]* \? [^()]*)\)/g)) {
      for (const [, key] of whole.matchAll(/[?:] "([\w.]+)"/g)) if (!(key in en)) missing.push(`${path}: ${key}`);
    }
    // A key that ends in a value: at least one key must begin like it.
    for (const [, prefix] of text.matchAll(/\bt\(`([\w.]+)\$\{/g)) {
      if (!Object.keys(en).some((key) => key.startsWith(prefix))) missing.push(`${path}: ${prefix}…`);
    }
  }
  assert.deepEqual(missing, []);
});

test("every key is used", () => {
  const all = sources().map((source) => source.text).join("\n");
  const literals = new Set([...all.matchAll(/"([\w.]+)"/g)].map((match) => match[1]));
  const prefixes = [
    ...[...all.matchAll(/`(\w+\.[\w.]*)\$\{/g)].map((match) => match[1]),
    ...[...all.matchAll(/\bknown\("([\w.]+)"/g)].map((match) => `${match[1]}.`),
  ];
  const unused = Object.keys(en).filter((key) => !literals.has(key) && !prefixes.some((prefix) => key.startsWith(prefix)));
  assert.deepEqual(unused, []);
});

test("no page holds a text outside the catalogue", () => {
  // Children of `h` that are words; code in quotes is fine.
  const found = [];
  for (const { path, text } of sources()) {
    for (const [whole] of text.matchAll(/h\("(?:p|h1|h2|h3|button|label|span|strong|legend)", (?:null|\{[^{}]*\}), "[A-Za-z]{3,}[^"]*"/g)) {
      if (!/"Shoal"/.test(whole)) found.push(`${path}: ${whole}`);
    }
  }
  assert.deepEqual(found, []);
});
