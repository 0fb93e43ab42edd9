/*
 * support: what the tests of the page share. A test is
 *
 *   import { run } from "./support.mjs";
 *   await run("what is tested", async (t) => { ... });
 *
 * t.open(TRACE or page, { hash, width, height, theme }) writes the page with candle-graph and opens it; any
 * console message, page error, dialog or request that is not the file itself or a blob of the page's own
 * is a failure. t.need(fact, words) states a fact. Failures are collected, the exit status tells.
 * A browser starts in half a second and a window of it in a quarter, so windows are used again; t.each
 * visits many pages in a few windows side by side.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const [cli, tools] = process.argv.slice(2);
const PATIENCE = 20000;
export const repo = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
export const traces = path.join(repo, "tests", "data", "traces");
export const invalid = path.join(repo, "tests", "data", "invalid");

function skip(reason) {
  console.log(`skipped: ${reason}`);
  process.exit(77);
}

function chromium() {
  const places = (process.env.PATH ?? "").split(":").flatMap((folder) =>
    ["chromium", "chromium-browser", "google-chrome"].map((name) => path.join(folder, name)));
  return places.find((place) => existsSync(place)) ?? skip("no Chromium (tools/setup --check installs it)");
}

export function need(fact, words) {
  if (!fact) throw new Error(words);
}

export async function run(name, test) {
  if (!cli || !tools) skip("usage: node TEST.mjs CANDLE_GRAPH TOOLS");
  if (!existsSync(path.join(tools, "node_modules", "playwright-core"))) skip("playwright-core is not there (no network when configured)");
  const wanted = createRequire(path.join(path.resolve(tools), "package.json"));
  const place = mkdtempSync(path.join(os.tmpdir(), "cg-browser-"));
  const browser = await wanted("playwright-core").chromium.launch({
    executablePath: chromium(), args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
  });
  const failures = [];
  let facts = 0;
  let pages = 0;
  let loads = 0;
  const idle = [];
  async function fresh() {
    const it = await browser.newPage();
    const wrong = (words) => failures.push(`${it.url().slice(-60)}: ${words}`);
    it.on("console", (message) => wrong(`console: ${message.text()}`));
    it.on("pageerror", (error) => wrong(`error: ${error.message}`));
    it.on("dialog", (dialog) => { wrong(`a dialog: ${dialog.message()}`); void dialog.dismiss(); });
    it.on("popup", () => wrong("a window was opened"));
    it.on("request", (request) => {
      if (!/^(file:|about:|blob:|data:,$)/.test(request.url())) wrong(`a request: ${request.url().slice(0, 120)}`);
    });
    it.close = async () => {
      await it.evaluate(() => localStorage.clear());
      await it.goto("about:blank");
      idle.push(it);
    };
    return it;
  }
  const t = {
    place,
    browser,
    axe: readFileSync(wanted.resolve("axe-core/axe.min.js"), "utf8"),
    need(fact, words) {
      facts++;
      if (!fact) failures.push(words);
    },
    /* Arguments of candle-graph that write a page to --output. */
    make(...argv) {
      const out = path.join(place, `page-${++pages}.html`);
      execFileSync(cli, [...argv, "--output", out], { stdio: ["ignore", "ignore", "pipe"] });
      return out;
    },
    write(name, text) {
      const file = path.join(place, name);
      writeFileSync(file, text);
      return file;
    },
    async open(what, { hash = "", width = 1280, height = 800, theme = "light", page = null } = {}) {
      const file = what.endsWith(".html") ? what : t.make("view", what);
      const it = page ?? await t.page({ width, height, theme });
      // The number makes the same file a document of its own, whatever was open before.
      await it.goto(`${pathToFileURL(file)}?${++loads}${hash}`);
      await it.evaluate(async (patience) => {
        const begin = performance.now();
        while (document.getElementById("cg-print") === null && performance.now() - begin < patience)
          await new Promise((done) => requestAnimationFrame(done));
      }, PATIENCE);
      t.need(await it.$("#cg-print") !== null, `${file}: the page is not there after ${PATIENCE} ms`);
      await settle(it);
      return it;
    },
    /* close() gives it back, with nothing of its own left, for the next one who asks. */
    async page({ width = 1280, height = 800, theme = "light" } = {}) {
      const it = idle.pop() ?? await fresh();
      await it.setViewportSize({ width, height });
      await it.emulateMedia({ colorScheme: theme, media: null });
      return it;
    },
    /* work(page, item, number) for all items, on a few pages side by side: most of a visit is waiting. */
    async each(items, work, lanes = 3) {
      let next = 0;
      await Promise.all(Array.from({ length: Math.min(lanes, items.length) }, async () => {
        const page = await t.page();
        while (next < items.length) {
          const number = next++;
          await work(page, items[number], number);
        }
        await page.close();
      }));
    },
    async axeViolations(page) {
      if (!await page.evaluate(() => "axe" in globalThis)) await page.evaluate(t.axe);
      return page.evaluate(async () => {
        // The page may load nothing, so there is nothing to load before.
        const found = await globalThis.axe.run(document, { resultTypes: ["violations"], preload: false });
        return found.violations.map((one) => `${one.id}: ${one.nodes.length} x, ${one.nodes[0].html.slice(0, 160)} (${one.nodes[0].failureSummary?.slice(0, 200)})`);
      });
    },
  };
  try {
    await test(t);
  } catch (error) {
    failures.push(error.stack ?? String(error));
  } finally {
    await browser.close();
    rmSync(place, { recursive: true, force: true });
  }
  for (const failure of failures.slice(0, 40)) console.log(failure);
  console.log(`${name}: ${facts} facts, ${pages} pages, ${failures.length} wrong`);
  process.exit(failures.length > 0 ? 1 : 0);
}

/* Until what was asked for is drawn. */
export async function settle(page) {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))));
}

/** The hits that the page lists for a word, as they read. */
export async function search(page, word) {
  await page.keyboard.press("Escape");
  await page.evaluate(() => document.activeElement?.blur());
  await page.keyboard.press("/");
  await page.fill("#cg-query", word);
  await settle(page);
  return page.$$eval("#cg-hits [role=option]", (all) => all.map((one) => one.innerText));
}

export const tabs = (page) => page.$$eval('[role="tab"]', (all) => all.map((tab) => tab.id.slice(4)));

/* What the mouse does to a tab is a fact of views.mjs; here it is a way to get somewhere. */
export async function openTab(page, id) {
  await page.evaluate((name) => document.getElementById(`tab-${name}`).click(), id);
  await settle(page);
}
