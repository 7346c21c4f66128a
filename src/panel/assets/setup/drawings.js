// Drawings that say which length is meant: the surface with its width and height, and the place of the lamp.

import { h } from "../core/dom.js";
import { number, t } from "../core/i18n.js";

/** @typedef {{ kind?: string, width_m: number, height_m: number, eye_height_m?: number | null }} Surface */

/** Width of the drawing, in its own units. */
const WIDTH = 320;
/** Space around the surface for words and for a lamp beside it. */
const MARGIN = 44;

/** The surface from above: which side is the width, which the height. @param {Surface | undefined} surface */
export function surfaceDrawing(surface) {
  if (!surface || !(surface.width_m > 0 && surface.height_m > 0)) return null;
  const { x, y, width, height, total } = place(surface);
  return h("svg", { class: "drawing", viewBox: `0 0 ${WIDTH} ${total}`, role: "img", "aria-label": t("surface.drawing", { width: number(surface.width_m), height: number(surface.height_m) }) },
    h("rect", { class: "drawn-area", x, y, width, height }),
    arrow(x, y + height + 14, x + width, y + height + 14), h("text", { x: x + width / 2, y: y + height + 32, "text-anchor": "middle" }, `${t("surface.width")}: ${number(surface.width_m)} m`),
    arrow(x + width + 14, y, x + width + 14, y + height), h("text", { x: x + width / 2, y: y + height / 2 + 4, "text-anchor": "middle" }, `${t("surface.height")}: ${number(surface.height_m)} m ↕`),
    h("text", { x: x + width / 2, y: y - 8, "text-anchor": "middle" }, t("surface.upper_edge")));
}

/** The lamp above the surface, from above. @param {Surface | undefined} surface @param {number[]} position */
export function lampDrawing(surface, position) {
  if (!surface || !(surface.width_m > 0 && surface.height_m > 0)) return null;
  const { x, y, width, height, total, scale } = place(surface);
  const [cx, cy] = [x + width / 2, y + height / 2];
  const isKnown = position.every(Number.isFinite);
  // A lamp beside the surface is drawn at the edge of the drawing, with its numbers.
  const clamp = (/** @type {number} */ v, /** @type {number} */ most) => Math.max(8, Math.min(most - 8, v));
  const [lx, ly] = isKnown ? [clamp(cx + position[0] * scale, WIDTH), clamp(cy + position[2] * scale, total)] : [cx, cy];
  return h("svg", { class: "drawing", viewBox: `0 0 ${WIDTH} ${total}`, role: "img", "aria-label": t("lamp.drawing") },
    h("rect", { class: "drawn-area", x, y, width, height }),
    h("text", { x: cx, y: y - 8, "text-anchor": "middle" }, t("surface.upper_edge")),
    arrow(cx, cy, cx + 40, cy), h("text", { x: cx + 46, y: cy + 4 }, "x"),
    arrow(cx, cy, cx, cy + 40), h("text", { x: cx - 4, y: cy + 54 }, "z"),
    isKnown && [h("line", { class: "drawn-ray", x1: cx, y1: cy, x2: lx, y2: ly }), h("circle", { class: "drawn-lamp", cx: lx, cy: ly, r: 7 }),
      h("text", { x: clamp(lx, WIDTH - 70), y: clamp(ly - 12, total), class: "drawn-label" }, `y ${number(position[1])} m ↑`)]);
}

/** Where the surface is in the drawing. @param {Surface} surface */
function place({ width_m, height_m }) {
  const scale = Math.min((WIDTH - 2 * MARGIN) / width_m, 200 / height_m);
  const [width, height] = [width_m * scale, height_m * scale];
  return { scale, width, height, x: (WIDTH - width) / 2, y: MARGIN - 16, total: height + 2 * MARGIN - 16 };
}

/** @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 */
function arrow(x1, y1, x2, y2) {
  const [dx, dy] = [Math.sign(x2 - x1) * 5, Math.sign(y2 - y1) * 5];
  return h("path", { class: "drawn-arrow", d: `M${x1} ${y1}L${x2} ${y2}m${-dx - dy} ${-dy - dx}l${dx + dy} ${dy + dx}l${-dx + dy} ${-dy + dx}` });
}
