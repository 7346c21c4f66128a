// Visitors of the past for a pool, written into the file in which the program counts.

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { until } from "./browser.js";

const QUARTER_SECS = 900;
/** Python has SQLite on board; Node.js of Debian does not. Adds rows `[start, arrivals, ...]` of the table `intervals`. */
const INSERT = `
import json, sqlite3, sys
rows = json.load(sys.stdin)
file = sqlite3.connect(sys.argv[1], timeout=30)
file.executemany("INSERT OR REPLACE INTO intervals VALUES (" + ",".join("?" * 15) + ")", rows)
file.commit()
`;

/** Day of the week without visitors, 0 for Sunday: not today, because today's visitors come from the camera. */
export const CLOSED_DAY = (new Date().getDay() + 1) % 7;

/** Arrivals of a quarter: from 9 to 18 o'clock, most at three in the afternoon. */
function arrivalsAt(time) {
  const hour = time.getHours() + time.getMinutes() / 60;
  if (time.getDay() === CLOSED_DAY || hour < 9 || hour >= 18) return 0;
  const isWeekend = time.getDay() % 6 === 0;
  // Steady but uneven: no two days are the same, and every run has the same days.
  const uneven = ((time.getDate() * 37 + Math.floor(hour * 4) * 11) % 17) / 17;
  return Math.round((isWeekend ? 11 : 6) * Math.exp(-(((hour - 15) / 3) ** 2)) * (0.6 + 0.8 * uneven));
}

/**
 * Adds visitors of `days` days before `untilMs`, as soon as the pool has counted its first one. Returns the number of visitors of
 * each date.
 * @param {import("./pool.js").Pool} pool
 * @param {number} untilMs
 * @param {number} days
 * @returns {Promise<Map<string, number>>}
 */
export async function addCounts(pool, untilMs, days) {
  const perDay = new Map();
  const rows = [];
  const last = Math.floor(untilMs / 1000 / QUARTER_SECS - 1) * QUARTER_SECS;
  for (let start = last - days * 86_400; start <= last; start += QUARTER_SECS) {
    const time = new Date(start * 1000);
    const n = arrivalsAt(time);
    if (n === 0) continue;
    const day = time.toLocaleDateString("en-CA");
    perDay.set(day, (perDay.get(day) ?? 0) + n);
    // Classes of times of stay, from below 5 s to above 20 min.
    const stays = [0.05, 0.1, 0.15, 0.25, 0.2, 0.15, 0.1, 0, 0].map((share) => Math.floor(n * share));
    stays[3] += n - stays.reduce((a, b) => a + b, 0);
    rows.push([start, n, n, n * 70.0, Math.min(n, 9), n * 70.0, ...stays]);
  }
  const file = join(pool.state, "visitors.sqlite");
  await until(() => existsSync(file), "the first visitor", 60_000);
  execFileSync("python3", ["-c", INSERT, file], { input: JSON.stringify(rows) });
  return perDay;
}
