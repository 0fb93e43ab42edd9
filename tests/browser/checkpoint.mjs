/*
 * Checkpoint: whether the file fits the model, why not, and every key once, as `audit` says it; search, filter and
 * keyboard; both themes, narrow and wide; a file without its shards; eighty attacks as names of its tensors.
 *
 * ctest-timeout: 300
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { PAYLOADS, attack } from "./shared/payloads.mjs";
import { openTab, repo, run, search, settle, tabs } from "./support.mjs";

const cli = process.argv[2];
const crate = path.join(repo, "examples", "tagger");
const textOf = (page, query) => page.$eval(query, (element) => element.innerText);
const inspector = (page) => page.$eval("#cg-inspector", (pane) => (pane.hidden ? "" : pane.innerText));

/* A file of zeros with these tensors. */
function tensors(t, name, shapes) {
  const header = {};
  let at = 0;
  for (const [key, shape] of shapes) {
    const bytes = 4 * shape.reduce((a, b) => a * b, 1);
    Object.defineProperty(header, key, { value: { dtype: "F32", shape, data_offsets: [at, at + bytes] }, enumerable: true });
    at += bytes;
  }
  const text = Buffer.from(JSON.stringify(header));
  const head = Buffer.alloc(8);
  head.writeBigUInt64LE(BigInt(text.length));
  return t.write(name, Buffer.concat([head, text, Buffer.alloc(at)]));
}

const WHOLE = [["tagger.words.weight", [9, 4]], ["tagger.characters.weight", [4, 64]], ["tagger.characters.bias", [4]], ["tagger.norm.weight", [4]], ["tagger.norm.bias", [4]],
  ["tagger.head.weight", [3, 4]], ["tagger.head.bias", [3]],
  ...[0, 1, 2].flatMap((i) => [[`tagger.blocks.${i}.norm.weight`, [4]], [`tagger.blocks.${i}.up.weight`, [8, 4]], [`tagger.blocks.${i}.down.weight`, [4, 8]]])];

await run("checkpoint", async (t) => {
  const fits = tensors(t, "whole.safetensors", WHOLE);
  const broken = tensors(t, "broken.safetensors", [...WHOLE.filter(([key]) => key !== "tagger.blocks.2.up.weight" && !key.startsWith("tagger.characters"))
    .map(([key, shape]) => (key === "tagger.norm.bias" ? ["tagger.norm.beta", shape] : key === "tagger.head.weight" ? [key, [3, 5]] : [key, shape])), ["surplus.key", [2]]]);
  const folder = path.join(t.place, "audit");
  try {
    execFileSync(cli, ["audit", folder, "--path", crate, "--checkpoint", broken], { stdio: "ignore" });
  } catch {
    // Findings of the crate make it say 1.
  }
  const said = JSON.parse(readFileSync(path.join(folder, "checkpoint.json"), "utf8"));

  const good = await t.open(t.make("view", crate, "--checkpoint", fits), { hash: "#checkpoint" });
  t.need((await textOf(good, "#view-checkpoint .lead")).includes("They fit"), `what fits is not said: ${await textOf(good, "#view-checkpoint .lead")}`);
  t.need((await textOf(good, "#view-checkpoint")).includes("Nothing to explain"), "nothing is explained");
  await good.close();

  const file = t.make("view", crate, "--checkpoint", broken);
  const page = await t.open(file, { hash: "#checkpoint" });
  t.need((await tabs(page)).includes("checkpoint") && await page.$eval("#tab-checkpoint", (tab) => tab.getAttribute("aria-selected")) === "true", "the link does not open the view");
  const words = await textOf(page, "#view-checkpoint");
  t.need(words.includes("They do not fit"), "what does not fit is not said");
  t.need(said.diagnosis.length > 1 && said.missing_certain.length > 0 && said.unclaimed.length > 0 && said.shape_mismatches.length > 0, "the file is not broken in every way");
  t.need(words.includes(`Why: all ${said.diagnosis.length}`), "causes are missing");
  for (const row of said.diagnosis) t.need(words.includes(row.code) && words.includes(row.explanation) && [...row.keys, ...row.file_keys].every((key) => words.includes(key)), `the cause ${row.code}`);
  for (const [title, keys] of [["Missing in the file", said.missing_certain], ["Missing, if the code gets there", said.missing_conditional], ["In the file, asked for by nobody", said.unclaimed]]) {
    t.need(words.includes(keys.length > 0 ? `${title}: all ${keys.length}` : `${title}: none`), `${title}: not all keys`);
    for (const key of keys) t.need(words.includes(key), `${title}: ${key}`);
  }
  for (const row of said.shape_mismatches) t.need(words.includes(row.key) && words.includes(`(${row.file_shape.join(", ")})`), `the shapes of ${row.key}`);
  t.need(words.includes(`Shapes that cannot be equal: all ${said.shape_mismatches.length}`), "shapes are missing");
  const hits = await search(page, "surplus");
  t.need(hits.length === 1 && hits[0].includes("in the file only"), `the search: ${hits}`);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  t.need((await inspector(page)).includes("surplus.key"), "Enter opens nothing");
  t.need((await search(page, said.shape_mismatches[0].key)).length > 0, "the search does not find a key of another shape");
  t.need((await search(page, "no such key")).length === 0 && (await textOf(page, "#cg-search")).includes("nothing found"), "a search without a hit says nothing");
  await page.keyboard.press("Escape");
  await page.fill('#view-checkpoint input[aria-label="Filter: In the file, asked for by nobody"]', "beta");
  await settle(page);
  t.need((await textOf(page, "#view-checkpoint")).includes("that match"), "the filter does not say what it left");
  await page.close();

  await t.each([["light", 1280], ["dark", 1280], ["light", 360], ["dark", 360], ["dark", 3840]], async (one, [theme, width]) => {
    await one.emulateMedia({ colorScheme: theme });
    await one.setViewportSize({ width, height: 800 });
    await t.open(file, { page: one, hash: "#checkpoint" });
    t.need(await one.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${theme}, ${width}: wider than the window`);
    for (const wrong of await t.axeViolations(one)) t.need(false, `${theme}, ${width}: ${wrong}`);
  });

  mkdirSync(path.join(t.place, "shards"));
  const index = t.write(path.join("shards", "model.safetensors.index.json"), JSON.stringify({ metadata: {}, weight_map: Object.fromEntries(WHOLE.map(([key], at) => [key, `part-${at % 2}.safetensors`])) }));
  tensors(t, path.join("shards", "part-0.safetensors"), WHOLE.filter((_, at) => at % 2 === 0));
  const shards = await t.open(t.make("view", crate, "--checkpoint", index), { hash: "#checkpoint" });
  const parts = await textOf(shards, "#view-checkpoint");
  t.need(parts.includes("missing_shard") && parts.includes("part-1.safetensors") && parts.includes("\u2717 no") && parts.includes("\u2713 yes"), "a shard that is not there");
  await shards.close();

  // The reader of such files refuses longer names.
  const names = PAYLOADS.map((text) => text.slice(0, 60000));
  const hostile = await t.open(t.make("view", crate, "--checkpoint", tensors(t, "hostile.safetensors", names.map((text, number) => [`key${number}${text}`, [1]]))), { hash: "#checkpoint" });
  await openTab(hostile, "checkpoint");
  await attack(t, hostile, "names of tensors", names.map((text, number) => `key${number}${text}`).filter((text) => text.length < 100));
});
