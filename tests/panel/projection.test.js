// What the projector shows while the panel is used: the real program on a real X server, and screenshots of it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { api, launch, logIn, openPage, until } from "./browser.js";
import { Display, missingForDisplay } from "./display.js";
import { PASSWORD, Pool } from "./pool.js";

/** Longest wait for a change of the projection. Software Vulkan needs some hundred ms for a picture, and compiles its shaders first. */
const SHOWN_MS = 60_000;
/** Largest distance between a corner of the projection and where the panel has it, in pixels. */
const CORNER_PX = 3;

const missing = missingForDisplay();
const skip = missing.length > 0 && `${missing.join(", ")} missing (scripts/prepare test)`;
if (skip) console.error(`SKIPPED: the tests of the projection. ${skip}`);

let browser;
let display;
/** @type {Pool} */
let pool;
let page;

before(async () => {
  if (skip) return;
  [browser, display] = await Promise.all([launch(), Display.start()]);
  pool = await Pool.start({ display: display.name, listen: "0.0.0.0:0" });
});

after(async () => {
  await browser?.close();
  await pool?.stop();
  display?.stop();
});

test("the projection shows a QR code with the panel's address and the setup code, until a password is set", { skip }, async () => {
  const link = await until(() => display.picture().qrText(), "the QR code on the projection", SHOWN_MS);
  assert.match(pool.url, /^https:/, "other devices reach the panel with encryption only");
  assert.equal(link, `${pool.url}/#setup=${pool.code}`);
  // The phone opens what the QR code says: the code is filled in already.
  page = await openPage(browser, link, { width: 768, height: 1024, hasTouch: true });
  await page.locator("#login-password").fill(PASSWORD);
  await page.locator("#login-again").fill(PASSWORD);
  await page.locator("form button[type=submit]").click();
  await page.locator("shoal-setup h1").waitFor();
  await until(() => display.picture().qrText() === null, "the projection without the QR code", SHOWN_MS);
});

test("the projected picture follows a corner that is dragged with a finger", { skip }, async () => {
  const { width, height } = display.picture();
  const [corner, middle] = [[0, 0], [width / 2, height / 2]];
  await until(() => display.picture().firstLit(corner, middle) <= CORNER_PX, "a picture that fills the projector", SHOWN_MS);

  await page.goto(`${pool.url}/#/setup/output`);
  const handle = page.getByRole("button", { name: "Top left corner" }).first();
  await handle.scrollIntoViewIfNeeded();
  const box = await handle.boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const touch = await page.context().newCDPSession(page);
  const corners = async () => (await api(page, "/documents")).documents[0].effective.outputs[0].corners;
  /** Where the projection's corner should be, once the panel's page is there. */
  const isShown = async () => {
    const { x: cx, y: cy } = (await corners()).top_left;
    const at = [cx * width, cy * height];
    const begins = display.picture().firstLit(corner, at.map((v) => v * 1.5));
    return begins !== null && Math.abs(begins - Math.hypot(...at)) <= CORNER_PX && begins;
  };
  const move = (type, by) => touch.send("Input.dispatchTouchEvent", { type, touchPoints: by === null ? [] : [{ x: x + 4 * by, y: y + 3 * by }] });

  await move("touchStart", 0);
  for (let by = 1; by <= 10; by++) await move("touchMove", by);
  await until(async () => (await corners()).top_left.x > 0.03, "the corner, while the finger is still down");
  const onTheWay = await until(isShown, "the projection, while the finger is still down", SHOWN_MS);
  for (let by = 11; by <= 20; by++) await move("touchMove", by);
  await move("touchEnd", null);
  const there = await until(async () => {
    const begins = await isShown();
    return begins > onTheWay + 20 && begins;
  }, "the projection at the end", SHOWN_MS);
  assert.ok(there > 60, `the corner moved by ${there} px`);
  // The opposite corner stays where it is.
  assert.ok(display.picture().firstLit([width - 1, height - 1], middle) <= CORNER_PX, "the opposite corner");
});

test("a test picture from the panel replaces the fish, marks the chosen corner, and ends with the step", { skip }, async () => {
  const { width, height } = display.picture();
  const isWhite = (r, g, b) => Math.min(r, g, b) > 120;
  const isOrange = (r, g, b) => r > 150 && g > 60 && g < 0.8 * r && b < 0.4 * r;
  const isDark = (r, g, b) => Math.max(r, g, b) < 40;
  const lowerRight = [width / 2, height / 2, width, height].map(Math.round);
  await page.goto(`${pool.url}/#/setup/output`);
  await page.getByRole("button", { name: "Grid", exact: true }).click();
  await until(() => {
    const picture = display.picture();
    return picture.share(isWhite) > 0.02 && picture.share(isDark) > 0.5;
  }, "the grid", SHOWN_MS);
  assert.equal(display.picture().share(isOrange, lowerRight), 0, "the upper left corner is marked");
  await page.getByRole("button", { name: "3: Bottom right corner" }).last().click();
  await until(() => display.picture().share(isOrange, lowerRight) > 0.003, "the mark of the chosen corner", SHOWN_MS);
  // Another page says what is on the floor.
  const other = await openPage(browser, pool.url);
  await logIn(other, "admin", PASSWORD);
  await other.goto(`${pool.url}/#/now`);
  await other.getByText("A test picture is on the floor").waitFor();
  await other.context().close();
  await page.goto(`${pool.url}/#/setup/surface`);
  await until(async () => (await api(page, "/status")).test_picture === null, "the end of the test picture");
  await until(() => display.picture().share(isWhite) < 0.01, "the fish", SHOWN_MS);
});

test("the page offers the monitors that are connected", { skip }, async () => {
  const names = (await api(page, "/monitors")).monitors.map((monitor) => monitor.name);
  assert.equal(names.length, 1);
  await page.goto(`${pool.url}/#/setup/output`);
  await page.locator("#monitor option", { hasText: `${names[0]} (640 × 480)` }).waitFor({ state: "attached" });
  await page.locator("#monitor").selectOption(names[0]);
  await until(async () => (await api(page, "/documents")).documents[0].effective.outputs[0].monitor === names[0], "the chosen monitor");
  await until(async () => (await api(page, "/status")).outputs[0].monitor === names[0], "the picture on this monitor", SHOWN_MS);
});

test("the picture is restarted from the panel, and comes back as it was", { skip }, async () => {
  const { width, height } = display.picture();
  const begins = () => display.picture().firstLit([0, 0], [width / 2, height / 2]);
  const before = begins();
  const pictures = async () => (await api(page, "/status")).timing.draw.count;
  const stage = async () => (await api(page, "/status")).stages.find((other) => other.name === "render");
  const ranFor = (await stage()).for_secs;
  await page.goto(`${pool.url}/#/system`);
  await page.locator("#tab-machine").click();
  await page.getByRole("button", { name: "Picture", exact: true }).click();
  await page.getByRole("button", { name: "Restart now" }).click();
  await until(async () => (await stage()).for_secs < ranFor, "the restart of the picture");
  const drawn = await pictures();
  await until(async () => (await pictures()) > drawn + 2, "new pictures", SHOWN_MS);
  await until(() => Math.abs((begins() ?? Infinity) - before) <= CORNER_PX, "the picture as it was", SHOWN_MS);
  assert.deepEqual([(await stage()).state, (await stage()).restarts], ["running", 0]);
});
