// The page with the counts of visitors, with the real program and its file.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { api, launch, logIn, openPage, until } from "./browser.js";
import { addCounts, CLOSED_DAY } from "./counts.js";
import { freePort, PASSWORD, Pool } from "./pool.js";

let browser;
/** @type {Pool} */
let pool;
let page;
/** Visitors of each date. @type {Map<string, number>} */
let perDay;
/** Visitors of today, whom the synthetic camera showed until the pool was closed. */
let today = 0;

before(async () => {
  [browser, pool] = await Promise.all([launch(), Pool.start({ more: "\n[counting]\non = true\nhide_below = 2\n" })]);
  perDay = await addCounts(pool, new Date().setHours(0, 0, 0, 0), 40);
  page = await openPage(browser, `${pool.url}/#setup=${pool.code}`);
  await page.locator("#login-password").fill(PASSWORD);
  await page.locator("#login-again").fill(PASSWORD);
  await page.locator("form button[type=submit]").click();
  await page.locator("shoal-setup h1").waitFor();
  // While the pool is closed, nobody is counted.
  await page.goto(`${pool.url}/#/now`);
  await page.getByRole("button", { name: "End of day" }).click();
  await page.getByRole("button", { name: "Until I end it" }).click();
  await until(async () => (await api(page, "/status")).schedule.state === "closed", "the end of the day");
  await page.waitForTimeout(3000);
  today = (await api(page, "/analytics?by=day&from=" + new Date().toLocaleDateString("en-CA"))).intervals[0].arrivals ?? 0;
});

after(async () => {
  await browser?.close();
  await pool?.stop();
});

/** The dates of the days before today, the newest first. @param {number} count */
function lastDays(count) {
  return Array.from({ length: count }, (_, index) => new Date(Date.now() - (index + 1) * 86_400_000).toLocaleDateString("en-CA"));
}

/** Visitors of these dates. @param {string[]} dates */
function visitorsOf(dates) {
  return dates.reduce((sum, day) => sum + (perDay.get(day) ?? 0), 0);
}

test("the page shows the visitors of the last weeks by day, hour, stay and weekday", async () => {
  await page.goto(`${pool.url}/#/visitors`);
  const total = page.locator(".figures strong").first();
  const shown = new Intl.NumberFormat("en");
  // Four weeks: today and the 27 days before.
  await until(async () => (await total.innerText()) === shown.format(today + visitorsOf(lastDays(27))), "the visitors of four weeks");
  const bars = page.locator("section", { hasText: "Visitors by day" }).locator(".bars > span");
  assert.equal(await bars.count(), 28);
  assert.equal(await page.locator(".stays li").count(), 9);
  // The table begins with Monday. The day on which the pool was always closed has no numbers.
  const closed = (CLOSED_DAY + 6) % 7;
  const cells = await page.locator(".heat tbody tr").evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent)));
  // From the first hour with a visitor to the last one: those of the file came from 9 to 18 o'clock, those of today just now.
  const hours = (await page.locator(".heat tbody th").allInnerTexts()).map(Number);
  const now = Number((await api(page, "/status")).schedule.local_time.slice(11, 13));
  assert.deepEqual(hours, hours.map((_, index) => hours[0] + index));
  assert.ok(hours[0] <= 10 && hours[0] >= Math.min(9, now - 1), `from ${hours[0]}`);
  assert.ok(hours[hours.length - 1] >= 16 && hours[hours.length - 1] <= Math.max(17, now), `to ${hours[hours.length - 1]}`);
  assert.ok(cells.every((row) => row[closed] === "") && cells.some((row) => row.some((cell) => Number(cell) > 5)), JSON.stringify(cells));

  await page.getByRole("button", { name: "Week", exact: true }).click();
  await until(async () => (await total.innerText()) === shown.format(today + visitorsOf(lastDays(6))), "the visitors of a week");
  assert.equal(await bars.count(), 7);
  await page.getByRole("button", { name: "Earlier" }).click();
  await until(async () => (await total.innerText()) === shown.format(visitorsOf(lastDays(13).slice(6))), "the week before");
  await page.getByRole("button", { name: "Later" }).click();
  await until(async () => (await total.innerText()) === shown.format(today + visitorsOf(lastDays(6))), "this week again");
});

test("one day is shown by hour, and its hours add up to the day", async () => {
  const day = page.locator("section", { hasText: "Visitors by hour" });
  const back = day.getByRole("button", { name: "Day before" });
  const [date] = lastDays(6).filter((name) => perDay.has(name));
  for (let steps = lastDays(6).indexOf(date) + 1; steps > 0; steps--) await back.click();
  // An hour with a single visitor is hidden.
  const hidden = (await api(page, `/analytics?from=${date}&by=hour`)).intervals.filter((row) => row.from.startsWith(date) && row.is_hidden).length;
  const wanted = (perDay.get(date) ?? 0) - hidden;
  const shown = async () => {
    const label = (await day.locator(".bars").getAttribute("aria-label")) ?? "";
    return [...label.matchAll(/\d+:00: (\d+)/g)].reduce((sum, match) => sum + Number(match[1]), 0);
  };
  await until(async () => (await shown()) === wanted, `${wanted} visitors in the hours of ${date}`);
});

test("a reader in another time zone sees the time and the day of the pool", async () => {
  const schedule = (await api(page, "/status")).schedule;
  // At any time, one of these has another day than the pool.
  for (const zone of ["Pacific/Kiritimati", "Pacific/Pago_Pago"]) {
    const far = await openPage(browser, pool.url, { zone });
    await logIn(far, "admin", PASSWORD);
    await far.goto(`${pool.url}/#/now`);
    const bars = far.locator(".bars");
    await bars.waitFor();
    // One bar for each hour of the pool's day up to now.
    const hour = Number((await api(far, "/status")).schedule.local_time.slice(11, 13));
    assert.ok(Math.abs((await bars.locator("span").count()) - 1 - hour) <= 1, `${zone}: bars for ${hour} hours`);
    const now = await api(far, "/status");
    const began = new Date(Date.parse(now.time) - now.uptime_secs * 1000);
    const clock = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: schedule.time_zone });
    const times = [-60_000, 0, 60_000].map((by) => clock.format(new Date(began.getTime() + by)));
    const shown = await far.evaluate(async (time) => (await import("/assets/core/i18n.js")).when(time), began.toISOString());
    assert.ok(times.some((time) => shown.endsWith(time)), `${zone}: ${shown} is none of ${times}`);
    await far.context().close();
  }
});

test("the counts are exported as a table for spreadsheets", async () => {
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Table by day" }).click()]);
  assert.equal(download.suggestedFilename(), "visitors.csv");
  const lines = readFileSync(await download.path(), "utf8").trim().split("\n");
  assert.match(lines[0], /^start,arrivals,departures,mean_stay_secs,most_at_once/);
  const rows = lines.slice(1).map((line) => line.split(","));
  const week = lastDays(6).filter((day) => perDay.has(day)).reverse();
  assert.deepEqual(rows.slice(0, week.length).map((row) => [row[0].slice(0, 10), Number(row[1])]), week.map((day) => [day, perDay.get(day)]));
});

test("without counting, the page says how to begin", async () => {
  // The address has to be the same after a restart.
  const other = await Pool.start({ listen: `127.0.0.1:${await freePort()}` });
  const guest = await openPage(browser, `${other.url}/#setup=${other.code}`);
  await guest.locator("#login-password").fill(PASSWORD);
  await guest.locator("#login-again").fill(PASSWORD);
  await guest.locator("form button[type=submit]").click();
  await guest.locator("shoal-setup h1").waitFor();
  await guest.goto(`${other.url}/#/visitors`);
  await guest.getByRole("button", { name: "Count visitors" }).click();
  await guest.getByText("Counting begins with a restart of Shoal.").waitFor();
  await until(async () => (await api(guest, "/status")).restart_needed.includes("counting.on"), "the restart that is needed");
  // A fixed bug: the change could not be made effective from the panel.
  await guest.getByRole("button", { name: "Restart Shoal" }).click();
  await guest.getByRole("button", { name: "Restart now" }).click();
  await until(async () => (await api(guest, "/status").catch(() => null))?.restart_needed?.length === 0, "the new start", 60_000);
  await guest.getByText("Counting begins with a restart of Shoal.").waitFor({ state: "detached", timeout: 60_000 });
  await guest.context().close();
  await other.stop();
});
