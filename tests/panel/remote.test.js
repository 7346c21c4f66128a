// Other machines: what was sent to them and to people, and the button that sends a test.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { assertAccessible, launch, openPage } from "./browser.js";
import { PASSWORD, Pool } from "./pool.js";

/** @type {any[]} */
const received = [];
let browser;
let pool;
let server;

before(async () => {
  server = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => (body += part));
    request.on("end", () => {
      received.push({ path: request.url, token: request.headers.authorization, body: JSON.parse(body) });
      response.writeHead(request.url === "/refuses" ? 403 : 204).end();
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const at = `http://127.0.0.1:${server.address().port}`;
  const more = `
[alerts]
webhook = { url = "${at}/people", token = "abc" }
[[remote.webhooks]]
url = "${at}/events"
[[remote.webhooks]]
url = "${at}/refuses"
`;
  [browser, pool] = await Promise.all([launch(), Pool.start({ more })]);
});

after(async () => {
  await browser?.close();
  await pool?.stop();
  server?.close();
});

test("a test reaches all outputs, and the page shows which took it", async () => {
  const page = await openPage(browser, `${pool.url}/#setup=${pool.code}`);
  await page.locator("#login-password").fill(PASSWORD);
  await page.locator("#login-again").fill(PASSWORD);
  await page.locator("form button[type=submit]").click();
  await page.locator("shoal-setup h1").waitFor();
  await page.goto(`${pool.url}/#/system`);
  await page.locator("#tab-remote").click();
  await page.getByRole("button", { name: "Send a test message" }).click();
  await page.locator(".notice.good", { hasText: "The test was sent" }).waitFor();
  const people = received.find((one) => one.path === "/people" && one.body.kind === "test");
  assert.equal(people?.token, "Bearer abc");
  await page.locator("dd", { hasText: /the last one .* ago/ }).nth(1).waitFor();
  const events = () => received.filter((one) => one.path === "/events").flatMap((one) => one.body.events);
  assert.ok(events().some((event) => event.event === "test"), JSON.stringify(events()));
  await page.getByText("127.0.0.1 answers 403").waitFor();
  await assertAccessible(page, "other machines");
  if (process.env.SHOAL_SCREENSHOTS) await page.screenshot({ path: `${process.env.SHOAL_SCREENSHOTS}/remote.png`, fullPage: true });
  assert.deepEqual(page.problems, []);
});
