// A list whose items can be moved by dragging, by buttons and by keys, opened and removed.

import { h } from "../core/dom.js";
import { t } from "../core/i18n.js";
import { icon } from "../parts/icons.js";

/**
 * @typedef {object} Sortable
 * @property {{ key: string | number, label: string, note?: any, tools?: any }[]} items
 * @property {boolean} isReadOnly
 * @property {(from: number, to: number) => void} move
 * @property {(index: number) => void} [remove]
 * @property {(index: number) => boolean} [isOpen]
 * @property {(index: number) => void} [toggle]
 * @property {(index: number) => any} [body]
 */

/** @param {Sortable} list */
export function sortable(list) {
  return h("ol", { class: "items" }, list.items.map((item, index) => {
    const isOpen = list.isOpen?.(index) ?? false;
    return h("li", { class: isOpen ? "item is-open" : "item", key: item.key },
      h("div", { class: "item-head" },
        !list.isReadOnly && h("span", { class: "grip", "aria-hidden": "true", onpointerdown: (/** @type {PointerEvent} */ e) => startDrag(e, list) }, icon("grip")),
        list.toggle
          ? h("button", { class: "plain grow item-title", type: "button", "aria-expanded": String(isOpen), onclick: () => list.toggle?.(index) }, icon(isOpen ? "open" : "right"), h("span", { class: "titles" }, h("span", null, item.label), item.note))
          : h("span", { class: "grow item-title" }, h("span", { class: "titles" }, h("span", null, item.label), item.note)),
        item.tools,
        !list.isReadOnly && [
          h("button", { key: "up", class: "plain square move", type: "button", disabled: index === 0, "aria-label": t("edit.up", { name: item.label }), onclick: (/** @type {any} */ e) => { list.move(index, index - 1); keepFocus(e.currentTarget, -1); } }, icon("up")),
          h("button", { key: "down", class: "plain square move", type: "button", disabled: index === list.items.length - 1, "aria-label": t("edit.down", { name: item.label }), onclick: (/** @type {any} */ e) => { list.move(index, index + 1); keepFocus(e.currentTarget, 1); } }, icon("down")),
          list.remove && h("button", { key: "remove", class: "plain square move", type: "button", "aria-label": t("edit.remove", { name: item.label }), onclick: () => list.remove?.(index) }, icon("trash")),
        ]),
      isOpen && list.body && h("div", { class: "inside" }, list.body(index)));
  }));
}

/** Moves the focus along with the item, so that it can be moved on with the same key. @param {HTMLElement} button @param {number} by */
function keepFocus(button, by) {
  const item = button.closest(".item");
  const other = by < 0 ? item?.previousElementSibling : item?.nextElementSibling;
  const place = [...(item?.querySelectorAll(".item-head > button") ?? [])].indexOf(button);
  /** @type {HTMLElement | undefined} */ ([...(other?.querySelectorAll(".item-head > button") ?? [])][place])?.focus();
}

/** @param {PointerEvent} down @param {Sortable} list */
function startDrag(down, list) {
  const grip = /** @type {HTMLElement} */ (down.currentTarget);
  const item = /** @type {HTMLElement} */ (grip.closest(".item"));
  const items = /** @type {HTMLElement[]} */ ([...(item.parentElement?.children ?? [])]);
  const from = items.indexOf(item);
  let to = from;
  down.preventDefault();
  grip.setPointerCapture(down.pointerId);
  item.classList.add("dragged");
  const clear = () => items.forEach((other) => other.classList.remove("drop-before", "drop-after"));
  grip.onpointermove = (move) => {
    clear();
    const over = items.findIndex((other) => move.clientY < other.getBoundingClientRect().bottom);
    to = over < 0 ? items.length - 1 : over;
    if (to !== from) items[to].classList.add(to < from ? "drop-before" : "drop-after");
  };
  const end = (/** @type {boolean} */ isDropped) => {
    clear();
    item.classList.remove("dragged");
    grip.onpointermove = grip.onpointerup = grip.onpointercancel = null;
    if (isDropped && to !== from) list.move(from, to);
  };
  grip.onpointerup = () => end(true);
  grip.onpointercancel = () => end(false);
}
