// Builds and updates elements. `h` describes an element, `patch` changes the real ones until they match.
//
// Elements are kept wherever possible, so that focus, caret and scroll positions survive an update. No style or script is ever
// written as text, so the page works with a strict content security policy.

/**
 * @typedef {object} VNode
 * @property {string} tag
 * @property {Record<string, any>} props
 * @property {string | number | undefined} key
 * @property {(VNode | string)[]} children
 */
/** What an element can contain. @typedef {VNode | string | number | boolean | null | undefined | any[]} Child */

/** The description from which an element was last updated. @type {WeakMap<Node, VNode>} */
const described = new WeakMap();
/** The handlers of an element, by event type. @type {WeakMap<Element, Record<string, (event: any) => void>>} */
const handlers = new WeakMap();

const SVG = "http://www.w3.org/2000/svg";
/** Values that must be set as properties, because the attribute only gives the initial value. */
const PROPERTIES = new Set(["value", "checked", "indeterminate", "selected", "disabled", "open", "hidden"]);

/**
 * Describes an element. `key` keeps an element when its siblings move, `on…` adds a handler, `style` is an object.
 * @param {string} tag
 * @param {Record<string, any> | null} [props]
 * @param {...Child} children
 * @returns {VNode}
 */
export function h(tag, props, ...children) {
  const { key, ...rest } = props ?? {};
  /** @type {(VNode | string)[]} */
  const list = [];
  for (const child of /** @type {(VNode | string | number | boolean | null | undefined)[]} */ (children.flat(Infinity))) {
    if (child === null || child === undefined || typeof child === "boolean") continue;
    list.push(typeof child === "number" ? String(child) : child);
  }
  return { tag, props: rest, key, children: list };
}

/**
 * Changes the children of `parent` until they match the description.
 * @param {Element} parent
 * @param {Child} description
 */
export function patch(parent, description) {
  const list = [description].flat(Infinity).filter((c) => c !== null && c !== undefined && typeof c !== "boolean");
  patchChildren(parent, /** @type {(VNode | string)[]} */ (list.map((c) => (typeof c === "number" ? String(c) : c))));
}

/**
 * @param {Element} parent
 * @param {(VNode | string)[]} wanted
 */
function patchChildren(parent, wanted) {
  /** @type {Map<string | number, ChildNode>} */
  const keyed = new Map();
  /** @type {ChildNode[]} */
  const free = [];
  for (const node of parent.childNodes) {
    const key = described.get(node)?.key;
    if (key === undefined) free.push(node);
    else keyed.set(key, node);
  }
  let place = parent.firstChild;
  for (const child of wanted) {
    const node = takeMatching(child, keyed, free) ?? create(child, parent);
    if (node === place) place = place.nextSibling;
    else parent.insertBefore(node, place);
    if (typeof child === "string") {
      if (node.nodeValue !== child) node.nodeValue = child;
    } else update(/** @type {Element} */ (node), child);
  }
  while (place) {
    const next = place.nextSibling;
    place.remove();
    place = next;
  }
}

/**
 * Takes the existing node that can show `child`.
 * @param {VNode | string} child
 * @param {Map<string | number, ChildNode>} keyed
 * @param {ChildNode[]} free
 */
function takeMatching(child, keyed, free) {
  if (typeof child !== "string" && child.key !== undefined) {
    const node = keyed.get(child.key);
    if (node && described.get(node)?.tag === child.tag) {
      keyed.delete(child.key);
      return node;
    }
    return undefined;
  }
  const fits = (/** @type {ChildNode} */ node) =>
    typeof child === "string" ? node.nodeType === Node.TEXT_NODE : described.get(node)?.tag === child.tag;
  const index = free.findIndex(fits);
  return index < 0 ? undefined : free.splice(index, 1)[0];
}

/**
 * @param {VNode | string} child
 * @param {Element} parent
 */
function create(child, parent) {
  if (typeof child === "string") return document.createTextNode(child);
  const isSvg = child.tag === "svg" || (parent.namespaceURI === SVG && parent.tagName !== "foreignObject");
  return isSvg ? document.createElementNS(SVG, child.tag) : document.createElement(child.tag);
}

/**
 * @param {Element} element
 * @param {VNode} wanted
 */
function update(element, wanted) {
  const before = described.get(element);
  described.set(element, wanted);
  const old = before?.props ?? {};
  // An option must exist before a select can take its value, so children come first.
  // Elements of our own fill themselves.
  if (!wanted.tag.includes("-")) patchChildren(element, wanted.children);
  for (const name of Object.keys(old)) {
    if (!(name in wanted.props)) setProp(element, name, undefined, old[name]);
  }
  // A value comes last: the field rounds it to the range that it has at that moment.
  const entries = Object.entries(wanted.props).sort(([a], [b]) => Number(PROPERTIES.has(a)) - Number(PROPERTIES.has(b)));
  for (const [name, value] of entries) {
    if (value !== old[name] || PROPERTIES.has(name)) setProp(element, name, value, old[name]);
  }
  if (!before) wanted.props.ref?.(element);
}

/**
 * @param {Element} element
 * @param {string} name
 * @param {any} value
 * @param {any} old
 */
function setProp(element, name, value, old) {
  if (name === "ref") return;
  if (name.startsWith("on")) return setHandler(element, name.slice(2), value);
  if (name === "style") return setStyle(/** @type {HTMLElement} */ (element), value ?? {}, old ?? {});
  if (name === "class") return element.setAttribute("class", value ?? "");
  const target = /** @type {any} */ (element);
  if (PROPERTIES.has(name)) {
    // While a person types, only a value that changed elsewhere may replace the text.
    if (name === "value" && document.activeElement === element && value === old) return;
    const next = value ?? (name === "value" ? "" : false);
    if (target[name] !== next) target[name] = next;
    return;
  }
  if (value !== null && typeof value === "object") target[name] = value;
  else if (value === undefined || value === null || value === false) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? "" : String(value));
}

/**
 * @param {Element} element
 * @param {string} type
 * @param {((event: any) => void) | undefined} handler
 */
function setHandler(element, type, handler) {
  let known = handlers.get(element);
  if (!known) handlers.set(element, (known = {}));
  const isNew = !(type in known);
  known[type] = handler ?? (() => {});
  if (isNew) element.addEventListener(type, (event) => handlers.get(element)?.[type](event));
}

/**
 * @param {HTMLElement} element
 * @param {Record<string, string | number>} wanted
 * @param {Record<string, string | number>} old
 */
function setStyle(element, wanted, old) {
  for (const name of Object.keys(old)) if (!(name in wanted)) element.style.removeProperty(name);
  for (const [name, value] of Object.entries(wanted)) {
    if (old[name] !== value) element.style.setProperty(name, String(value));
  }
}

/** A part of the page that shows `view()` and is updated when something it watches changes. */
export class View extends HTMLElement {
  #isScheduled = false;
  /** @type {(() => void)[]} */
  #stops = [];

  connectedCallback() {
    this.start();
    patch(this, this.view());
  }

  disconnectedCallback() {
    for (const stop of this.#stops.splice(0)) stop();
    this.stop();
  }

  /** Called when the part appears: load data, watch topics. */
  start() {}

  /** Called when the part disappears. */
  stop() {}

  /** @returns {Child} */
  view() {
    return null;
  }

  /** Runs `stop` when the part disappears. @param {...(() => void)} stops */
  until(...stops) {
    this.#stops.push(...stops);
  }

  /** Shows `view()` again with the next picture of the screen. */
  update = () => {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    requestAnimationFrame(() => {
      this.#isScheduled = false;
      if (this.isConnected) patch(this, this.view());
    });
  };
}
