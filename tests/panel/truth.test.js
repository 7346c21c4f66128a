// What the page says while it cannot know: a network that swallows everything, a program that stands still, no WebSocket. And what it says
// after a button: the result, not the wish.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import http from "node:http";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { api, assertAccessible, launch, logIn, openPage, until } from "./browser.js";
import { PASSWORD, Pool } from "./pool.js";

let browser;
/** @type {Pool} */
let pool;
let page;

/** Takes a picture at the size of a phone, if a folder for them is named. @param {import("playwright-core").Page} shown @param {string} name */
async function takePicture(shown, name) {
  const folder = process.env.SHOAL_SCREENSHOTS;
  if (folder) await shown.screenshot({ path: join(folder, `${name}.png`) });
}

before(async () => {
  [browser, pool] = await Promise.all([launch(), Pool.start()]);
  page = await openPage(browser, `${pool.url}/#setup=${pool.code}`, { width: 390, height: 844 });
  await page.locator("#login-password").fill(PASSWORD);
  await page.locator("#login-again").fill(PASSWORD);
  await page.locator("form button[type=submit]").click();
  await page.locator("shoal-setup h1").waitFor();
});

after(async () => {
  await browser?.close();
  await pool?.stop();
});

/** Passes everything on between a browser and the pool, until it is told to swallow it. */
async function startRelay() {
  const { hostname, port } = new URL(pool.url);
  const relay = { swallows: false, url: "", close: () => {} };
  const sockets = new Set();
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const [from, to] of [[near, far], [far, near]]) {
      sockets.add(from);
      from.on("data", (data) => !relay.swallows && to.write(data));
      from.on("error", () => {});
      from.on("close", () => !relay.swallows && to.destroy());
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  relay.url = `http://127.0.0.1:${server.address().port}`;
  relay.close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return relay;
}

/** Asserts that a page without news is grey, says since when, and offers nothing to press; and that all comes back. */
async function assertLost(shown, name, lose, restore) {
  await shown.goto(`${new URL(shown.url()).origin}/#/now`);
  await shown.locator(".health.warn").waitFor();
  // What the other pages show is read after the status.
  await until(async () => shown.evaluate(async () => (await import("/assets/core/store.js")).documents.has("site")), "the documents");
  lose();
  const begun = Date.now();
  await shown.locator(".health.wait .health-sentence", { hasText: /^No connection since \d\d:\d\d\.$/ }).waitFor();
  const took = Date.now() - begun;
  console.log(`${name}: noticed after ${took} ms`);
  assert.match(await shown.locator("a.pill").innerText(), /No connection/);
  await shown.locator(".offline", { hasText: /^No connection to Shoal since \d\d:\d\d/ }).waitFor();
  const buttons = shown.locator(".big-buttons button");
  const states = await buttons.evaluateAll((list) => list.map((button) => button.matches(":disabled")));
  assert.deepEqual(states, Array.from({ length: 6 }, () => true), "all buttons are off");
  assert.equal(await shown.getByText("All is well").count(), 0);
  await takePicture(shown, `lost-${name}`);
  // The other pages say it too.
  await shown.evaluate(() => { location.hash = "#/hours"; });
  assert.ok(await shown.getByRole("button", { name: "Add a date" }).isDisabled());
  await shown.evaluate(() => { location.hash = "#/now"; });
  restore();
  await shown.locator(".offline").waitFor({ state: "detached", timeout: 30_000 });
  await shown.locator(".health.warn").waitFor();
  assert.ok(await buttons.first().isEnabled());
}

test("a network that swallows everything: grey, since when, buttons off, and back again", async (context) => {
  const relay = await startRelay();
  context.after(() => relay.close());
  const phone = await openPage(browser, relay.url, { width: 390, height: 844 });
  await logIn(phone, "admin", PASSWORD);
  await assertLost(phone, "swallowed", () => { relay.swallows = true; }, () => {
    // The old connections never answer again, as after a change of the access point.
    relay.swallows = false;
  });
  await phone.context().close();
});

test("a program that stands still: grey, since when, buttons off, and back again", async () => {
  await assertLost(page, "stopped", () => pool.process.kill("SIGSTOP"), () => pool.process.kill("SIGCONT"));
});

for (const kind of ["refuse", "hang", "close"]) {
  test(`without a WebSocket (${kind}) the page asks over HTTP, the buttons work, and one line says what is missing`, async () => {
    const { hostname, port } = new URL(pool.url);
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
      if (kind === "refuse") socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
      if (kind === "close") setTimeout(() => socket.destroy(), 50);
    });
    await new Promise((resolve) => proxy.listen(0, "127.0.0.1", () => resolve(undefined)));
    const phone = await openPage(browser, `http://127.0.0.1:${proxy.address().port}`, { width: 390, height: 844 });
    await logIn(phone, "admin", PASSWORD);
    await phone.goto(`http://127.0.0.1:${proxy.address().port}/#/now`);
    await phone.getByText("Live pictures are missing").waitFor();
    assert.equal(await phone.locator(".health.warn").count(), 1, "the status is known");
    const before = (await api(page, "/status")).revision;
    await phone.getByRole("button", { name: /^Calm/ }).click();
    await phone.getByText("The fish calm down.").waitFor();
    await until(async () => (await api(page, "/status")).revision > before, "the command");
    // What others change is seen.
    await page.evaluate(async () => (await import("/assets/core/store.js")).send({ command: "pause", on: true }));
    await phone.getByText("Paused for").waitFor();
    await page.evaluate(async () => (await import("/assets/core/store.js")).send({ command: "pause", on: false }));
    await phone.getByText("Paused for").waitFor({ state: "detached" });
    await takePicture(phone, `http-${kind}`);
    if (kind === "refuse") await assertAccessible(phone, "without a WebSocket");
    await phone.context().close();
    proxy.closeAllConnections();
    proxy.close();
  });
}

test("simulated visitors are an amber demonstration, here and in the list of the installation", async () => {
  await page.goto(`${pool.url}/#/now`);
  await page.locator(".health.warn .health-sentence", { hasText: "Demonstration: simulated visitors." }).waitFor();
  await page.getByText("Visitors (simulated ones are counted)").waitFor();
  await takePicture(page, "demonstration");
  await page.goto(`${pool.url}/#/setup`);
  const camera = page.locator(".steps li", { hasText: "Camera" }).first();
  await camera.waitFor();
  assert.equal(await camera.locator(".step-mark.done").count(), 0, "no tick for a simulated camera");
});

test("a test message says what became of it", async () => {
  const site = join(pool.folder, "pool.toml");
  await page.goto(`${pool.url}/#/system`);
  await page.locator("#tab-settings").click();
  const set = (value) => page.evaluate(async (command) => {
    const { send } = await import("/assets/core/store.js");
    await send({ command: "edit", edits: [{ document: { kind: "site" }, path: "alerts.command", change: { do: "set", value: command } }] });
  }, value);
  const button = page.getByRole("button", { name: "Send a test message" });
  await set("/no/such/shoal-mail");
  await until(() => button.isEnabled(), "the button");
  await button.click();
  await page.locator(".notice.bad", { hasText: /\/no\/such\/shoal-mail/ }).waitFor();
  assert.equal(await page.getByText("every way of messages took it").count(), 0);
  const program = join(pool.folder, "mail");
  writeFileSync(program, "#!/bin/sh\ncat > /dev/null\n", { mode: 0o755 });
  await set(program);
  await until(() => button.isEnabled(), "the button");
  await button.click();
  await page.getByText("every way of messages took it").waitFor();
  assert.ok(site);
});

test("a scene is a draft with a clear sign, and leaving the installation asks about it", async () => {
  await page.goto(`${pool.url}/#/setup/scene`);
  await page.locator("shoal-setup h1").waitFor();
  await page.evaluate(async () => {
    const { send } = await import("/assets/core/store.js");
    await send({ command: "edit", edits: [{ document: { kind: "scene", name: "pool" }, path: "population.herring", change: { do: "set", value: 7 } }] });
  });
  await page.getByText("Draft: 1 file, lost at a restart unless saved").waitFor();
  await takePicture(page, "draft");
  await page.goto(`${pool.url}/#/setup/report`);
  await page.getByRole("link", { name: "Finish" }).click();
  await page.locator("dialog", { hasText: "scenes/pool.toml" }).waitFor();
  await takePicture(page, "leave");
  await page.locator("dialog").getByRole("button", { name: "Save" }).click();
  await until(async () => (await api(page, "/status")).unsaved.length === 0, "the saved scene");
});
