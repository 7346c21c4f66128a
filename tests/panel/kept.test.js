// What is called saved is on the disk, what was typed is not lost, and one person does not silently take back what another one saved.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { api, launch, logIn, openPage, until } from "./browser.js";
import { pixelOf } from "./camera.js";
import { freePort, PASSWORD, Pool } from "./pool.js";

const HERE = dirname(fileURLToPath(import.meta.url));
const WEEKLY = '\n[schedule]\nclock = "machine"\n\n[[schedule.weekly]]\ndays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]\nhours = [{ from = "00:00", to = "13:00" }, { from = "13:00", to = "24:00" }]\n';

let browser;
let folder;
/** @type {Pool} */
let pool;
let page;
let listen;

const start = () => Pool.start({ folder, listen, more: WEEKLY, camera: `command:${process.execPath} ${join(HERE, "camera.js")} ${join(folder, "disc")}` });
const command = (shown, sent) => shown.evaluate(async (one) => (await import("/assets/core/api.js")).command(one), sent);
const notice = (text) => page.locator(".notice", { hasText: text });

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "shoal-kept-"));
  listen = `127.0.0.1:${await freePort()}`;
  [browser, pool] = await Promise.all([launch(), start()]);
  page = await openPage(browser, `${pool.url}/#setup=${pool.code}`, { width: 1280, height: 900 });
  await page.locator("#login-password").fill(PASSWORD);
  await page.locator("#login-again").fill(PASSWORD);
  await page.locator("form button[type=submit]").click();
  await page.locator("shoal-setup h1").waitFor();
});

after(async () => {
  await browser?.close();
  await pool?.stop();
});

test("the next days are called planned, because what is set by hand is not part of them", async () => {
  await page.goto(`${pool.url}/#/hours`);
  await page.getByText("What is set by hand is not part of it.").waitFor();
});

test("an entry that somebody else changed meanwhile is not silently replaced", async () => {
  const other = await openPage(browser, pool.url);
  await logIn(other, "admin", PASSWORD);
  for (const shown of [page, other]) {
    await shown.goto(`${pool.url}/#/hours`);
    await shown.getByRole("button", { name: /^Every Monday to Sunday/ }).click();
  }
  const put = async (shown, label, nth, text) => {
    await shown.getByLabel(label, { exact: true }).nth(nth).fill(text);
    await shown.getByLabel(label, { exact: true }).nth(nth).press("Tab");
    await shown.getByRole("button", { name: "Done" }).click();
  };
  const plan = async () => (await api(page, "/documents")).documents[0].effective.schedule.weekly[0].hours.map(({ from, to }) => `${from}-${to}`).join(" ");
  await put(page, "To", 0, "12:00");
  await page.locator("dialog").getByRole("button", { name: "Done" }).click();
  await until(async () => (await plan()) === "00:00-12:00 13:00-24:00", "the first change");
  await until(async () => other.evaluate(async () => (await import("/assets/core/store.js")).documents.get("site")?.effective.schedule.weekly[0].hours[0].to === "12:00"), "the other page knows");
  await put(other, "From", 1, "14:00");
  await other.getByText("Somebody else changed this entry while you had it open. It is now: Every Monday to Sunday, 00:00–12:00, 13:00–24:00.").waitFor();
  assert.equal(await plan(), "00:00-12:00 13:00-24:00");
  // A second press replaces it, on purpose.
  await other.getByRole("button", { name: "Done" }).click();
  await other.locator("dialog").getByRole("button", { name: "Done" }).click();
  await until(async () => (await plan()) === "00:00-13:00 14:00-24:00", "the second change");
  await other.context().close();
});

test("the day of a holiday can be chosen before its month, and the list has its name", async () => {
  await page.goto(`${pool.url}/#/hours`);
  // The page of the test before still has its entry open, and hears of the other person's change at any moment.
  await page.reload();
  await page.getByRole("button", { name: "Add a holiday" }).click();
  await page.locator("#plan-date").selectOption("24");
  await page.getByLabel("Date: month").selectOption({ label: "December" });
  await page.locator("#plan-name").fill("Christmas Eve");
  // The name is taken when the field is left, as with each field of the plan.
  await page.locator("#plan-name").press("Tab");
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByText("Every year on December 24 · Christmas Eve").first().waitFor();
  await until(() => readFileSync(pool.site, "utf8").includes('date = "12-24"'), "the holiday");
});

test("a refused PIN keeps what was typed, and says why beside it", async () => {
  await page.goto(`${pool.url}/#/system/users`);
  await page.getByRole("tab", { name: "Users" }).click();
  await page.getByRole("button", { name: "Add a person" }).click();
  await page.locator("#user-name").fill("Anna");
  await page.locator("#user-password").fill("three blue fish there");
  await page.locator("#user-pin").fill("1234");
  await page.locator("dialog").getByRole("button", { name: "Save" }).click();
  await page.locator("dialog").getByText(/PIN is one of those that are guessed first/).waitFor();
  assert.equal(await page.locator("#user-name").inputValue(), "Anna");
  assert.equal(await page.locator("#user-password").inputValue(), "three blue fish there");
  await page.locator("#user-pin").fill("48153");
  await page.locator("dialog").getByRole("button", { name: "Save" }).click();
  await notice("Saved: Anna.").waitFor();
});

test("what the disk refuses is never called saved: a user, a setting, the lamp", async () => {
  const points = [-1.8, 0, 1.8].flatMap((x) => [-1.3, 0, 1.3].map((z) => ({ camera_px: pixelOf([x, z]), floor_m: [x, z] })));
  await until(async () => (await api(page, "/status")).camera.fps > 0, "the camera");
  await command(page, { command: "calibrate", step: { do: "markers", points } });
  await until(async () => (await api(page, "/status")).calibration.phase === "proven", "the points");
  await command(page, { command: "calibrate", step: { do: "accept" } });
  await until(async () => (await api(page, "/status")).calibration.is_saved, "the calibration");
  // Folders of these names let every writing fail, also for the user root.
  const accounts = join(pool.state, "accounts.json");
  const generations = join(folder, ".generations");
  renameSync(accounts, `${accounts}.away`);
  mkdirSync(join(accounts, "full"), { recursive: true });
  rmSync(generations, { recursive: true, force: true });
  writeFileSync(generations, "");

  await page.getByRole("button", { name: "Add a person" }).click();
  await page.locator("#user-name").fill("Ben");
  await page.locator("#user-password").fill("three red fish there");
  await page.locator("dialog").getByRole("button", { name: "Save" }).click();
  await notice("This holds now, but could not be saved.").waitFor();
  assert.equal(await notice("Saved: Ben.").count(), 0);
  await notice("This holds now, but could not be saved.").getByRole("button").click();

  await page.locator(".notice.good").first().waitFor({ state: "detached" });
  await page.goto(`${pool.url}/#/setup/surface`);
  await page.locator("#v-surface-eye_height_m").fill("3.5");
  await page.locator("#v-surface-eye_height_m").press("Enter");
  await notice("This holds now, but could not be saved.").waitFor();
  assert.equal(await page.locator(".notice.good").count(), 0);

  await page.goto(`${pool.url}/#/setup/lamp`);
  for (const [index, text] of ["0,5", "4,2", "-0,3"].entries()) await page.locator(`#lamp-${index}`).fill(text);
  await page.getByRole("button", { name: "Set the lamp" }).click();
  await page.locator(".hint.warn", { hasText: "0.5 m to the right, 4.2 m high, 0.3 m to the upper edge. It is in use, but not saved yet: a restart would lose it." }).waitFor();
  assert.ok(!(await page.locator(".steps .step-mark.done").evaluateAll((marks) => marks.map((mark) => mark.closest("a").hash))).includes("#/setup/lamp"));
  assert.equal(await page.locator(".notice.good").count(), 0);

  await page.goto(`${pool.url}/#/now`);
  await notice("A setting is in use but cannot be saved.").waitFor();
  assert.equal(await page.locator("dialog").count(), 0, "the site is no draft");

  rmSync(generations);
  rmSync(accounts, { recursive: true });
  renameSync(`${accounts}.away`, accounts);
  await page.goto(`${pool.url}/#/setup/lamp`);
  await page.locator(".hint.good", { hasText: "This is saved." }).waitFor({ timeout: 30_000 });
  assert.match(readFileSync(join(folder, "calibration.toml"), "utf8"), /lamp_m = \[0\.5, 4\.2, -0\.3\]/);
  assert.match(readFileSync(pool.site, "utf8"), /eye_height_m = 3\.5/);
  await until(() => readFileSync(accounts, "utf8").includes("Ben"), "the user on the disk", 30_000);
  // A refusal that is over does not stay beside what is accepted.
  await notice("A setting is in use but cannot be saved.").waitFor();
  await page.locator(".steps a[href=\"#/setup/scene\"]").click();
  await page.getByText("Nursery").click();
  await page.locator(".notice.good").waitFor();
  assert.equal(await page.locator(".notice.bad").count(), 0);
});

test("a run without a picture does not say that the pool shows a scene", async () => {
  await page.goto(`${pool.url}/#/now`);
  // On a busy machine a fault would stand there instead.
  const sentence = () => page.evaluate(async () => {
    const { emit } = await import("/assets/core/topics.js");
    const { status } = await import("/assets/core/store.js");
    if (status) emit("status", { ...status, health: { ...status.health, level: "well", findings: [] } });
    await new Promise((resolve) => setTimeout(resolve, 50));
    return document.querySelector(".health")?.textContent ?? "";
  });
  const text = await until(async () => {
    const shown = await sentence();
    return /Running since/.test(shown) && shown;
  }, "the sentence");
  assert.match(text, /All is well\..*The scene is “/);
  assert.doesNotMatch(text, /The pool shows/);
  // Visitors are not counted here, so what was before the start is not known.
  assert.match(await page.locator(".figures").first().innerText(), /since \d\d:\d\d/);
});

test("a camera that is no device of this computer, but works, brings no warning", async () => {
  await page.goto(`${pool.url}/#/setup/camera`);
  await page.getByText(/^In use: /).waitFor();
  await until(async () => (await api(page, "/status")).camera.fps > 0, "the camera");
  await page.getByText("Searching").waitFor({ state: "detached" });
  await page.getByText("No camera is connected").waitFor({ state: "detached" });
});

test("a calibration that a power cut ends is called lost", async () => {
  await page.goto(`${pool.url}/#/setup/calibration`);
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.getByText("Cross 1 of 16", { exact: true }).waitFor({ timeout: 60_000 });
  const ended = new Promise((resolve) => pool.process.on("exit", resolve));
  pool.process.kill("SIGKILL");
  await ended;
  assert.ok(existsSync(pool.site));
  pool = await start();
  await page.getByText("Shoal was restarted while it calibrated. What was measured is lost").waitFor({ timeout: 60_000 });
});
