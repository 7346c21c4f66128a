// What is allowed in a plan of opening hours, but is probably a mistake. The same limits as in Shoal's own check of the site file.

/** @typedef {{ from: string, to: string, state?: string }} Hours */
/** @typedef {{ days?: string[], date?: string, last?: string, hours?: Hours[] }} Entry */
/** @typedef {{ otherwise?: string, weekly?: Entry[], dates?: Entry[], yearly?: Entry[] }} Plan */

/** Number of days from which an entry without any opening is probably a mistake. */
const CLOSED_DAYS = 60;
/** Number of days from which an entry covers most of the year. */
const MOST_DAYS = 183;
const DAY_MS = 86_400_000;
const YEAR_DAYS = 365;

/** Returns the number of days that an entry of single dates or of every year covers; 0 without a date. @param {"dates" | "yearly"} list @param {Entry} entry */
export function daysCovered(list, { date, last }) {
  const day = (/** @type {string} */ text) => Date.parse(`${list === "yearly" ? `2023-${text === "02-29" ? "02-28" : text}` : text}T12:00:00Z`) / DAY_MS;
  if (!date) return 0;
  const count = day(last || date) - day(date) + 1;
  if (Number.isNaN(count)) return 0;
  // Days of every year can go over the new year.
  return Math.max(0, count > 0 || list === "dates" ? count : count + YEAR_DAYS);
}

/** Whether the pool is visible at some time of a day with these hours. @param {Plan} plan @param {Entry} entry */
function opens(plan, { hours = [] }) {
  const isLit = (/** @type {string | undefined} */ state) => state === "open" || state === "attract";
  return isLit(plan.otherwise ?? "closed") || hours.some((hour) => isLit(hour.state ?? "open"));
}

/** Whether an entry covers more days than somebody would mean. @param {Plan} plan @param {"dates" | "yearly"} list @param {Entry} entry */
export function isTooLong(plan, list, entry) {
  return daysCovered(list, entry) > (opens(plan, entry) ? MOST_DAYS : CLOSED_DAYS);
}

/** Whether a plan never opens the pool, apart from single dates. @param {Plan} plan */
export function isNeverOpen(plan) {
  const { weekly = [], dates = [], yearly = [] } = plan;
  if (weekly.length + dates.length + yearly.length === 0) return false;
  const covered = yearly.reduce((sum, entry) => sum + daysCovered("yearly", entry), 0);
  const isUsuallyOpen = weekly.length === 0 || weekly.some((entry) => opens(plan, entry));
  return !(isUsuallyOpen && covered < YEAR_DAYS) && !yearly.some((entry) => opens(plan, entry));
}
