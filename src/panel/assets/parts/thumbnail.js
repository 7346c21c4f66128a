// Small pictures of the scenes and the species that Shoal ships. `scripts/pictures` makes them.

import { h } from "../core/dom.js";

const SCENES = new Set(["aquarium", "cascade", "koi", "lagoon", "molecules", "nursery", "plankton", "pool", "reef", "simple_school", "sky"]);
const SPECIES = new Set(["damsel", "fry", "grazer", "herring", "koi", "molecule_big", "molecule_small", "pike", "plankton", "salmon", "shark", "simple_fish", "simple_leader", "trout"]);

/**
 * Returns the picture of a scene or a species; `null` for one of the site's own.
 * @param {"scene" | "species"} kind @param {string} name
 */
export function thumbnail(kind, name) {
  const isShipped = (kind === "scene" ? SCENES : SPECIES).has(name);
  return isShipped ? h("img", { class: `thumbnail ${kind}`, src: `/assets/pictures/${kind}-${name}.jpg`, alt: "", loading: "lazy", width: kind === "scene" ? 320 : 96, height: kind === "scene" ? 180 : 48 }) : null;
}
