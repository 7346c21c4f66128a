// Light or dark: as the device says, until the reader chooses.

import { emit } from "./topics.js";

const STORED = "shoal.theme";

/** @typedef {"light" | "dark"} Theme */

const stored = localStorage.getItem(STORED);
if (stored === "light" || stored === "dark") document.documentElement.dataset.theme = stored;

/** @returns {Theme} */
export function theme() {
  const chosen = document.documentElement.dataset.theme;
  if (chosen === "light" || chosen === "dark") return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** @param {Theme} next */
export function setTheme(next) {
  document.documentElement.dataset.theme = next;
  localStorage.setItem(STORED, next);
  emit("theme");
}
