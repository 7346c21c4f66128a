// The guided installation with the real program: what it says is true, also when the camera, the disc or the decimal comma is not.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { networkSource, withoutPassword } from "../../src/panel/assets/setup/network_camera.js";
import { parseNumber } from "../../src/panel/assets/core/numbers.js";
import { api, launch, logIn, openPage, until } from "./browser.js";
import { PASSWORD, Pool } from "./pool.js";

const HERE = dirname(fileURLToPath(import.meta.url));

let browser;
let folder;
/** The place of the disc; the camera sends nothing while it says "lost". */
let disc;
/** @type {Pool} */
let pool;
let page;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "shoal-setup-"));
  disc = join(folder, "disc");
  writeFileSync(disc, "");
  [browser, pool] = await Promise.all([launch(), Pool.start()]);
  page = await openPage(browser, pool.url, { width: 390, height: 844 });
});

after(async () => {
  await browser?.close();
  await pool?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const ticked = () => page.locator(".steps .step-mark.done").evaluateAll((marks) => marks.map((mark) => mark.closest("a").hash.split("/")[2]));
const camera = () => `command:${process.execPath} ${join(HERE, "camera.js")} ${disc}`;

test("a number is read with a decimal comma, and nothing else is guessed", () => {
  for (const [text, value] of [["4,2", 4.2], ["4.2", 4.2], ["-0,3", -0.3], ["−0,3", -0.3], [" 12 ", 12], [",5", 0.5], ["1e-3", 0.001]]) assert.equal(parseNumber(text), value, text);
  for (const text of ["", "1.000,5", "4,2 m", "four", "4,,2", "-"]) assert.ok(Number.isNaN(parseNumber(text)), text);
});

test("the source of a network camera is built from its address, and shown without its password", () => {
  const source = networkSource("rtsp://192.168.1.64:554/stream1", { user: "ada", password: "it's a p@ss" });
  assert.match(source, /-i 'rtsp:\/\/ada:it%27s%20a%20p%40ss@192\.168\.1\.64:554\/stream1' /);
  const shown = withoutPassword(source);
  assert.ok(!shown.includes("p%40ss") && shown.includes("rtsp://ada:•••@192.168.1.64"), shown);
});

test("after the first password, nothing but the password is ticked, and the name is told", async () => {
  await page.getByText("Your name will be “admin”").waitFor();
  await page.locator("#login-code").fill(pool.code);
  await page.locator("#login-password").fill(PASSWORD);
  await page.locator("#login-again").fill(PASSWORD);
  await page.locator("form button[type=submit]").click();
  await page.locator("shoal-setup h1").waitFor();
  await page.locator(".step-mark.done").first().waitFor();
  assert.deepEqual(await ticked(), ["password"]);
  await page.goto(`${pool.url}/#/setup/password`);
  await page.getByText("Your name is “admin”").waitFor();
});

test("the strip of steps of a phone shows the current step", async () => {
  for (const step of ["language", "scene", "report"]) {
    await page.goto(`${pool.url}/#/setup/${step}`);
    const isSeen = () => page.locator(".steps a[aria-current]").evaluate((link) => {
      const [own, strip] = [link.getBoundingClientRect(), link.closest("ol").getBoundingClientRect()];
      return own.left >= strip.left - 1 && own.right <= strip.right + 1;
    });
    await until(isSeen, `${step} in the strip`);
  }
});

test("an area is drawn with a finger beside the mask, changed by keys, taken back and removed", async () => {
  await page.goto(`${pool.url}/#/setup/camera`);
  const areas = page.locator("shoal-areas");
  await areas.locator("figure shoal-picture img").waitFor();
  const vision = async () => (await api(page, "/documents")).documents[0].values.vision ?? {};
  const drawing = areas.locator("svg[role=group]");
  const at = async (x, y) => {
    const box = await drawing.boundingBox();
    return [box.x + x * box.width, box.y + y * box.height];
  };
  const tap = async (x, y) => page.mouse.click(...(await at(x, y)));
  await areas.getByRole("button", { name: "Ignore an area" }).click();
  await drawing.evaluate((svg) => svg.scrollIntoView({ block: "center" }));
  const use = areas.getByRole("button", { name: "Use this area" });
  for (const [x, y] of [[0.2, 0.2], [0.5, 0.2]]) await tap(x, y);
  assert.ok(await use.isDisabled());
  await tap(0.5, 0.6);
  // The finger puts the corner down at another place and slides to the right one.
  await page.mouse.move(...(await at(0.4, 0.8)));
  await page.mouse.down();
  await page.mouse.move(...(await at(0.2, 0.6)), { steps: 4 });
  await page.mouse.up();
  await use.click();
  // Without a calibration the picture of the camera is the surface of 4 x 3 m.
  const near = (corners, wanted, reach) => corners?.length === wanted.length && corners.every(([x, y], i) => Math.hypot(x - wanted[i][0], y - wanted[i][1]) < reach);
  const onFloor = [[-1.2, -0.9], [0, -0.9], [0, 0.3], [-1.2, 0.3]];
  await until(async () => near((await vision()).ignore?.[0]?.floor_m, onFloor, 0.05), "the area on the floor");
  assert.match(readFileSync(pool.site, "utf8"), /floor_m/);
  await drawing.locator("polygon.ignore").waitFor({ state: "attached" });
  await areas.getByRole("button", { name: "Change the corners" }).click();
  await drawing.getByRole("button", { name: "Corner 1", exact: true }).focus();
  await page.keyboard.press("Shift+ArrowRight");
  await use.click();
  await until(async () => (await vision()).ignore?.[0]?.floor_m[0][0] > -1.17, "the moved corner");
  await page.locator(".changes").getByRole("button", { name: "Undo" }).click();
  await until(async () => near((await vision()).ignore?.[0]?.floor_m, onFloor, 0.05), "the corner before");
  await areas.getByRole("button", { name: "In the picture" }).click();
  await areas.getByRole("button", { name: "Look only in an area" }).click();
  await drawing.evaluate((svg) => svg.scrollIntoView({ block: "center" }));
  for (const [x, y] of [[0.1, 0.1], [0.9, 0.1], [0.5, 0.9]]) await tap(x, y);
  await use.click();
  const size = await until(async () => {
    const { camera } = await api(page, "/status");
    return camera.areas.length === 2 && camera.size_px;
  }, "two areas in use");
  const inPicture = [[0.1, 0.1], [0.9, 0.1], [0.5, 0.9]].map(([x, y]) => [x * size[0], y * size[1]]);
  assert.ok(near((await vision()).include[0].camera_px, inPicture, size[0] / 60));
  for (let left = 2; left > 0; left--) {
    await areas.getByRole("button", { name: "Remove the area" }).first().click();
    await until(async () => (await api(page, "/status")).camera.areas.length === left - 1, `${left - 1} areas`);
  }
});

test("simulated visitors and a missing camera are no good exposure and no tick", async () => {
  await page.goto(`${pool.url}/#/setup/camera`);
  await page.getByText("Demonstration: the visitors are simulated.").waitFor();
  const names = () => page.locator("shoal-camera-step h2").allInnerTexts();
  await until(async () => (await names())[0] === "Which camera", "the list of cameras, first");
  await page.locator("#v-camera-source").fill("v4l2:97");
  await page.locator("#v-camera-source").press("Enter");
  await page.getByText("No picture arrives").waitFor();
  assert.equal(await page.getByText("The exposure is good.").count(), 0);
  assert.ok(!(await ticked()).includes("camera"));
});

test("an address of a network camera becomes the source, and its password is shown nowhere", async () => {
  await page.getByText("Network camera (RTSP)").click();
  await page.getByLabel("Address", { exact: true }).fill("rtsp://127.0.0.1:9/a");
  await page.getByLabel("Name at the camera").fill("ada");
  await page.getByLabel("Password at the camera").fill("s3cret");
  await page.getByRole("button", { name: "Use this camera" }).click();
  await page.getByText("rtsp://ada:•••@127.0.0.1:9/a").first().waitFor();
  const status = await until(async () => {
    const now = await api(page, "/status");
    return now.faults.some((fault) => fault.detail.includes("127.0.0.1:9")) && now;
  }, "the fault of the camera", 30_000);
  assert.ok(!JSON.stringify(status).includes("s3cret"), "the password in the status");
});

test("the surface: width before height, a decimal comma, and a drawing", async () => {
  await page.goto(`${pool.url}/#/setup/surface`);
  await page.locator("#v-surface-width_m").waitFor();
  const labels = await page.locator("shoal-setup .param label").allInnerTexts();
  assert.deepEqual(labels.slice(0, 3), ["What it is projected on", "Width of the projected picture", "Height of the projected picture"]);
  await page.locator("#v-surface-width_m").fill("4,2");
  await page.locator("#v-surface-width_m").press("Enter");
  await until(async () => Math.abs((await api(page, "/documents")).documents[0].effective.surface.width_m - 4.2) < 1e-6, "4.2 m");
  await page.getByRole("img", { name: "The surface: 4.2 m wide, 3 m high" }).waitFor();
  // A text that is no value stays, with what is wrong with it, until the value changes.
  await page.locator("#v-surface-width_m").fill("1000");
  await page.locator("#v-surface-width_m").press("Tab");
  await page.locator("#v-surface-width_m-wrong", { hasText: "100" }).waitFor();
  assert.equal(await page.locator("#v-surface-width_m").inputValue(), "1000");
  await page.locator("#v-surface-width_m").fill("4");
  await page.locator("#v-surface-width_m").press("Enter");
  await page.locator("#v-surface-width_m-wrong").waitFor({ state: "detached" });
  await until(async () => (await api(page, "/documents")).documents[0].effective.surface.width_m === 4, "4 m");
});

test("a new projector is the one that is shown", async () => {
  await page.goto(`${pool.url}/#/setup/output`);
  await page.getByRole("button", { name: "Add a projector" }).click();
  await page.getByRole("button", { name: "Projector 2", exact: true, pressed: true }).waitFor();
  await page.locator(".changes").getByRole("button", { name: "Undo" }).click();
});

test("a disc that is not dark, and a lost camera, are named; other pages say that a calibration runs", async () => {
  await pool.stop({ keep: true });
  pool = await Pool.start({ folder: pool.folder, camera: camera() });
  await page.context().close();
  page = await openPage(browser, pool.url, { width: 390, height: 844 });
  await logIn(page, "admin", PASSWORD);
  await page.goto(`${pool.url}/#/setup/calibration`);
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.getByText("Put the disc on the cross and step away.").waitFor({ timeout: 60_000 });
  const backs = await page.getByRole("button", { name: "Cross before" }).count();
  assert.deepEqual([backs, await page.getByRole("link", { name: "Previous step" }).count()], [1, 1]);
  await page.getByText("Shoal sees no dark disc.").waitFor({ timeout: 60_000 });
  await page.locator(".procedure shoal-picture img").waitFor();
  writeFileSync(disc, "lost");
  const lost = page.getByText("The camera sends no pictures.").first();
  await lost.waitFor({ timeout: 60_000 });
  writeFileSync(disc, "");
  await lost.waitFor({ state: "detached", timeout: 60_000 });
  // A fixed bug: a picture in which nothing can be seen was called a disc that is not dark.
  for (const [word, sentence] of [["black", "The camera's picture is black."], ["white", "The camera's picture is far too bright."], ["frozen", "The camera's picture is frozen."]]) {
    writeFileSync(disc, word);
    const named = page.getByText(sentence).first();
    await named.waitFor({ timeout: 60_000 });
    assert.equal(await page.getByText("Shoal sees no dark disc.").count(), 0, word);
    writeFileSync(disc, "");
    await named.waitFor({ state: "detached", timeout: 60_000 });
  }
  const other = await openPage(browser, pool.url);
  await logIn(other, "admin", PASSWORD);
  await other.goto(`${pool.url}/#/now`);
  await other.locator(".busy", { hasText: "The camera is being calibrated" }).waitFor();
  await other.context().close();
  await page.getByRole("button", { name: "Cancel the calibration" }).click();
  await page.getByText("Cancelled. Nothing was changed.").waitFor();
});
