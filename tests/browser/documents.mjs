/*
 * Compare, Series and Join, of documents, of two runs and of campaigns: every sample is a dot, verdict and reasons are
 * those of the document, what is not there is said; keyboard, search, both themes, narrow and wide.
 *
 * ctest-timeout: 600
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { openTab, repo, run, search, settle, tabs, traces } from "./support.mjs";

const fixtures = process.env.CG_FIXTURES ? path.join(process.env.CG_FIXTURES, "fixtures", "execution") : null;
const cli = process.argv[2];
const textOf = (page, query) => page.$eval(query, (element) => element.innerText);
const fragment = (page) => page.evaluate(() => decodeURIComponent(location.hash));
const inspector = (page) => page.$eval("#cg-inspector", (pane) => (pane.hidden ? "" : pane.innerText));
const cohort = (name, numbers) => numbers.map((number) => path.join(fixtures, "cohorts", `${name}-${number}`));

function made(t, name, ...argv) {
  const out = path.join(t.place, name);
  execFileSync(cli, [...argv, "--format", "json", "--output", out]);
  return [out, JSON.parse(readFileSync(out, "utf8"))];
}

const VERDICTS = { candidate_faster: "is faster", candidate_slower: "is slower", inconclusive: "No difference", ineligible: "may not be compared" };

async function compare(t) {
  const cases = [["faster", "base", "fast", [1, 2, 3, 4, 5]], ["slower", "base", "slow", [1, 2, 3, 4, 5]], ["same", "base", "same", [1, 2, 3, 4, 5]],
    ["paired", "pbase", "pfast", [1, 2, 3, 4, 5]], ["few", "base", "fast", [1, 2]]];
  for (const [name, baseline, candidate, numbers] of cases) {
    const [file, said] = made(t, `${name}.json`, "compare", "--baseline", ...cohort(baseline, numbers), "--candidate", ...cohort(candidate, numbers), "--calibrate", "--min-effect", "1");
    const page = await t.open(t.make("view", file));
    const words = await textOf(page, "#view-compare");
    t.need((await tabs(page)).join() === "compare", `${name}: tabs ${await tabs(page)}`);
    t.need(words.includes(VERDICTS[said.verdict]), `${name}: the verdict ${said.verdict}`);
    const dots = await page.$$eval("#view-compare .chart-box .chart > circle, #view-compare .chart-box .chart > path", (all) => all.length);
    t.need(dots === said.baseline.samples_ns.length + said.candidate.samples_ns.length + (said.confidence_interval ? 1 : 0), `${name}: ${dots} dots`);
    for (const reason of said.reasons) t.need(words.includes(reason.code) && words.includes(reason.message), `${name}: the reason ${reason.code}`);
    t.need((said.confidence_interval !== null) === words.includes("95 % interval"), `${name}: the interval`);
    for (const row of said.tensor_stats.matched) t.need(words.includes(row.label), `${name}: the label ${row.label}`);
    t.need(words.includes(`Runs: all ${2 * numbers.length}`), `${name}: runs`);
    if (said.tensor_stats.matched.length > 0) {
      const label = said.tensor_stats.matched[0].label;
      t.need((await search(page, label)).length > 0, `${name}: the search finds nothing`);
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      t.need((await inspector(page)).includes("Ratio of RMS"), `${name}: Enter opens nothing`);
    }
    await page.close();
  }
  const [, crowded] = made(t, "crowded.json", "compare", "--baseline", ...cohort("base", [1, 2, 3, 4, 5]), "--candidate", ...cohort("fast", [1, 2, 3, 4, 5]));
  crowded.baseline.samples_ns = Array.from({ length: 5001 }, (_, i) => crowded.baseline.samples_ns[i % 5] + i);
  crowded.inputs.baseline = crowded.baseline.samples_ns.map((_, i) => ({ run_id: `run-${i}`, manifest_sha256: "0".repeat(64) }));
  const thick = await t.open(t.make("view", t.write("thick.json", JSON.stringify(crowded))));
  const said = (await textOf(thick, "#view-compare")).replace(/\u202f/g, "");
  t.need(/Dots: baseline shown 1667 of 5001, candidate all 5;/.test(said), "the cap of the dots is not said");
  t.need(await thick.$$eval("#view-compare .chart-box .chart > circle", (all) => all.length) === 1667, "other dots than are said");
  await thick.close();
  const [baseline] = cohort("base", [1]);
  const [candidate] = cohort("fast", [1]);
  const page = await t.open(t.make("view", candidate, "--against", baseline), { hash: "#compare" });
  const words = await textOf(page, "#view-compare");
  t.need(words.includes("Two runs side by side") && words.includes("insufficient_runs"), "two runs pass for cohorts");
  const peaks = await page.$$eval("#view-compare caption", (all) => all.map((one) => one.textContent));
  t.need(peaks.some((caption) => caption.startsWith("Spans of the same name")), "the costs of both");
  await openTab(page, "evidence");
  await page.close();
  const mixed = await t.open(t.make("view", path.join(traces, "mlp-update-4.jsonl"), "--against", path.join(traces, "failed-open.jsonl")), { hash: "#compare" });
  t.need((await textOf(mixed, "#view-compare")).includes("failed"), "a failed run beside a whole one");
  await mixed.close();
}

async function series(t) {
  const [file, said] = made(t, "series.json", "series", "--manifest", path.join(fixtures, "campaign", "full.json"), "--growth");
  const page = await t.open(t.make("view", file));
  t.need((await tabs(page)).join() === "series", "tabs");
  const colours = () => page.$eval("#view-series canvas", (canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const found = new Set();
    for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 200) found.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    return found.size;
  });
  t.need(await colours() > 3, "nothing is drawn");
  t.need((await textOf(page, "#view-series")).includes(`Captures of this series: all ${said.inputs.length}`), "captures");
  await page.selectOption('#view-series select[aria-label="Quantity"]', "rms");
  await settle(page);
  const labels = Object.keys(said.tensor_stats);
  t.need((await textOf(page, "#view-series")).includes(`Everything of this quantity: all ${labels.length}`), "labels");
  t.need((await fragment(page)).includes("quantity=rms"), "the quantity is not in the fragment");
  await page.focus("#view-series [role=slider]");
  await page.keyboard.press("Home");
  const first = await textOf(page, "#view-series .readout");
  t.need(first.includes(String(said.inputs[0].capture_step)), `the first step: ${first}`);
  await page.keyboard.press("ArrowRight");
  t.need((await textOf(page, "#view-series .readout")).includes(String(said.inputs[1].capture_step)), "the arrow does not move");
  await page.click("#view-series .table tbody button.link >> nth=0");
  await settle(page);
  t.need((await fragment(page)).includes("of="), "the choice of a line is not in the fragment");
  t.need((await search(page, labels[0])).length > 0, "the search finds no label");
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#cg-png")]);
  t.need(download.suggestedFilename().endsWith(".png"), "no PNG");
  await page.close();

  // Of more labels than lines: which ones, how many, and others on demand; a guide for the eye, not a claim.
  const many = structuredClone(said);
  const rows = said.tensor_stats[labels[0]];
  for (let i = 0; i < 120; i++) many.tensor_stats[`more/label-${String(i).padStart(3, "0")}`] = rows.map((row, at) => ({ ...row, rms: row.rms * (1 + i * at) }));
  const total = Object.keys(many.tensor_stats).length;
  const wide = await t.open(t.make("view", t.write("many.json", JSON.stringify(many))), { hash: "#series?quantity=rms" });
  t.need((await textOf(wide, "#view-series")).includes(`Lines: shown 8 of ${total}, those that moved most`), "the cap of the lines is not said");
  t.need(await wide.$$eval("#view-series ul.legend li", (all) => all.length) === 8, "more lines than are said");
  t.need((await search(wide, "more/label")).length === 50 && (await textOf(wide, "#cg-search")).includes("shown 50 of"), "the cap of the hits is not said");
  t.need((await search(wide, "label-007")).length > 0, "the search finds no label behind the cap");
  await wide.keyboard.press("ArrowDown");
  await wide.keyboard.press("Enter");
  await settle(wide);
  t.need((await textOf(wide, "#view-series ul.legend")).includes("more/label-007") && (await textOf(wide, "#view-series")).includes(`Lines: shown 1 of ${total}, those that were chosen`), "a hit is not drawn");
  t.need((await wide.$$eval("#view-series canvas", (all) => all.length)) === 1, "one line is no picture");
  await wide.close();

  const plan = await t.open(t.make("view", path.join(fixtures, "campaign", "mixed.json")));
  const words = await textOf(plan, "#view-series");
  const status = JSON.parse(execFileSync(cli, ["campaign-status", "--manifest", path.join(fixtures, "campaign", "mixed.json"), "--format", "json"]));
  t.need(words.includes(`${status.published} of ${status.planned} captures are published`), "how many are published");
  for (const capture of status.captures) t.need(words.includes(capture.state.state.replace(/_/g, " ")), `the state ${capture.state.state}`);
  await plan.close();
  const empty = await t.open(t.make("view", path.join(fixtures, "campaign", "all-missing.json")));
  t.need((await textOf(empty, "#view-series")).includes("No capture is published"), "an empty campaign");
  await empty.close();
}

async function join(t) {
  const data = path.join(repo, "tests", "data", "join", "broken");
  const argv = [path.join(data, "crate"), "--trace", path.join(data, "calm.jsonl"), path.join(data, "sure.jsonl")];
  const out = path.join(t.place, "join.json");
  execFileSync(cli, ["query", "--kind", "join", "--all", "--format", "json", "--output", out, ...argv]);
  const said = JSON.parse(readFileSync(out, "utf8"));
  const page = await t.open(t.make("view", ...argv), { hash: "#join" });
  t.need(["evidence", "join", "timeline", "memory", "model", "findings"].every((id) => page.$(`#tab-${id}`)), "a view is missing");
  t.need((await tabs(page)).includes("model") && (await tabs(page)).includes("timeline"), "both planes have views");
  const words = await textOf(page, "#view-join");
  for (const row of said.declared_not_executed.rows) t.need(words.includes(row.name) && words.includes(row.explanation), `never ran: ${row.name}`);
  for (const row of said.gradient_missing_explained.rows) t.need(words.includes(row.key) && words.includes(row.explained_by[0].message), `never learned: ${row.key}`);
  for (const row of said.non_finite.rows) t.need(words.includes(row.label), `went non-finite: ${row.label}`);
  for (const row of said.rows.rows) t.need(words.includes(row.name), `observed: ${row.name}`);
  t.need(words.includes(`runs in them: shown 1 of ${said.runs.length}`), "that only one run has views is not said");
  t.need(await page.$$eval("#view-join .source .here", (all) => all.length) > 0, "no lines of source");
  await page.click("#view-join .table:last-of-type tbody button.link >> nth=0");
  t.need((await inspector(page)).includes("Provenance") && (await inspector(page)).includes("tied by"), "a fact has no provenance");
  t.need((await search(page, said.gradient_missing_explained.rows[0].key)).length > 0, "the search finds no parameter");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  t.need((await inspector(page)).length > 20, "Enter opens nothing");
  await page.click('#view-join button.link:has-text("the finding") >> nth=0');
  await settle(page);
  t.need((await fragment(page)).startsWith("#findings"), "a reason does not lead to its finding");
  await page.close();
  for (const [theme, width] of [["light", 1280], ["dark", 360], ["light", 2560]])
    for (const file of [t.make("view", ...argv), t.make("view", out)]) {
      const narrow = await t.open(file, { hash: "#join", theme, width });
      t.need(await narrow.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `join, ${theme}, ${width}: wider than the window`);
      for (const one of await t.axeViolations(narrow)) t.need(false, `join, ${theme}, ${width}: ${one}`);
      await narrow.close();
    }
}

async function everywhere(t) {
  const [cohorts] = made(t, "cohorts.json", "compare", "--baseline", ...cohort("base", [1, 2, 3, 4, 5]), "--candidate", ...cohort("fast", [1, 2, 3, 4, 5]), "--calibrate");
  const [few] = made(t, "few.json", "compare", "--baseline", ...cohort("base", [1]), "--candidate", ...cohort("fast", [1]));
  const pages = [t.make("view", cohorts), t.make("view", few), t.make("view", path.join(fixtures, "campaign", "full.json")), t.make("view", path.join(fixtures, "campaign", "mixed.json")),
    t.make("view", path.join(traces, "mlp-update-4.jsonl"), "--against", path.join(traces, "bert-infer.jsonl"))];
  const visits = pages.flatMap((file, at) => [["light", 1280], ["dark", 360], ["dark", 2560]].map(([theme, width]) => ({ file, at, theme, width })));
  await t.each(visits, async (page, { file, at, theme, width }) => {
    await page.emulateMedia({ colorScheme: theme });
    await page.setViewportSize({ width, height: 800 });
    await t.open(file, { page, hash: at === 4 ? "#compare" : "" });
    const what = `page ${at}, ${theme}, ${width}`;
    t.need(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${what}: wider than the window`);
    for (const one of await t.axeViolations(page)) t.need(false, `${what}: ${one}`);
  });
}

await run("documents", async (t) => {
  await join(t);
  if (fixtures === null) {
    console.log("no CG_FIXTURES: cohorts and campaigns are left out");
    return;
  }
  await compare(t);
  await series(t);
  await everywhere(t);
});
