// Figures of the last minute and of the last day, for the small curves. They begin when the page is opened.

import { on } from "./topics.js";

/** @typedef {{ tick: number, draw: number, camera: number, memory: number }} Sample */

const MINUTE = 60;
const DAY_MINUTES = 24 * 60;

/** One sample each second. @type {Sample[]} */
export const lastMinute = [];
/** One sample each minute. @type {Sample[]} */
export const lastDay = [];
let second = 0;
let minute = 0;

on("status", (status) => {
  const now = Date.now();
  const sample = { tick: status.timing.tick.p99_ms, draw: status.timing.draw.p99_ms, camera: Math.min(...[status.camera, ...status.cameras].map((camera) => camera.fps)), memory: (status.machine.memory_bytes ?? 0) / 1e6 };
  if (now - second >= 900) {
    second = now;
    push(lastMinute, sample, MINUTE);
  }
  if (now - minute >= 60_000) {
    minute = now;
    push(lastDay, sample, DAY_MINUTES);
  }
});

/** @param {Sample[]} list @param {Sample} sample @param {number} most */
function push(list, sample, most) {
  list.push(sample);
  if (list.length > most) list.shift();
}
