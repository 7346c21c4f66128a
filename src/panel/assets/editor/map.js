// The map of a scene: everything that has a place can be dragged, with a finger, a mouse or the arrow keys.
//
// What has a place is found by its keys (`center_m`, `outline_m`, `from_m` …), so a new kind of thing appears without page code.

import { h } from "../core/dom.js";
import { known, t } from "../core/i18n.js";
import { join, sentence, tagOf, valueAt } from "./schema.js";

/** @typedef {import("./fields.js").Context} Context */
/** @typedef {import("./schema.js").Schema} Schema */
/** @typedef {{ list: string, index: number, path: string, item: any, title: string }} Thing */

/** Step of an arrow key, and with Shift. */
const STEP_M = 0.05;
const SMALL_STEP_M = 0.01;

/** Returns the lists of a scene whose items have a place. @param {Schema} schema @param {string} path @returns {{ path: string, schema: Schema }[]} */
export function placedLists(schema, path = "") {
  return Object.entries(schema.properties ?? {}).flatMap(([key, child]) => {
    const here = join(path, key);
    if (child.type === "array" && child.items) {
      const variants = child.items.oneOf ?? [child.items];
      const hasPlace = variants.some((/** @type {Schema} */ variant) => Object.keys(variant.properties ?? {}).some((name) => ["center_m", "outline_m", "from_m", "points_m", "line_m"].includes(name)));
      return hasPlace ? [{ path: here, schema: child }] : [];
    }
    return child.properties && path === "" ? placedLists(child, here) : [];
  });
}

/** @param {Context} ctx @param {{ path: string, schema: Schema }[]} lists @returns {Thing[]} */
export function things(ctx, lists) {
  return lists.flatMap(({ path, schema }) => (valueAt(ctx.docs[0].effective, path) ?? []).map((/** @type {any} */ item, /** @type {number} */ index) => {
    const kind = schema.items.oneOf ? item[tagOf(schema.items)] : path.split(".").at(-1)?.replace(/s$/, "");
    const name = item.name || `${known("value", kind) ?? sentence(kind ?? "")} ${index + 1}`;
    return { list: path, index, path: join(path, index), item, title: name };
  }));
}

/** Moves a point `[x, z]` or `[x, y, z]` on the floor. @param {number[]} point @param {number} dx @param {number} dz */
function moved(point, dx, dz) {
  const tidy = (/** @type {number} */ value) => Number(value.toFixed(3));
  return point.length === 3 ? [tidy(point[0] + dx), point[1], tidy(point[2] + dz)] : [tidy(point[0] + dx), tidy(point[1] + dz)];
}

/**
 * Returns the changes that move a thing.
 * @param {Context} ctx @param {Thing} thing @param {number} dx @param {number} dz
 * @returns {import("../core/store.js").Edit[]}
 */
function moveEdits(ctx, thing, dx, dz) {
  const document = ctx.docs[0].document;
  const edits = [];
  for (const key of ["center_m", "from_m", "to_m"]) {
    if (thing.item[key]) edits.push({ document, path: join(thing.path, key), change: { do: "set", value: moved(thing.item[key], dx, dz) } });
  }
  for (const key of ["outline_m", "points_m", "line_m"]) {
    if (thing.item[key]) edits.push({ document, path: join(thing.path, key), change: { do: "set", value: thing.item[key].map((/** @type {number[]} */ p) => moved(p, dx, dz)) } });
  }
  return edits;
}

/** @param {number[]} point */
const flat = (point) => (point.length === 3 ? [point[0], point[2]] : point);

/** Draws a thing. @param {any} item @param {Record<string, any>} props */
function shapeOf(item, props) {
  if (item.outline_m) return h("polygon", { ...props, points: item.outline_m.map((/** @type {number[]} */ p) => flat(p).join(",")).join(" ") });
  const line = item.points_m ?? item.line_m;
  if (line) return h("polyline", { ...props, fill: "none", points: line.map((/** @type {number[]} */ p) => flat(p).join(",")).join(" ") });
  if (item.from_m) {
    const [[x1, y1], [x2, y2]] = [flat(item.from_m), flat(item.to_m)];
    const radius = item.radius_m ?? 0.05;
    if (Math.hypot(x2 - x1, y2 - y1) < 0.01) return h("circle", { ...props, cx: x1, cy: y1, r: radius });
    const angle = (Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI;
    const length = Math.hypot(x2 - x1, y2 - y1);
    return h("rect", { ...props, x: -radius, y: -radius, width: length + 2 * radius, height: 2 * radius, rx: radius, transform: `translate(${x1} ${y1}) rotate(${angle})` });
  }
  const [x, y] = flat(item.center_m ?? [0, 0, 0]);
  if (item.half_extents_m) {
    const [a, , b] = item.half_extents_m;
    return h("rect", { ...props, x: -a, y: -b, width: 2 * a, height: 2 * b, transform: `translate(${x} ${y}) rotate(${-(item.yaw_deg ?? 0)})` });
  }
  const radius = item.radius_m ?? item.shape?.range_m ?? (item.shape?.size_m ? item.shape.size_m[0] / 2 : 0.15);
  return h("circle", { ...props, cx: x, cy: y, r: radius });
}

/**
 * @param {Context} ctx
 * @param {{ path: string, schema: Schema }[]} lists
 * @param {number[]} size width and height of the surface for which the scene was made
 * @param {string} chosen path of the chosen thing
 * @param {(path: string) => void} choose
 * @param {{ url: string, eye_m: number }} [below] the picture of the pool from above, and the height of the eye that sees it
 */
export function map(ctx, lists, size, chosen, choose, below = { url: "", eye_m: 4 }) {
  const [width, height] = size;
  const margin = 0.06 * width;
  const all = things(ctx, lists).filter((thing) => thing.item.center_m || thing.item.outline_m || thing.item.from_m || thing.item.points_m || thing.item.line_m);
  const kindClass = (/** @type {Thing} */ thing) => (thing.list.includes("terraces") ? "terrace" : thing.list.includes("obstacles") ? "shape" : "field");
  // The chosen thing lies on top, else it could not be grasped under another.
  const ordered = [...all].sort((a, b) => Number(a.path === chosen) - Number(b.path === chosen) || Number(kindClass(a) !== "terrace") - Number(kindClass(b) !== "terrace"));
  const lines = [];
  for (let x = Math.ceil(-width / 2); x <= width / 2; x++) lines.push(h("line", { key: `x${x}`, class: "gridline", x1: x, x2: x, y1: -height / 2, y2: height / 2 }));
  for (let z = Math.ceil(-height / 2); z <= height / 2; z++) lines.push(h("line", { key: `z${z}`, class: "gridline", x1: -width / 2, x2: width / 2, y1: z, y2: z }));
  return h("svg", { class: "map", viewBox: `${-width / 2 - margin} ${-height / 2 - margin} ${width + 2 * margin} ${height + 2 * margin}`, role: "group", "aria-label": t("map.title") },
    h("rect", { class: "surface", x: -width / 2, y: -height / 2, width, height, onpointerdown: () => choose("") }),
    below.url !== "" && h("image", { key: "below", class: "below", href: below.url, x: -width / 2, y: -height / 2, width, height, preserveAspectRatio: "none", "aria-hidden": "true" }),
    lines,
    // What lies deeper is seen smaller, and nearer to the middle.
    ordered.map((thing) => h("g", { key: thing.path, transform: `scale(${below.url === "" ? 1 : seenScale(thing.item, below.eye_m)})` }, shapeOf(thing.item, {
      class: ["draggable", kindClass(thing), thing.item.visible === false && "hidden-shape", thing.path === chosen && "selected"].filter(Boolean).join(" "),
      tabindex: "0", role: "button", "aria-label": t("map.thing", { name: thing.title }), "aria-pressed": String(thing.path === chosen),
      onfocus: () => choose(thing.path),
      onpointerdown: (/** @type {PointerEvent} */ e) => drag(e, ctx, thing, choose),
      onkeydown: (/** @type {KeyboardEvent} */ e) => nudge(e, ctx, thing),
    }))));
}

/** Returns the scale at which a thing is seen from above. @param {any} item @param {number} eye_m */
function seenScale(item, eye_m) {
  const place = item.center_m ?? item.from_m;
  const y = place?.length === 3 ? place[1] : 0;
  return eye_m > 0 ? eye_m / (eye_m - Math.min(0, y)) : 1;
}

/** @param {KeyboardEvent} event @param {Context} ctx @param {Thing} thing */
function nudge(event, ctx, thing) {
  const step = event.shiftKey ? SMALL_STEP_M : STEP_M;
  const by = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[event.key];
  if (!by || ctx.isReadOnly) return;
  event.preventDefault();
  ctx.send(moveEdits(ctx, thing, by[0], by[1]));
}

/** @param {PointerEvent} down @param {Context} ctx @param {Thing} thing @param {(path: string) => void} choose */
function drag(down, ctx, thing, choose) {
  const shape = /** @type {SVGGraphicsElement} */ (down.currentTarget);
  const scaled = /** @type {SVGGElement} */ (shape.parentNode);
  choose(thing.path);
  if (ctx.isReadOnly) return;
  down.preventDefault();
  shape.setPointerCapture(down.pointerId);
  const toMap = (/** @type {PointerEvent} */ e) => {
    const matrix = scaled.getScreenCTM()?.inverse();
    return new DOMPoint(e.clientX, e.clientY).matrixTransform(matrix);
  };
  const start = toMap(down);
  const own = shape.getAttribute("transform") ?? "";
  let by = [0, 0];
  shape.onpointermove = (move) => {
    const here = toMap(move);
    by = [here.x - start.x, here.y - start.y];
    shape.setAttribute("transform", `translate(${by[0]} ${by[1]}) ${own}`);
  };
  const end = (/** @type {boolean} */ isDropped) => {
    shape.onpointermove = shape.onpointerup = shape.onpointercancel = null;
    const isMoved = Math.hypot(by[0], by[1]) > 0.005;
    if (own) shape.setAttribute("transform", own);
    else shape.removeAttribute("transform");
    if (isDropped && isMoved) ctx.send(moveEdits(ctx, thing, by[0], by[1]));
  };
  shape.onpointerup = () => end(true);
  shape.onpointercancel = () => end(false);
}
