// What a calibration waits for and why something was rejected, in the reader's language. Shoal reports codes; a code that this
// page does not know, for example of a newer Shoal, is shown with Shoal's own English text.

import { known } from "../core/i18n.js";

/** @typedef {{ code: string, text: string, repeat: number[] }} Rejection */
/** @typedef {{ points: number, predicted_rms_m: number, predicted_worst_m: number, is_mirrored: boolean, targets: { number: number, error_m: number }[] }} Result */

/**
 * What the status says about the calibration.
 * @typedef {object} Calibration
 * @property {"idle" | "starting" | "touch" | "stripes" | "proven" | "rejected"} phase
 * @property {string | null} waits_for
 * @property {Rejection | null} rejection
 * @property {Result | null} result
 * @property {"accepted" | "cancelled" | "failed" | null} end
 * @property {"disc" | "pole" | null} mark
 * @property {number | null} target
 * @property {number} targets
 * @property {number} taken
 * @property {string} sentence
 */

/** Returns what the procedure waits for; `undefined` if this page does not know it. @param {Calibration} calibration */
export function waiting({ waits_for: wait, mark }) {
  if (wait === null) return undefined;
  return known("waiting", wait) ?? known("waiting", `${wait}.${mark ?? "disc"}`);
}

/** Returns why the last measurement or step was rejected; `undefined` if this page does not know it. @param {Rejection} rejection */
export function rejectionText(rejection) {
  return known("rejection", rejection.code);
}
