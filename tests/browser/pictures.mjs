/*
 * What is drawn can be saved: every view that draws gives an SVG document that stands alone and a PNG of the same
 * picture; a view that draws nothing offers neither.
 *
 * ctest-timeout: 300
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { openTab, repo, run, tabs, traces } from "./support.mjs";

const fixtures = process.env.CG_FIXTURES ? path.join(process.env.CG_FIXTURES, "fixtures", "execution") : null;
const WITH = new Set(["timeline", "trace", "memory", "tensors", "gpu", "model", "compare", "series"]);

async function saved(page, kind) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.click(`#cg-${kind}`)]);
  return [download.suggestedFilename(), readFileSync(await download.path())];
}

/* Size and number of colours of a PNG, as the browser reads it; of an SVG document whether it is one. */
const read = (page, text, png) => page.evaluate(async ([document_, bytes]) => {
  const parsed = new DOMParser().parseFromString(document_, "image/svg+xml").documentElement;
  const image = new Image();
  image.src = `data:image/png;base64,${bytes}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
  const on = canvas.getContext("2d");
  on.drawImage(image, 0, 0);
  const { data } = on.getImageData(0, 0, canvas.width, canvas.height);
  const found = new Set();
  let clear = 0;
  for (let i = 0; i < data.length; i += 4) {
    found.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    if (data[i + 3] < 255) clear++;
  }
  return {
    root: parsed.localName, parts: parsed.querySelectorAll("rect, path, circle").length, words: parsed.querySelectorAll("text").length,
    svg: ["width", "height"].map((name) => Number(parsed.getAttribute(name))), png: [canvas.width, canvas.height], colours: found.size, clear,
  };
}, [text, png.toString("base64")]);

async function pictures(t, page, file, theme) {
  await page.emulateMedia({ colorScheme: theme });
  await t.open(file, { page });
  for (const id of await tabs(page)) {
    await openTab(page, id);
    const what = `${path.basename(file)}, ${id}, ${theme}`;
    const offered = await page.$eval("#cg-svg", (button) => !button.hidden);
    t.need(offered === await page.$eval("#cg-png", (button) => !button.hidden), `${what}: one kind of picture without the other`);
    t.need(!offered || WITH.has(id), `${what}: a picture of words`);
    if (!offered) continue;
    if (id === "trace") await page.waitForSelector(".graph .node");
    if (id === "model") await page.waitForSelector("#view-model .flow-node");
    const [name, svg] = await saved(page, "svg");
    const [other, png] = await saved(page, "png");
    const text = svg.toString();
    t.need(name === `candle-graph-${id}.svg` && other === `candle-graph-${id}.png`, `${what}: ${name}, ${other}`);
    t.need(!/var\(--|<script|<foreignObject|\son\w+=|href=/.test(text), `${what}: the SVG stands not alone`);
    const said = await read(page, text, png);
    t.need(said.root === "svg" && said.parts > 2 && said.words > 0, `${what}: the SVG shows ${JSON.stringify(said)}`);
    t.need(said.colours > 3 && said.clear === 0, `${what}: the PNG shows ${JSON.stringify(said)}`);
    t.need(Math.abs(said.png[0] / said.png[1] - said.svg[0] / said.svg[1]) < 0.05 * said.svg[0] / said.svg[1], `${what}: the PNG is another picture: ${JSON.stringify(said)}`);
  }
}

await run("pictures", async (t) => {
  const files = [t.make("view", path.join(traces, "mlp-update-4.jsonl")), t.make("view", path.join(traces, "device-clocks.jsonl")),
    t.make("view", path.join(traces, "failed-open.jsonl")), t.make("view", path.join(repo, "examples", "tagger"))];
  if (fixtures !== null) {
    const cohort = (name) => [1, 2, 3, 4, 5].map((number) => path.join(fixtures, "cohorts", `${name}-${number}`));
    const cohorts = path.join(t.place, "cohorts.json");
    execFileSync(process.argv[2], ["compare", "--baseline", ...cohort("base"), "--candidate", ...cohort("fast"), "--format", "json", "--output", cohorts]);
    files.push(t.make("view", cohorts), t.make("view", path.join(fixtures, "campaign", "full.json")), t.make("view", path.join(fixtures, "bundles", "nsight-full-bound")),
      t.make("view", cohort("fast")[0], "--against", cohort("base")[0]));
  }
  await t.each(files.flatMap((file) => [[file, "light"], [file, "dark"]]), (page, [file, theme]) => pictures(t, page, file, theme));
  // A crate without a model draws nothing.
  mkdirSync(path.join(t.place, "zero", "src"), { recursive: true });
  t.write(path.join("zero", "Cargo.toml"), '[package]\nname = "zero"\nversion = "0.1.0"\nedition = "2021"\n');
  t.write(path.join("zero", "src", "lib.rs"), "pub fn nothing() {}\n");
  const page = await t.open(t.make("view", path.join(t.place, "zero")), { hash: "#model" });
  t.need((await page.$eval("#cg-headline", (line) => line.textContent)).includes("0 parameters"), "a model of nothing");
  t.need(await page.$eval("#cg-svg", (button) => button.hidden) && await page.$eval("#cg-png", (button) => button.hidden), "a picture of nothing is offered");
});
