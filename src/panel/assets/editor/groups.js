// The order of the values of large tables: what belongs together stands together, the most used first.
//
// A value that is missing here stands at the end, so a new one has its place before anybody sorts it.

/** A title of the catalogue (`group.NAME`), and the keys of the group. @typedef {[string, string[]]} Group */

/** The groups by the path of their table. Tables of two documents can have the same path. @type {Record<string, Group[][]>} */
const GROUPS = {
  look: [
    [
      ["light", ["light", "season", "exposure", "sun_strength", "sun_warmth", "sun_heading_deg", "sun_tilt_deg", "sky_strength", "shafts"]],
      ["surface", ["swell", "reflection", "foam", "stir", "caustics"]],
      ["water", ["clarity_m", "haze", "dust", "glow"]],
      ["ground", ["gravel", "pebbles", "relief", "crust", "ground_seed", "rim"]],
      ["growth", ["plants", "corals", "lilies", "litter", "petals", "canopy", "clearing"]],
    ],
    [
      ["shape", ["model", "length_m", "length_variation", "girth_variation", "bend"]],
      ["colour", ["brightness", "saturation", "hue_shift_deg", "hue_variation_deg", "tone_variation", "markings", "run_pink", "shine", "glow"]],
      ["swimming", ["stride_lengths", "max_beat_hz"]],
    ],
  ],
  motion: [[
    ["speed", ["cruise_mps", "boost_mps", "min_speed_mps"]],
    ["agility", ["max_turn_rate_dps", "max_force_n", "response_secs", "max_climb_deg"]],
    ["posture", ["right_gain", "lean_gain", "blend_secs", "level_secs"]],
    ["contact", ["collision", "friction", "restitution"]],
  ]],
  vision: [[
    ["shadow", ["polarity", "shadow_ratio", "dark_level", "noise_factor"]],
    ["size", ["min_area_m2", "max_area_m2", "open_px", "close_px", "grow_px"]],
    ["background", ["learn_secs", "relearn_secs", "brighten_secs", "follow_secs", "scenery_secs", "light_change_share"]],
  ]],
};

/**
 * Returns the values of a table in groups. Without groups there is one without a title.
 * @template T
 * @param {string} path
 * @param {[string, T][]} entries
 * @returns {{ title: string | null, entries: [string, T][] }[]}
 */
export function grouped(path, entries) {
  const fits = (/** @type {Group[]} */ groups) => groups.flatMap(([, keys]) => keys).filter((key) => entries.some(([own]) => own === key)).length;
  const [groups] = [...(GROUPS[path] ?? [])].sort((a, b) => fits(b) - fits(a));
  if (!groups || fits(groups) === 0) return [{ title: null, entries }];
  const known = new Set(groups.flatMap(([, keys]) => keys));
  const parts = groups.map(([title, keys]) => ({
    title: /** @type {string | null} */ (title),
    entries: keys.flatMap((key) => entries.filter(([own]) => own === key)),
  }));
  parts.push({ title: "more", entries: entries.filter(([key]) => !known.has(key)) });
  return parts.filter((part) => part.entries.length > 0);
}
