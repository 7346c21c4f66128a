// Why a fish acts: the panel explains a chosen fish, leads it, and draws over the real projection what pulls it.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { api, assertAccessible, launch, openPage, until } from "./browser.js";
import { Display, missingForDisplay } from "./display.js";
import { PASSWORD, Pool } from "./pool.js";

/** Longest wait for a change of the projection. */
const SHOWN_MS = 60_000;
const pictures = process.env.SHOAL_SCREENSHOTS;
const missing = missingForDisplay();
const skip = missing.length > 0 && `${missing.join(", ")} missing (scripts/prepare test)`;
if (skip) console.error(`SKIPPED: the tests of the explained fish. ${skip}`);

let browser;
let display;
/** @type {Pool} */
let pool;
let page;

before(async () => {
  if (skip) return;
  [browser, display] = await Promise.all([launch(), Display.start()]);
  pool = await Pool.start({ display: display.name });
  page = await openPage(browser, `${pool.url}/#setup=${pool.code}`, { width: 390, height: 844 });
  await page.locator("#login-password").fill(PASSWORD);
  await page.locator("#login-again").fill(PASSWORD);
  await page.locator("form button[type=submit]").click();
  await page.locator("shoal-setup h1").waitFor();
});

after(async () => {
  await browser?.close();
  await pool?.stop();
  display?.stop();
});

/** Takes pictures of the page on a phone and on a desk, in both languages, for people. */
async function takePictures(name) {
  if (!pictures) return;
  mkdirSync(pictures, { recursive: true });
  for (const [width, height] of [[390, 844], [1440, 900]]) {
    await page.setViewportSize({ width, height });
    await page.waitForTimeout(400);
    await page.screenshot({ path: join(pictures, `${name}-${width}.png`), fullPage: true });
  }
  await page.setViewportSize({ width: 390, height: 844 });
}

const id = async () => Number(/ (\d+)$/.exec(await page.locator("shoal-live .card-head h2").first().innerText())[1]);

test("a chosen fish says which need acts and why, what it does, and whom it perceives", { skip }, async () => {
  await page.goto(`${pool.url}/#/live`);
  await until(async () => (await page.locator("shoal-live .legend li").count()) > 0, "the species");
  // The fish come a moment after the page.
  await until(async () => {
    if ((await page.locator(".why-reason").count()) === 0) await page.getByRole("button", { name: "Next fish" }).click();
    await page.waitForTimeout(500);
    return (await page.locator(".why-reason").count()) > 0;
  }, "the reason of a chosen fish");
  assert.match(await page.locator(".why-reason").innerText(), /acts|does what it always does/);
  const needs = await page.locator(".why-need").count();
  assert.ok(needs >= 3, `${needs} needs`);
  await until(async () => (await page.locator(".why-actions .acts").count()) > 0, "an action that acts");
  await until(async () => (await page.locator(".why-actions .impossible").count()) > 0, "an action that was asked in vain");
  await page.getByText(/^Neighbours: \d+$/).waitFor();
  await assertAccessible(page, "explained fish");
  await takePictures("why");
});

test("a fish is led for a time, says so, and gets its own mind back at once", { skip }, async () => {
  await page.getByRole("button", { name: "Lead it" }).click();
  await page.getByRole("button", { name: /^Follow only/ }).last().click();
  await page.getByText("It does not follow its own mind.").waitFor();
  await until(async () => (await page.locator(".why-need strong").first().innerText()) === "by_hand", "the mind of the led fish");
  await takePictures("led");
  await page.getByRole("button", { name: "End now" }).click();
  await until(async () => (await page.getByText("It does not follow its own mind.").count()) === 0, "its own mind");
});

test("drawings on the floor are about the chosen fish, every page says so, and one tap ends them", { skip }, async () => {
  const isGreen = (r, g, b) => g > 150 && r < 0.7 * g && b < 0.8 * g;
  await until(() => display.picture().share((r, g, b) => r + g + b > 30) > 0.5, "a picture", SHOWN_MS);
  const before = display.picture().share(isGreen);
  const own = await id();
  await page.getByLabel("For", { exact: true }).selectOption("one");
  await page.getByRole("button", { name: "School", exact: true }).click();
  await until(async () => (await api(page, "/status")).overlay?.fish === own, "the overlay in the status");
  const { overlay } = await api(page, "/status");
  assert.deepEqual(overlay.show, ["flock"]);
  assert.ok(overlay.left_secs > 200 && overlay.left_secs <= 300, `${overlay.left_secs} s`);
  await page.getByRole("button", { name: "Why", exact: true }).click();
  await until(async () => (await api(page, "/status")).overlay?.show.length === 2, "two parts");
  await until(() => display.picture().share(isGreen) > before + 0.0005, "the drawings on the floor", SHOWN_MS);
  await takePictures("overlay");
  await page.goto(`${pool.url}/#/now`);
  await page.getByText("The floor shows drawings that explain the fish.").waitFor();
  await takePictures("overlay-now");
  await page.getByRole("button", { name: "Show only the pool" }).click();
  await until(async () => (await api(page, "/status")).overlay === null, "the end of the overlay");
});

test("a fish is placed where the finger taps", { skip }, async () => {
  await page.goto(`${pool.url}/#/live`);
  const count = async () => Object.values((await api(page, "/status")).species).reduce((sum, one) => sum + one.count, 0);
  const before = await count();
  await page.locator("section", { has: page.getByText("Add a fish where you tap") }).getByRole("button").first().click();
  await page.locator("shoal-pool canvas").scrollIntoViewIfNeeded();
  const canvas = await page.locator("shoal-pool canvas").boundingBox();
  await page.mouse.click(canvas.x + canvas.width * 0.3, canvas.y + canvas.height * 0.4);
  await until(async () => (await count()) === before + 1, "the new fish");
  await page.getByRole("button", { name: "Done", exact: true }).click();
});

test("a species gets another name in scenes and relations, in one step to undo", { skip }, async () => {
  await page.goto(`${pool.url}/#/life`);
  await page.getByText("trout", { exact: true }).first().click();
  await page.getByRole("button", { name: "Rename" }).click();
  await page.locator("#asked").fill("brown_trout");
  await page.locator("dialog").getByRole("button", { name: "Rename" }).click();
  await until(async () => (await api(page, "/status")).species.brown_trout?.count > 0, "the species with its new name");
  assert.equal((await api(page, "/status")).species.trout, undefined);
  const { documents } = await api(page, "/documents");
  const herring = documents.find((doc) => doc.document.name === "herring").effective;
  assert.ok(herring.relations.enemy.includes("brown_trout") && !herring.relations.enemy.includes("trout"), JSON.stringify(herring.relations));
  const scene = documents.find((doc) => doc.document.kind === "scene" && doc.document.name === "pool");
  assert.ok(!/species = .*"trout"/.test(scene.text), "a rule of the scene names the old species");
  await takePictures("renamed");
  await page.locator("shoal-app").evaluate(() => fetch("/api/v1/session").then((answer) => answer.json()).then(({ csrf }) => fetch("/api/v1/commands", { method: "POST", headers: { "X-CSRF-Token": csrf, "Content-Type": "application/json" }, body: '{"command":"undo"}' })));
  await until(async () => (await api(page, "/status")).species.trout?.count > 0, "the old name again");
});

test("actions that nothing uses are listed and deleted, and values stand in groups", { skip }, async () => {
  await page.goto(`${pool.url}/#/now`);
  await page.goto(`${pool.url}/#/life`);
  await page.getByText("trout", { exact: true }).first().click();
  await page.evaluate(async () => {
    const { csrf } = await (await fetch("/api/v1/session")).json();
    const edits = [{ document: { kind: "species", name: "trout" }, path: "actions.idle_wander", change: { do: "set", value: { action: "wander" } } }];
    await fetch("/api/v1/commands", { method: "POST", headers: { "X-CSRF-Token": csrf, "Content-Type": "application/json" }, body: JSON.stringify({ command: "edit", edits }) });
  });
  await page.getByRole("heading", { name: "Actions that nothing uses" }).waitFor();
  await takePictures("unused");
  await page.getByRole("button", { name: /Remove.*idle_wander/ }).click();
  await until(async () => {
    const { documents } = await api(page, "/documents");
    return documents.find((doc) => doc.document.name === "trout").effective.actions.idle_wander === undefined;
  }, "the end of the action");
  await page.locator("#tab-numbers").click();
  await page.getByRole("heading", { name: "Agility" }).waitFor();
  await page.goto(`${pool.url}/#/scenes`);
  await page.locator("#tab-look").click();
  await page.getByRole("heading", { name: "Water surface" }).waitFor();
  await assertAccessible(page, "look in groups");
  await takePictures("groups");
});

test("the map lies over the picture of the pool", { skip }, async () => {
  await page.goto(`${pool.url}/#/scenes`);
  await page.locator("#tab-map").click();
  await page.locator("svg.map image.below").waitFor();
  await takePictures("map");
});
