// Tabs, with the arrow keys of the ARIA pattern.

import { h } from "../core/dom.js";
import { mayLeave } from "./unfinished.js";

/**
 * @param {string} label
 * @param {[string, string][]} tabs name and title of each
 * @param {string} current
 * @param {(name: string) => void} choose
 */
export function tabs(label, tabs, current, choose) {
  const go = async (/** @type {string} */ name) => {
    if (name === current || await mayLeave()) choose(name);
  };
  return h("div", { class: "tabs", role: "tablist", "aria-label": label, key: "tabs", onkeydown: (/** @type {KeyboardEvent} */ e) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (!step) return;
    const index = tabs.findIndex(([name]) => name === current);
    const next = (index + step + tabs.length) % tabs.length;
    go(tabs[next][0]);
    /** @type {HTMLElement} */ (e.currentTarget).querySelectorAll("button")[next]?.focus();
  } }, tabs.map(([name, title]) => h("button", { key: name, type: "button", role: "tab", id: `tab-${name}`, "aria-selected": String(name === current), "aria-controls": "panel", tabindex: name === current ? "0" : "-1", onclick: () => go(name) }, title)));
}

/** @param {string} current @param {...any} children */
export function tabPanel(current, ...children) {
  return h("div", { role: "tabpanel", id: "panel", "aria-labelledby": `tab-${current}`, key: `panel-${current}` }, children);
}
