// Small curves.

import { h } from "../core/dom.js";

/** @param {number[]} values @param {string} label */
export function spark(values, label) {
  const most = Math.max(...values, 1e-6) * 1.15;
  const step = 100 / Math.max(1, values.length - 1);
  const line = values.map((value, index) => `${(index * step).toFixed(1)} ${(40 - (value / most) * 38).toFixed(1)}`).join("L");
  return h("svg", { class: "spark", viewBox: "0 0 100 40", preserveAspectRatio: "none", role: "img", "aria-label": label },
    values.length > 1 && h("path", { class: "fill", d: `M0 40L${line}L100 40Z` }),
    values.length > 1 && h("path", { d: `M${line}` }));
}
