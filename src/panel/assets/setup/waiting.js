// What a calibration waits for, in the reader's language.
//
// Shoal reports it as an English sentence. The words by which each state is recognized stand here; a sentence without them is
// shown as it is.

import { t } from "../core/i18n.js";

/** @type {[RegExp, string][]} */
const STATES = [
  [/empty floor is being learned/, "floor"],
  [/light is changing/, "light"],
  [/First lift the object/, "removal"],
  [/do not move the object/, "still"],
  [/dark spots are still/, "single"],
  [/cut off by the edge/, "cut_off"],
  [/too large for/, "too_large"],
  [/not a disc/, "not_disc"],
  [/cannot distinguish the pole/, "stripe"],
  [/Waiting for the camera/, "camera"],
  [/is shown: keep off/, "keep_off"],
  [/on the cross and step away/, "put"],
];

/**
 * Returns the instruction, and whether the last measurement was rejected.
 * @param {{ sentence: string, target: number | null, targets: number, taken: number, is_proven: boolean }} calibration
 * @returns {{ text: string, isKnown: boolean, isAgain: boolean, result?: { mean: string, worst: string } }}
 */
export function waiting(calibration) {
  const { sentence, target } = calibration;
  const state = STATES.find(([words]) => words.test(sentence))?.[1];
  // A rejection stands before the instruction for the target that is repeated.
  const isAgain = target !== null && /^(?!Target \d)/.test(sentence) && /Target \d+ of \d+:/.test(sentence);
  if (calibration.is_proven && target === null) {
    const [, mean, worst] = /error is (\d+) mm \(at most (\d+) mm\)/.exec(sentence) ?? [];
    return { text: t("calibration.proven"), isKnown: true, isAgain, result: mean ? { mean, worst } : undefined };
  }
  if (state === undefined) return { text: t("calibration.working"), isKnown: false, isAgain };
  return { text: t(`waiting.${state}`), isKnown: true, isAgain };
}
