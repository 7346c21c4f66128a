// A page that was open while Shoal was restarted: it works again by itself and keeps what was entered in it, or asks for a log-in.

import assert from "node:assert/strict";
import { readdirSync, rmSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { api, assertAccessible, launch, logIn, openPage, until } from "./browser.js";
import { freePort, PASSWORD, Pool } from "./pool.js";

const PHONE = { width: 360, height: 740 };

let browser;
let listen;
/** @type {Pool} */
let pool;
let page;

before(async () => {
  listen = `127.0.0.1:${await freePort()}`;
  [browser, pool] = await Promise.all([launch(), Pool.start({ listen })]);
  page = await openPage(browser, `${pool.url}/#setup=${pool.code}`, PHONE);
  await page.locator("#login-password").fill(PASSWORD);
  await page.locator("#login-again").fill(PASSWORD);
  await page.locator("form button[type=submit]").click();
  await page.locator("shoal-setup h1").waitFor();
  await until(() => sessionFiles().length > 0, "the sessions on the disk");
});

after(async () => {
  await browser?.close();
  await pool?.stop();
});

/** Returns the files in which the sessions are kept. */
function sessionFiles() {
  const files = readdirSync(pool.state, { recursive: true, withFileTypes: true }).filter((file) => file.isFile() && /session/.test(file.name));
  return files.map((file) => join(file.parentPath, file.name));
}

/** Kills the program and starts it again. @param {NodeJS.Signals} signal @param {() => void} [meanwhile] */
async function restart(signal, meanwhile = () => {}) {
  const { folder } = pool;
  const ended = new Promise((resolve) => pool.process.on("exit", resolve));
  pool.process.kill(signal);
  await ended;
  meanwhile();
  pool = await Pool.start({ folder, listen });
}

/** Marks a page, so that a reload is noticed. */
const mark = (shown) => shown.evaluate(() => { window.isSamePage = true; });
const isMarked = (shown) => shown.evaluate(() => window.isSamePage === true);

/** Begins an entry of the hours that is not done. */
async function beginDate(shown) {
  await shown.goto(`${new URL(shown.url()).origin}/#/hours`);
  await shown.getByRole("button", { name: "Add a date" }).click();
  await shown.locator("#plan-name").fill("Night of museums");
  await mark(shown);
}

/** Finishes it. */
async function finishDate(shown, day) {
  assert.equal(await shown.locator("#plan-name").inputValue(), "Night of museums");
  await shown.locator("#plan-date").fill(day);
  await shown.getByRole("button", { name: "Done" }).click();
  await shown.getByText("The opening hours are saved.").waitFor();
  assert.ok(await isMarked(shown), "the page was not loaded again");
  assert.deepEqual(shown.problems, []);
}

for (const signal of ["SIGTERM", "SIGKILL"]) {
  test(`after a restart (${signal}), an open page works again by itself, and a half filled form is still there`, async () => {
    await beginDate(page);
    const before = await api(page, "/session");
    await restart(signal);
    await page.getByText("Shoal was restarted.").waitFor();
    assert.notEqual((await api(page, "/session")).csrf, before.csrf, "the session has another secret");
    await finishDate(page, signal === "SIGTERM" ? "2031-05-01" : "2031-05-02");
    await page.goto(`${pool.url}/#/now`);
    await page.getByRole("button", { name: /^Calm/ }).click();
    await page.getByText(/^The fish calm down/).waitFor();
  });
}

test("a command that is the first to notice a restart is sent again with the new secret", async () => {
  await page.goto(`${pool.url}/#/now`);
  await mark(page);
  await page.evaluate(async () => {
    const { session } = await import("/assets/core/api.js");
    session.csrf = "that of an earlier run";
  });
  await page.getByRole("button", { name: /^Calm/ }).click();
  await page.getByText(/^The fish calm down/).waitFor();
  assert.ok(await isMarked(page));
});

test("after a restart, a page without a WebSocket works again by itself", async () => {
  const [hostname, port] = listen.split(":");
  const proxy = http.createServer((request, response) => {
    const passed = http.request({ hostname, port, path: request.url, method: request.method, headers: { ...request.headers, connection: "close" } }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    passed.on("error", () => response.destroy());
    request.pipe(passed);
  });
  proxy.on("upgrade", (_, socket) => {
    socket.on("error", () => {});
    socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
  });
  await new Promise((resolve) => proxy.listen(0, "127.0.0.1", () => resolve(undefined)));
  const phone = await openPage(browser, `http://127.0.0.1:${proxy.address().port}`, PHONE);
  await logIn(phone, "admin", PASSWORD);
  await beginDate(phone);
  await phone.getByText("Live pictures are missing").waitFor();
  await restart("SIGKILL");
  await phone.getByText("Shoal was restarted.").waitFor({ timeout: 30_000 });
  await finishDate(phone, "2031-05-03");
  await page.locator(".offline").waitFor({ state: "detached", timeout: 30_000 });
  // What happens in the new run is heard too.
  await page.evaluate(async () => (await import("/assets/core/store.js")).send({ command: "pause", on: true }));
  await phone.goto(`${new URL(phone.url()).origin}/#/now`);
  await phone.getByText("Paused for").waitFor();
  await page.evaluate(async () => (await import("/assets/core/store.js")).send({ command: "pause", on: false }));
  await phone.context().close();
  proxy.closeAllConnections();
  proxy.close();
});

test("after a restart that forgot the sessions, the page asks for a log-in and keeps what was entered", async () => {
  await beginDate(page);
  await restart("SIGKILL", () => sessionFiles().forEach((file) => rmSync(file)));
  const dialog = page.locator("dialog", { hasText: "You are logged out." });
  await dialog.waitFor();
  assert.equal(await page.locator("shoal-hours").isVisible(), false, "nobody can read the page");
  await assertAccessible(page, "log in again");
  await dialog.locator("#login-password").fill("not the password");
  await dialog.locator("button[type=submit]").click();
  await dialog.locator(".hint.bad").waitFor();
  await dialog.locator("#login-password").fill(PASSWORD);
  await dialog.locator("button[type=submit]").click();
  await dialog.waitFor({ state: "detached" });
  await finishDate(page, "2031-05-04");
});

test("who gives up the log-in, or logs out, gets the usual first page", async () => {
  await beginDate(page);
  await page.getByRole("button", { name: "Add hours", exact: true }).click();
  await page.context().clearCookies();
  await page.evaluate(async () => (await import("/assets/core/store.js")).send({ command: "pause", on: false }));
  const dialog = page.locator("dialog", { hasText: "You are logged out." });
  await dialog.waitFor();
  await page.keyboard.press("Escape");
  await page.locator("main.login").waitFor();
  assert.equal(await page.locator("shoal-hours").count(), 0, "what was entered is gone");
  await logIn(page, "admin", PASSWORD);
  await page.locator("#menu-button").click();
  await page.getByRole("button", { name: "Log out (admin)" }).click();
  await page.locator("main.login").waitFor();
  assert.equal(await page.locator("dialog").count(), 0, "no question after the wish to log out");
});
