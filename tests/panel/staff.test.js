// Staff at a phone: close early, find out why it is dark, plan Christmas, change the own password. Each sentence has to be true.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { api, assertAccessible, launch, logIn, openPage, until } from "./browser.js";
import { PASSWORD, Pool } from "./pool.js";

const NEW_PASSWORD = "a pool of silver fish";

let browser;
/** @type {Pool} */
let pool;
let page;

before(async () => {
  // Only a holiday is planned, and no network sets the clock.
  const more = "\n[[schedule.yearly]]\ndate = \"12-24\"\nlast = \"12-26\"\nname = \"Christmas\"\n";
  [browser, pool] = await Promise.all([launch(), Pool.start({ more })]);
  page = await openPage(browser, `${pool.url}/#setup=${pool.code}`, { width: 360, height: 740 });
  await page.locator("#login-password").fill(PASSWORD);
  await page.locator("#login-again").fill(PASSWORD);
  await page.locator("form button[type=submit]").click();
  await page.locator("shoal-setup h1").waitFor();
});

after(async () => {
  await browser?.close();
  await pool?.stop();
});

test("a size that was only entered, a projector and a scene have no tick before the calibration", async () => {
  await page.evaluate(async () => {
    const { send } = await import("/assets/core/store.js");
    await send({ command: "edit", edits: [{ document: { kind: "site" }, path: "surface.width_m", change: { do: "set", value: 4.2 } }] });
  });
  await until(async () => page.evaluate(async () => (await import("/assets/core/store.js")).documents.get("site")?.effective.surface.width_m === 4.2), "the width");
  const ticked = () => page.locator(".steps li:has(.step-mark.done) .step-name").allInnerTexts();
  await until(async () => (await ticked()).includes("Password"), "the strip");
  for (const step of ["Surface", "Projector", "Calibration", "Scene"]) assert.ok(!(await ticked()).includes(step), step);
});

test("with a holiday only and a clock that is not set, closing until tomorrow is offered and has an end", async () => {
  await page.goto(`${pool.url}/#/now`);
  await page.getByRole("button", { name: /^End of day/ }).click();
  // An opening is named only where the plan has one.
  assert.equal(await page.getByRole("button", { name: /next opening/ }).count(), 0);
  await page.getByRole("button", { name: /^Until tomorrow/ }).click();
  const { until: end } = await until(async () => (await api(page, "/status")).schedule.by_hand, "closed by hand");
  assert.match(end, /T06:00/);
  await page.getByText(/^Set by hand: Closed, until .*06:00\. Then: Shows itself\.$/).waitFor();
  await page.getByRole("button", { name: /^Open/ }).click();
  await page.getByRole("button", { name: "Back to the plan" }).last().click();
  await page.locator("p", { hasText: /^Set by hand: / }).waitFor({ state: "detached" });
});

test("in the dark, each page says until when, what is off says why, and nothing claims to be seen", async () => {
  await page.getByRole("button", { name: /^Dark/ }).click();
  await page.getByRole("button", { name: /^10 minutes/ }).click();
  await page.getByText(/^Set by hand: Dark, until .*\d\d:\d\d\. Then: \w/).waitFor();
  const pause = page.getByRole("button", { name: /^Pause/ });
  assert.ok(await pause.isDisabled());
  assert.match(await pause.innerText(), /Off: the picture is dark/);
  await page.getByRole("button", { name: /^Scene/ }).click();
  await page.locator("dialog .choices button[aria-pressed=false]").first().click();
  await page.locator(".notice.good", { hasText: "It is not seen while the picture is dark." }).waitFor();
  await assertAccessible(page, "dark");
  await page.goto(`${pool.url}/#/hours`);
  await page.getByText(/Set by hand: Dark, until .*\d\d:\d\d\./).waitFor();
  await page.getByRole("button", { name: "Back to the plan" }).click();
});

test("Christmas is in the list, whenever it is", async () => {
  const days = page.locator(".preview li", { hasText: "Christmas" });
  await days.first().waitFor();
  assert.match(await days.first().innerText(), /December 2[456]/);
  assert.match(await days.first().innerText(), /Closed/);
});

test("a refused test message is said once", async () => {
  await page.evaluate(async () => {
    const { send } = await import("/assets/core/store.js");
    await send({ command: "edit", edits: [{ document: { kind: "site" }, path: "alerts.command", change: { do: "set", value: "/no/such/mail" } }] });
    await send({ command: "test_alert" });
  });
  const notice = page.locator(".notice.bad", { hasText: "/no/such/mail" });
  await notice.waitFor();
  assert.equal((await notice.innerText()).split("/no/such/mail").length, 2);
  await notice.getByRole("button", { name: "Close" }).click();
});

test("everybody changes the own password in the menu", async () => {
  await page.locator("#menu-button").click();
  await page.getByRole("button", { name: "Change the password" }).click();
  const dialog = page.locator("dialog");
  const fill = async (old, next, again) => {
    await dialog.locator("#password-old").fill(old);
    await dialog.locator("#password-next").fill(next);
    await dialog.locator("#password-again").fill(again);
    await dialog.locator("button[type=submit]").click();
  };
  await fill("not the password", NEW_PASSWORD, NEW_PASSWORD);
  await dialog.locator(".hint.bad").waitFor();
  await assertAccessible(page, "the own password");
  await fill(PASSWORD, NEW_PASSWORD, NEW_PASSWORD);
  await dialog.waitFor({ state: "detached" });
  const other = await openPage(browser, pool.url, { width: 360, height: 740 });
  await logIn(other, "admin", NEW_PASSWORD);
  await other.context().close();
  assert.deepEqual(page.problems, []);
});
