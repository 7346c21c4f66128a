// Debian's Chromium, and what the tests ask of a page.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => existsSync(path));
const ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

export function launch() {
  if (!CHROMIUM) throw new Error("chromium is missing: scripts/prepare test");
  return chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS });
}

/** Opens a page whose errors fail the test. */
export async function openPage(browser, url, { width = 1280, height = 900, language = "en", theme = "light", hasTouch = false, zone = undefined } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, hasTouch, locale: language, timezoneId: zone, ignoreHTTPSErrors: true });
  await context.addInitScript((code) => localStorage.setItem("shoal.language", code), language);
  const page = await context.newPage();
  page.problems = [];
  page.on("pageerror", (error) => page.problems.push(error.stack ?? String(error)));
  page.on("console", (message) => {
    // A refused request is reported by the browser too; the page itself says what it means.
    if (message.type() === "error" && !/Failed to load resource|WebSocket/.test(message.text())) page.problems.push(message.text());
  });
  page.setDefaultTimeout(20_000);
  await page.goto(url);
  return page;
}

export async function logIn(page, user, password) {
  await page.getByLabel("Name", { exact: true }).fill(user);
  await page.locator("#login-password").fill(password);
  await page.locator("form button[type=submit]").click();
  await page.locator("#main").waitFor();
}

/** Asserts that axe finds nothing serious, and that nothing is wider than the page. */
export async function assertAccessible(page, where) {
  // A script that the page did not ask for is blocked by its policy, so axe comes through the debugger.
  await page.evaluate(AXE);
  const found = await page.evaluate(async () => {
    const result = await window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] });
    return result.violations.map((v) => `${v.impact} ${v.id}: ${v.nodes.slice(0, 4).map((n) => `${n.target.join(" ")} ${n.failureSummary?.split("\n")[1] ?? ""}`).join(" | ")}`);
  });
  assert.deepEqual(found, [], where);
  const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(excess <= 0, `${where}: ${excess} px wider than the page`);
  assert.deepEqual(page.problems, [], where);
}

/** Waits until `check` returns something. */
export async function until(check, what, limitMs = 15_000) {
  const end = Date.now() + limitMs;
  for (;;) {
    const value = await check();
    if (value) return value;
    assert.ok(Date.now() < end, `timed out: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Asks the HTTP interface with the session of the page. */
export function api(page, path) {
  return page.evaluate(async (address) => (await fetch(address)).json(), `/api/v1${path}`);
}
