// Every page in both languages and both themes: no serious finding of axe, nothing too wide, no error on the console.
// Pictures of every page at three widths go into a folder that the test names (SHOAL_SCREENSHOTS, default: a temporary folder).

import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { assertAccessible, launch, logIn, openPage } from "./browser.js";
import { addCounts } from "./counts.js";
import { PASSWORD, Pool } from "./pool.js";

const PAGES = [
  ["now"], ["live"], ["visitors"], ["life", "mind", "numbers", "drives", "relations", "text"], ["scenes", "map", "population", "rules", "look", "all", "text"], ["hours"],
  ["setup/language"], ["setup/password"], ["setup/camera"], ["setup/surface"], ["setup/output"], ["setup/calibration"], ["setup/lamp"], ["setup/scene"], ["setup/hours"], ["setup/report"],
  ["system", "events", "log", "settings", "files", "users", "tokens", "devices", "audit", "backup", "recordings", "notebook", "remote", "machine"],
];
const WIDTHS = [[360, 740], [768, 1024], [1440, 900]];

let browser;
let pool;
let pictures;

before(async () => {
  pictures = process.env.SHOAL_SCREENSHOTS ?? mkdtempSync(join(tmpdir(), "shoal-pages-"));
  mkdirSync(pictures, { recursive: true });
  [browser, pool] = await Promise.all([launch(), Pool.start({ more: "\n[counting]\non = true\n" })]);
  await addCounts(pool, Date.now(), 200);
});

after(async () => {
  await browser?.close();
  await pool?.stop();
  console.log(`pictures of the pages: ${pictures}`);
});

async function visit(page, name, tab) {
  await page.goto(`${pool.url}/#/${name}`);
  await page.locator(`shoal-${name.split("/")[0]} *`).first().waitFor();
  if (tab) await page.locator(`#tab-${tab}`).click();
  // The stream needs a moment to bring the first values.
  await page.waitForTimeout(350);
}

test("the first page needs no session", async () => {
  for (const theme of ["light", "dark"]) {
    const page = await openPage(browser, pool.url, { width: 360, height: 740, theme });
    await page.locator("#login-code").waitFor();
    await assertAccessible(page, `first start, ${theme}`);
    await page.screenshot({ path: join(pictures, `first-360-${theme}.png`), fullPage: true });
    await page.context().close();
  }
});

test("every page is accessible in both languages and themes", async () => {
  const first = await openPage(browser, `${pool.url}/#setup=${pool.code}`);
  await first.locator("#login-password").fill(PASSWORD);
  await first.locator("#login-again").fill(PASSWORD);
  await first.locator("form button[type=submit]").click();
  await first.locator("shoal-setup *").first().waitFor();
  await first.context().close();
  for (const [language, theme] of [["en", "light"], ["de", "dark"], ["en", "dark"], ["de", "light"]]) {
    const page = await openPage(browser, pool.url, { language, theme });
    await page.locator("#login-user").fill("admin");
    await page.locator("#login-password").fill(PASSWORD);
    await page.locator("form button[type=submit]").click();
    await page.locator("#main").waitFor();
    for (const [name, ...tabs] of PAGES) {
      for (const tab of tabs.length > 0 ? tabs : [null]) {
        const where = [name, tab, language, theme].filter(Boolean).join(" ");
        // Half of the combinations look at every tab, the others at the first one of each page.
        const isFull = (language === "en") === (theme === "light");
        if (tab !== null && tab !== tabs[0] && !isFull) continue;
        await visit(page, name, tab);
        await assertAccessible(page, where);
        if (!isFull) continue;
        for (const [width, height] of WIDTHS) {
          await page.setViewportSize({ width, height });
          await page.waitForTimeout(120);
          const file = `${[name.replaceAll("/", "-"), tab].filter(Boolean).join("-")}-${width}-${language}-${theme}.png`;
          await page.screenshot({ path: join(pictures, file), fullPage: true });
          const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          if (excess > 0) throw new Error(`${where} at ${width} px is ${excess} px too wide`);
        }
        await page.setViewportSize({ width: 1280, height: 900 });
      }
    }
    await page.context().close();
  }
});

// A fixed bug: an event said "The picture stutters: {fps} of {wanted} pictures/s."
test("a fault of the past is named without values of now", async () => {
  for (const language of ["en", "de"]) {
    const { default: messages } = await import(`../../src/panel/assets/messages/${language}.js`);
    const open = Object.keys(messages).filter((key) => key.startsWith("fault.") && messages[key].includes("{"));
    for (const key of open) {
      const past = messages[key.replace("fault.", "past.")];
      if (!past || past.includes("{")) throw new Error(`${language}: ${key} has no text for the past`);
    }
  }
});

test("fields that stand together have different names", async () => {
  const page = await openPage(browser, pool.url, { language: "de" });
  await logIn(page, "admin", PASSWORD);
  const equal = await page.evaluate(async () => {
    const { titleOf } = await import("/assets/editor/schema.js");
    const schema = await (await fetch("/api/v1/schema")).json();
    /** @type {string[]} */
    const found = [];
    const look = (node, path) => {
      if (node === null || typeof node !== "object") return;
      const titles = new Map();
      for (const [key, field] of Object.entries(Array.isArray(node) ? {} : (node.properties ?? {}))) {
        if (field === null || typeof field !== "object") continue;
        const title = titleOf(field, key);
        if (titles.has(title)) found.push(`${path}: ${titles.get(title)} and ${key} are both called ${title}`);
        titles.set(title, key);
      }
      for (const [key, child] of Object.entries(node)) look(child, `${path}/${key}`);
    };
    look(schema, "");
    return found;
  });
  if (equal.length > 0) throw new Error(equal.join("\n"));
  await page.context().close();
});

test("a person who may only operate sees only what that needs", async () => {
  const page = await openPage(browser, pool.url);
  await logIn(page, "admin", PASSWORD);
  await page.goto(`${pool.url}/#/system`);
  await page.locator("#tab-users").click();
  await page.getByRole("button", { name: "Add a person" }).click();
  await page.locator("#user-name").fill("front desk");
  await page.locator("#user-password").fill("the fish are hungry");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("front desk").first().waitFor();
  await page.context().close();
  const other = await openPage(browser, pool.url);
  await logIn(other, "front desk", "the fish are hungry");
  const links = await other.locator("nav.nav a").evaluateAll((list) => list.map((link) => link.getAttribute("href")));
  if (links.join() !== "#/now,#/live,#/visitors,#/life,#/hours") throw new Error(`pages of operate: ${links}`);
  await assertAccessible(other, "now of operate");
  await other.context().close();
});
