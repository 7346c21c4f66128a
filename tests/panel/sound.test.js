// The card with the sound: volume, mute, a test of each loudspeaker, with the real program on ALSA's device that discards all samples.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { api, launch, openPage, until } from "./browser.js";
import { PASSWORD, Pool } from "./pool.js";

let browser;
/** @type {Pool} */
let pool;
let page;
const home = mkdtempSync(join(tmpdir(), "shoal-home-"));

before(async () => {
  writeFileSync(join(home, ".asoundrc"), "pcm.!default { type null }\n");
  process.env.HOME = home;
  [browser, pool] = await Promise.all([launch(), Pool.start()]);
  page = await openPage(browser, `${pool.url}/#setup=${pool.code}`);
  await page.locator("#login-password").fill(PASSWORD);
  await page.locator("#login-again").fill(PASSWORD);
  await page.locator("form button[type=submit]").click();
  await page.locator("shoal-setup h1").waitFor();
  await page.goto(`${pool.url}/#/now`);
});

after(async () => {
  await browser?.close();
  await pool?.stop();
  rmSync(home, { recursive: true, force: true });
});

const sound = async () => (await api(page, "/status")).sound;
const card = () => page.locator("section.card", { has: page.getByRole("heading", { name: "Sound", exact: true }) });

test("volume and mute are set on the page, and are in the site file", async () => {
  await until(async () => (await sound()).device !== "", "a device that plays");
  await card().getByText("The pool is heard").waitFor();
  await card().getByLabel("Volume").fill("-25");
  await until(async () => (await sound()).volume_db === -25, "the volume");
  await card().getByRole("button", { name: "Mute" }).click();
  await until(async () => (await sound()).is_muted, "silence");
  await card().getByText("Switched off by hand").waitFor();
  const site = readFileSync(pool.site, "utf8");
  assert.match(site, /volume_db = -25/);
  assert.match(site, /mute = true/);
  assert.match(site, /must survive every save/);
  await card().getByRole("button", { name: "Sound on" }).click();
  await until(async () => !(await sound()).is_muted, "sound again");
});

test("each loudspeaker can be tested", async () => {
  await card().getByRole("button", { name: "right", exact: true }).click();
  await page.getByText("A tone comes from the loudspeaker “right”.").waitFor();
});
