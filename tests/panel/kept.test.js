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
  // A fixed bug: after a third change, the sentence still named the second one.
  await command(page, { command: "edit", edits: [{ document: { kind: "site" }, path: "schedule.weekly[0].hours[0].to", change: { do: "set", value: "12:30" } }] });
  await other.getByText(/It is now: Every Monday to Sunday, 00:00–12:30, 13:00–24:00\./).waitFor();
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
  await notice("A setting is in use but cannot be saved.").waitFor({ state: "detached" });
  await page.locator(".steps a[href=\"#/setup/scene\"]").click();
  await page.getByText("Nursery").click();
  await page.locator(".notice.good").waitFor();
  assert.equal(await page.locator(".notice.bad").count(), 0);
});

test("a place where no lamp can be is rejected with the reason, stays typed, and is no change in any list", async () => {
  await page.goto(`${pool.url}/#/setup/lamp`);
  const fields = [0, 1, 2].map((index) => page.locator(`#lamp-${index}`));
  for (const [index, text] of ["420", "0", "30"].entries()) await fields[index].fill(text);
  const typed = () => Promise.all(fields.map((field) => field.inputValue()));
  await page.getByRole("button", { name: "Set the lamp" }).click();
  await page.locator(".notice.bad", { hasText: "the lamp cannot be at 420, 0, 30" }).waitFor();
  assert.deepEqual(await typed(), ["420", "0", "30"]);
  const { events } = await api(page, "/events?after=0");
  const own = events.filter((event) => event.command === "calibrate" && event.summary?.includes("420"));
  assert.deepEqual(own.map((event) => event.event), ["command_rejected"]);
  const { entries } = await api(page, "/audit");
  const listed = entries.filter((entry) => entry.detail?.includes("420"));
  assert.deepEqual(listed.map((entry) => entry.event), ["rejected"]);
  assert.match(listed[0].detail, /^calibrate .*: the lamp cannot be at/);
  await page.evaluate(async () => (await import("/assets/core/i18n.js")).setLanguage("de"));
  await page.getByRole("button", { name: "Lampe setzen" }).click();
  await page.locator(".notice.bad", { hasText: /^Lampe oder Kamera kann nicht am angegebenen Ort sein\.$/ }).waitFor();
  await page.evaluate(async () => (await import("/assets/core/i18n.js")).setLanguage("en"));
});

test("what was begun is not thrown away by a link, or by going back, without a question", async () => {
  // The lamp of the test before.
  await page.getByRole("link", { name: "Next" }).click();
  const question = page.locator("dialog", { hasText: "This is not in use yet: Lamp." });
  await question.getByRole("button", { name: "Stay here" }).click();
  assert.equal(await page.locator("#lamp-0").inputValue(), "420");
  await page.getByRole("link", { name: "Next" }).click();
  await question.getByRole("button", { name: "Leave it" }).click();
  await page.getByRole("link", { name: "Next" }).click();
  await page.getByRole("button", { name: "Add a date" }).click();
  // Nothing was entered yet.
  await page.locator(".setup-foot").getByRole("link", { name: "Previous step" }).click();
  await page.locator(".setup-foot").getByRole("link", { name: "Next" }).click();
  await page.getByRole("button", { name: "Add a date" }).click();
  await page.getByLabel("Date", { exact: true }).fill("2031-12-24");
  await page.getByText("Only on Wednesday, December 24, 2031").first().waitFor();
  for (const link of ["Next", "Previous step"]) {
    await page.locator(".setup-foot").getByRole("link", { name: link }).click();
    await page.locator("dialog", { hasText: "This is not in use yet: Only on Wednesday, December 24, 2031." }).getByRole("button", { name: "Stay here" }).click();
  }
  // The button of the browser.
  await page.goBack();
  await page.locator("dialog", { hasText: "This is not in use yet" }).getByRole("button", { name: "Stay here" }).click();
  await page.locator(".steps a[aria-current]", { hasText: "Hours" }).waitFor();
  // A day that is over is no plan.
  await page.getByLabel("Date", { exact: true }).fill("2021-12-24");
  await page.getByText("Only on Friday, December 24, 2021").first().waitFor();
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByText("This day is over. Choose a later one.").waitFor();
  await page.getByLabel("Date", { exact: true }).fill("2031-12-24");
  await page.getByRole("button", { name: "Done" }).click();
  await until(async () => (await api(page, "/documents")).documents[0].effective.schedule.dates.length === 1, "the date");
  await page.locator(".setup-foot").getByRole("link", { name: "Next" }).click();
  await page.locator(".report-list").waitFor();
});

test("a date has the order of the reader's region, and a time 24 hours", async () => {
  assert.doesNotMatch(await page.locator(".report-list").innerText(), /\d [AP]M/);
  const british = await openPage(browser, pool.url, { language: "en-GB" });
  const texts = await british.evaluate(async () => {
    const { date } = await import("/assets/core/i18n.js");
    const day = new Date("2026-12-24T19:10:00Z");
    return [date(day, { day: "numeric", month: "long", timeZone: "UTC" }), date(day, { timeStyle: "short", timeZone: "UTC" })];
  });
  assert.deepEqual(texts, ["24 December", "19:10"]);
  await british.context().close();
});

test("another *Otherwise* names the days that change with it", async () => {
  await page.goto(`${pool.url}/#/hours`);
  await page.locator("#plan-otherwise").selectOption("open");
  const question = page.locator("dialog", { hasText: /become Open all day: Only on Wednesday, December 24, 2031; Every year on December 24 · Christmas Eve\./ });
  await question.getByRole("button", { name: "Cancel" }).click();
  assert.equal(await page.locator("#plan-otherwise").inputValue(), "closed");
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

/** Shows the page as it is with another status, and returns what `read` finds in it. */
const shownWith = (change, read) => page.evaluate(`(async () => {
  const { emit } = await import("/assets/core/topics.js");
  const store = await import("/assets/core/store.js");
  const status = structuredClone(store.status);
  ${change};
  emit("status", status);
  await new Promise((resolve) => setTimeout(resolve, 50));
  return ${read};
})()`);

test("a step that a fault has spoiled has no tick, and its box is not green", async () => {
  const ticks = "[...document.querySelectorAll('.steps .step-mark.done')].map((mark) => mark.closest('a').hash.split('/')[2])";
  const moved = `status.faults.push({ name: "camera_moved", detail: "", since: status.time, for_secs: 1, count: 1 });
    status.calibration.doubts = ["camera_moved"];
    status.health.findings.push({ name: "camera_moved", level: "fault", is_show: false, sentence: "", detail: "", since: status.time, for_secs: 1, away_secs: null, until: null });`;
  const steps = ["surface", "calibration", "lamp"];
  for (const step of steps) {
    await page.goto(`${pool.url}/#/setup/${step}`);
    await until(async () => steps.every((name) => page.evaluate(ticks).then((all) => all.includes(name))), "the ticks of before");
    // A status of the pool may come between.
    await until(async () => (await shownWith(moved, ticks)).every((name) => !steps.includes(name)), `no tick at ${step}`);
    if (step === "surface") continue;
    const box = "document.querySelector('.setup-body .hint').className + document.querySelector('.setup-body .hint').textContent";
    await until(async () => /^hint warn.*This does not hold any more: The camera was moved\./.test(await shownWith(moved, box)), `the box of ${step}`);
  }
  await page.goto(`${pool.url}/#/setup/report`);
  const report = "document.querySelector('.report-list').textContent";
  await until(async () => /Calibrated: .*This does not hold any more: The camera was moved\./.test(await shownWith(moved, report)), "the report");
  // What is in use but not on the disk is not done either.
  await until(async () => !(await shownWith('status.unsaved.push({ kind: "site" })', ticks)).includes("surface"), "no tick of what is not saved");
});

test("a projector that is not set up has no tick, and the page says what is shown", async () => {
  await page.goto(`${pool.url}/#/setup/output`);
  const unnamed = `const { outputs } = store.documents.get("site").effective;
    store.documents.get("site").effective.outputs = [];
    setTimeout(() => { store.documents.get("site").effective.outputs = outputs; }, 70);
    status.outputs = [{ monitor: "HDMI-1", size_px: [1920, 1080], fps: 60 }]`;
  const seen = "[document.querySelector('.setup-body .empty')?.textContent ?? '', [...document.querySelectorAll('.steps .step-mark.done')].map((mark) => mark.closest('a').hash).join()]";
  await until(async () => {
    const [text, ticks] = await shownWith(unnamed, seen);
    return text.includes("No projector is set up, so the picture fills HDMI-1.") && !ticks.includes("output");
  }, "the sentence");
});

test("in a rehearsal the visitors of today are those of the camera, and the page says that nobody is counted", async () => {
  await page.goto(`${pool.url}/#/now`);
  const text = "[...document.querySelectorAll('section.card')].map((card) => card.textContent).join()";
  const shown = 'status.rehearsal = "a.y4m"; status.visitors = { now: 0, today: 1 }; status.camera.kind = "recording"';
  await until(async () => /VisitorsNobody is counted while a recording is replayed\.0now1/.test(await shownWith(shown, text)), "the card");
});

test("the advice about the exposure is about the picture of now", async () => {
  const good = page.getByText("The exposure is good.");
  await page.goto(`${pool.url}/#/setup/camera`);
  await good.waitFor({ timeout: 60_000 });
  writeFileSync(join(folder, "disc"), "white");
  await page.getByText("A part of the surface is overexposed").or(page.getByText("far too bright")).first().waitFor();
  assert.equal(await good.count(), 0);
  assert.ok(!(await page.locator(".facts").allInnerTexts()).some((text) => text.includes("Contrast to noise")), "a white picture has no contrast");
  // Long enough for the model of the floor to become white too.
  await new Promise((resolve) => setTimeout(resolve, 12_000));
  assert.equal(await good.count(), 0);
  writeFileSync(join(folder, "disc"), "");
  await page.getByText("The light is being measured.").or(good).first().waitFor();
  assert.equal(await page.getByText("A part of the surface is overexposed").count(), 0);
  await good.waitFor({ timeout: 60_000 });
});

test("dark for some minutes returns to what was set by hand, with its end, and says so before and after", async () => {
  const hand = async () => (await api(page, "/status")).schedule.by_hand;
  await command(page, { command: "schedule", step: { do: "by_hand", state: "open", until: { secs: 7200 } } });
  const { until: end } = await until(async () => (await hand())?.until && hand(), "open");
  await page.goto(`${pool.url}/#/now`);
  await page.getByRole("button", { name: /^Dark/ }).click();
  await page.locator("dialog", { hasText: /Open is set by hand until .*\d\d:\d\d: it applies again after minutes or hours that end before then/ }).getByRole("button", { name: /^10 minutes/ }).click();
  await page.getByText(/Set by hand: Dark, until .* Then again, as set by hand before: Open, until/).waitFor();
  assert.equal((await hand()).then.until, end);
  await page.locator(".big-buttons").getByRole("button", { name: /^End the dark.*Back to: Open$/ }).click();
  await notice("Back to what was set by hand before: Open.").waitFor();
  await until(async () => (await hand())?.state === "open", "open again");
  assert.equal((await hand()).until, end);
  await page.getByRole("button", { name: "Back to the plan" }).click();
  await until(async () => (await hand()) === null, "the plan");
});

test("undo says what it takes back and whose it is, and asks if it is somebody else's", async () => {
  await page.goto(`${pool.url}/#/hours`);
  const other = await openPage(browser, pool.url);
  await logIn(other, "Anna", "three blue fish there");
  const site = { kind: "site" };
  const name = async () => (await api(page, "/documents")).documents[0].effective.schedule.yearly[0].name;
  await command(other, { command: "edit", edits: [{ document: site, path: "schedule.yearly[0].name", change: { do: "set", value: "Holy night" } }] });
  await until(async () => (await name()) === "Holy night", "the change of Anna");
  const undo = page.locator(".changes").getByRole("button", { name: "Undo" });
  await page.locator(".changes", { hasText: "Undo takes back: Anna changed the hours of holidays" }).waitFor();
  await undo.click();
  await page.locator("dialog", { hasText: "Anna changed the hours of holidays" }).getByRole("button", { name: "Cancel" }).click();
  assert.equal(await name(), "Holy night");
  // Another change meanwhile: the one that is named is not the one that would be taken back.
  const number = (await api(page, "/status")).undo.number;
  await command(other, { command: "edit", edits: [{ document: site, path: "schedule.yearly[0].date", change: { do: "set", value: "12-23" } }] });
  await assert.rejects(command(page, { command: "undo", change: number }));
  const shown = () => page.evaluate(async () => (await import("/assets/core/store.js")).status?.undo?.number ?? 0);
  await until(async () => (await shown()) > number, "the newer change on the page");
  await undo.click();
  await page.locator("dialog").getByRole("button", { name: "Undo" }).click();
  await notice("Taken back: Anna changed the hours of holidays.").waitFor();
  assert.equal(await name(), "Holy night");
  assert.equal((await api(page, "/documents")).documents[0].effective.schedule.yearly[0].date, "12-24");
  // No names of files or values in what the others read.
  await other.getByText("admin took a change back Anna changed the hours of holidays").waitFor();
  await other.context().close();
});

test("an entry says how many days it covers, and one that closes the year is asked about", async () => {
  await page.goto(`${pool.url}/#/hours`);
  await page.getByRole("button", { name: "Add a holiday" }).click();
  const choose = async (label, day, month) => {
    await page.getByLabel(`${label}: day`).selectOption(day);
    await page.getByLabel(`${label}: month`).selectOption({ label: month });
  };
  await choose("Date", "26", "December");
  await page.getByText("This is 1 day of every year.").waitFor();
  await choose("Last day (if several)", "23", "December");
  await page.locator(".hint.warn", { hasText: "These are 363 days of every year. No hours are planned on them." }).waitFor();
  await page.getByRole("button", { name: "Done" }).click();
  await page.locator("dialog", { hasText: "These are 363 days of every year." }).getByRole("button", { name: "Cancel" }).click();
  assert.ok(!readFileSync(pool.site, "utf8").includes("12-23"));
  await page.getByRole("button", { name: "Cancel" }).click();
  assert.equal(await page.getByRole("button", { name: "Add hours for other days" }).count(), 0, "all days have hours");
  // A plan without any opening.
  await page.getByRole("button", { name: /^Every Monday to Sunday/ }).click();
  await page.locator(".hour").first().waitFor();
  for (let left = await page.locator(".hour").count(); left > 0; left--) await page.locator(".hour button").first().click();
  await page.getByRole("button", { name: "Done" }).click();
  await page.locator("dialog", { hasText: "the pool is never open" }).getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Cancel" }).click();
});

test("a change of the plan that can close the pool today is asked about", async () => {
  await page.goto(`${pool.url}/#/hours`);
  const asked = (title = "This concerns today") => page.locator("dialog", { hasText: title }).getByRole("button", { name: "Cancel" }).click();
  const text = readFileSync(pool.site, "utf8");
  await page.getByLabel("Otherwise, at all times without hours").selectOption("dark");
  await asked("The pool may open or close at once.");
  assert.equal(await page.getByLabel("Otherwise, at all times without hours").inputValue(), "closed");
  // Today is taken out of its entry.
  await page.getByRole("button", { name: /^Every Monday to Sunday/ }).click();
  const today = (await api(page, "/status")).schedule.local_time.slice(0, 10);
  const name = new Date(`${today}T12:00:00Z`).toLocaleDateString("en", { weekday: "long", timeZone: "UTC" });
  await page.getByRole("button", { name, exact: true }).click();
  await page.getByRole("button", { name: "Done" }).click();
  await asked();
  await page.getByRole("button", { name: "Cancel" }).click();
  assert.equal(readFileSync(pool.site, "utf8"), text);
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

test("what needs the password is not shown as set before it is entered, and giving up leaves no warning", async () => {
  await page.goto(`${pool.url}/#/hours`);
  const listen = () => page.evaluate(async () => (await import("/assets/core/store.js")).documents.get("site")?.effective.panel.listen);
  const before = await until(listen, "the documents");
  const edit = { command: "edit", edits: [{ document: { kind: "site" }, path: "panel.listen", change: { do: "set", value: "lan" } }] };
  const sent = page.evaluate(async (one) => (await import("/assets/core/store.js")).send(one), edit);
  const dialog = page.locator("dialog", { has: page.locator("#password-again") });
  await dialog.waitFor();
  assert.equal(await listen(), before);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  assert.equal(await sent, false);
  await notice("The password was not entered. Nothing was changed.").waitFor();
  assert.equal(await page.locator(".notice.bad").count(), 0);
  assert.equal(await listen(), before);
});
