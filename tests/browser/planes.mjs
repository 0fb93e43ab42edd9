/*
 * Memory, Tensors, GPU, Model, Findings: what they draw is what the documents say; the keyboard moves the
 * cursor, the search finds, links lead back; both themes, narrow and wide; empty states say why.
 *
 * ctest-timeout: 600
 */
import { execFileSync } from "node:child_process";
import path from "node:path";
import { invalid, openTab, repo, run, search, settle, traces } from "./support.mjs";

const fixtures = process.env.CG_FIXTURES ? path.join(process.env.CG_FIXTURES, "fixtures", "execution") : null;
const cli = process.argv[2];
const crates = path.join(repo, "tests", "data", "crates");
const ask = (...argv) => JSON.parse(execFileSync(cli, [...argv, "--format", "json"], { maxBuffer: 1 << 28 }));
const textOf = (page, query) => page.$eval(query, (element) => element.innerText);
const fragment = (page) => page.evaluate(() => decodeURIComponent(location.hash));
const inspector = (page) => page.$eval("#cg-inspector", (pane) => (pane.hidden ? "" : pane.innerText));

async function memory(t) {
  const trace = path.join(traces, "mlp-update-4.jsonl");
  const said = ask("import", trace).memory;
  const page = await t.open(trace, { hash: "#memory" });
  t.need(await page.$$eval("#view-memory .plot .chart path", (all) => all.length) >= Object.keys(said.logical.peak.live_bytes_by_category).length, "a category has no band");
  t.need((await textOf(page, "#view-memory .legend")).includes("activation"), "the legend names no category");
  const slider = await page.$eval("#view-memory [role=slider]", (one) => [one.getAttribute("aria-valuenow"), one.getAttribute("aria-valuetext")]);
  t.need(slider[1].includes("live"), `the cursor says nothing: ${slider}`);
  await page.focus("#view-memory [role=slider]");
  await page.keyboard.press("Home");
  const first = await textOf(page, "#view-memory .readout");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("d");
  await page.keyboard.press("End");
  t.need(await textOf(page, "#view-memory .readout") !== first, "the cursor does not move");
  t.need((await fragment(page)).includes(`at=${said.logical.timeline.length - 1}`), "the moment is not in the fragment");
  await page.keyboard.press("p");
  t.need((await textOf(page, "#view-memory .readout")).includes("the peak"), "P does not go to the peak");
  t.need((await textOf(page, "#view-memory")).includes(`Storages live at the peak: all ${said.logical.peak.live_allocations.length}`), "the table of the peak");
  await page.click("#view-memory tbody button.link >> nth=0");
  t.need((await fragment(page)).includes("select="), "a storage selects no span");
  t.need(await page.$$eval("#view-memory tr[aria-current=true]", (all) => all.length) > 0, "the selected rows are not marked");
  const hits = await search(page, "matmul");
  t.need(hits.length > 0 && hits.every((hit) => hit.includes("matmul")), `the search: ${hits}`);
  t.need((await textOf(page, "#view-memory")).includes("never added to it"), "physical samples are not told apart");
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#cg-svg")]);
  const chunks = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk);
  t.need(Buffer.concat(chunks).toString().includes("<path") && !Buffer.concat(chunks).toString().includes("var(--c1"), "the SVG stands not alone");
  await page.close();
  const none = await t.open(path.join(traces, "minimal.jsonl"), { hash: "#memory" });
  t.need((await textOf(none, "#view-memory")).includes("unknown, not zero"), "no events are not told as unknown");
  await none.close();
}

async function tensors(t) {
  const trace = path.join(traces, "mlp-update-4.jsonl");
  const said = ask("import", trace);
  const page = await t.open(trace, { hash: "#tensors" });
  const words = await textOf(page, "#view-tensors");
  t.need(words.includes("Every value that was recorded is finite"), "what is finite is not said");
  t.need(words.includes(`Tensor statistics: all ${said.tensor_stats.length}`) && words.includes(`Gradients by parameter: all ${said.graph.gradients.length}`), "rows are missing");
  for (const family of said.provenance.capture_contract.gradient_contract.families) t.need(words.includes(family.family), `the family ${family.family}`);
  t.need(words.includes("as promised") && words.includes("must get none"), "the promise of a family is not judged");
  t.need(await page.$$eval("#view-tensors .chart circle", (all) => all.length) === said.tensor_stats.length, "a dot for each row");
  await page.fill('#view-tensors input[aria-label="Filter: Gradients by parameter"]', "fc1.weight");
  await settle(page);
  t.need((await textOf(page, "#view-tensors")).includes("that match"), "the filter does not say what it left");
  t.need((await search(page, "logits")).length > 0, "the search finds no label");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  t.need((await fragment(page)).includes("select="), "the hit selects nothing");
  await page.close();
  const broken = { kind: "tensor_stats", span_id: "s1", label: "ear/gain", shape: [4], dtype: "f32", elements: 4, non_finite: 2, rms: 1, abs_max: 2, mean: 0 };
  const lines = execFileSync("cat", [path.join(traces, "minimal.jsonl")]).toString().trim().split("\n").map((line) => JSON.parse(line));
  const at = lines.findIndex((line) => line.kind === "span_start") + 1;
  broken.span_id = lines[at - 1].id;
  lines.splice(at, 0, broken);
  lines[0].schema = "candle-graph/trace/10";
  const nan = await t.open(t.write("nan.jsonl", lines.map((line) => JSON.stringify(line)).join("\n") + "\n"), { hash: "#tensors" });
  t.need(/Origin|Cannot tell/.test(await textOf(nan, "#view-tensors")) && (await textOf(nan, "#view-tensors")).includes("ear/gain"), "the origin of a non-finite value");
  t.need((await textOf(nan, "#view-tensors")).includes("2 not finite") || (await nan.$eval("#view-tensors .chart", (chart) => chart.textContent)).includes("not finite"), "not finite is not drawn");
  await nan.close();
  const failed = await t.open(path.join(invalid, "many-faults.jsonl"), { hash: "#tensors" });
  t.need((await textOf(failed, "#view-tensors")).includes("has errors"), "an invalid capture gives no reason");
  await failed.close();
}

async function gpu(t) {
  const none = await t.open(path.join(traces, "device-clocks.jsonl"), { hash: "#gpu" });
  const words = await textOf(none, "#view-gpu");
  t.need(words.includes("No Nsight exports belong to this run") && words.includes("Busy time by device clock"), "without exports");
  await none.close();
  if (fixtures === null) return;
  const bundle = path.join(fixtures, "bundles", "nsight-full-bound");
  const said = ask("import", bundle).gpu;
  const page = await t.open(bundle, { hash: "#gpu" });
  const text = await textOf(page, "#view-gpu");
  for (const [what, rows] of [["Kernels", said.kernels], ["Runtime calls", said.runtime_calls], ["Memory operations", said.memory_operations], ["Operations in order", said.gpu_timeline], ["Phases", said.nvtx_ranges]])
    t.need(text.includes(`${what}: all ${rows.length}`), `${what}: not all rows`);
  for (const range of said.nvtx_ranges) t.need(text.includes(range.semantic_key), `the range ${range.semantic_key}`);
  t.need(text.includes("busy time of phases is unknown"), "a projected duration passes for busy time");
  t.need(await page.$$eval("#view-gpu .chart rect", (all) => all.length) === said.nvtx_ranges.length + said.gpu_timeline.length, "a bar for each range and operation");
  await page.click("#view-gpu .chart rect >> nth=0");
  t.need((await inspector(page)).includes("projected start ns"), "a bar opens nothing");
  t.need((await search(page, "gelu")).length > 0, "the search finds no kernel");
  await page.close();
  const exact = await t.open(t.make("view", path.join(fixtures, "nsight", "trace.jsonl"), "--nsight-dir", path.join(fixtures, "nsight", "header-aliases")), { hash: "#gpu" });
  t.need((await textOf(exact, "#view-gpu")).includes("Busy time is exact") && (await textOf(exact, "#view-gpu")).includes("55 ns"), "exact busy time");
  await exact.close();
  const bad = await t.open(t.make("view", path.join(fixtures, "nsight", "trace.jsonl"), "--nsight-dir", path.join(fixtures, "nsight", "hash-mismatch")), { hash: "#gpu" });
  t.need((await textOf(bad, "#view-gpu .lead")).includes("invalid"), "the worst state does not come first");
  await bad.close();
}

async function model(t) {
  const crate = path.join(repo, "examples", "tagger");
  const document = ask("report", crate);
  const file = t.make("view", crate);
  const page = await t.open(file, { hash: "#model" });
  t.need(await page.$$eval("[data-module-tree] [role=treeitem]", (all) => all.length) >= document.modules.length, "modules are missing in the tree");
  await page.waitForSelector("#view-model .flow-node");
  t.need(await page.$$eval("#view-model .flow-node", (all) => all.length) > 5, "the data flow draws nothing");
  t.need(/Nodes: (all|shown)/.test(await textOf(page, "#view-model .flow")), "how many nodes is not said");
  await page.focus("[data-module-tree] [role=tree]");
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  t.need((await fragment(page)).includes("module="), "the module is not in the fragment");
  t.need((await textOf(page, "#view-model")).includes("Parameters: "), "no parameters of the module");
  const before = await page.$eval("#view-model .flow .chart", (chart) => chart.getAttribute("width"));
  await page.focus("#view-model .flow-box");
  await page.keyboard.press("w");
  t.need(await page.$eval("#view-model .flow .chart", (chart) => chart.getAttribute("width")) !== before, "W does not zoom");
  await page.click("#view-model .flow-node >> nth=1");
  t.need((await inspector(page)).includes("Kind"), "a node opens nothing");
  const names = await page.$$eval('#view-model select[aria-label="Function"] option', (all) => all.map((one) => one.value));
  if (names.length > 1) {
    await page.selectOption('#view-model select[aria-label="Function"]', names[1]);
    await settle(page);
    t.need((await fragment(page)).includes("function="), "the function is not in the fragment");
  }
  t.need((await search(page, "words.weight")).length > 0, "the search finds no parameter");
  await page.close();

  const back = await t.open(file, { hash: "#findings" });
  const findings = document.findings;
  t.need((await textOf(back, "#view-findings")).includes(`Findings: all ${findings.length}`), "findings are missing");
  const cuts = findings.filter((one) => one.rule === "gradient-cut");
  const marked = await back.$$eval("#view-findings .source .here", (all) => all.map((one) => one.textContent));
  t.need(marked.length === findings.filter((one) => one.location).length, "a finding with a place has no lines");
  for (const cut of cuts) t.need(marked.some((line) => new RegExp(`\\s${cut.location.line}\\s`).test(line)), `the line of ${cut.id}`);
  await back.selectOption('#view-findings select[aria-label="Severity"]', "Error");
  await settle(back);
  t.need(/Findings: (all|shown) \d+/.test(await textOf(back, "#view-findings")) && (await textOf(back, "#view-findings")).includes("that match"), "the filter does not say what it left");
  await search(back, "LayerNorm");
  await back.keyboard.press("ArrowDown");
  await back.keyboard.press("Enter");
  await settle(back);
  t.need(await back.$$eval("#view-findings .finding.chosen", (all) => all.length) === 1, "the hit is not marked");
  await back.click("#view-findings .finding button.link >> nth=0");
  await settle(back);
  t.need((await fragment(back)).startsWith("#model"), "a finding does not lead to its parameter");
  await back.close();
  t.write("model.json", JSON.stringify(document));
  const alone = await t.open(t.make("view", path.join(t.place, "model.json")), { hash: "#findings" });
  t.need((await textOf(alone, "#view-findings")).includes("without the sources"), "a document without sources does not say so");
  await alone.close();
}

async function everywhere(t) {
  const inputs = [[path.join(traces, "mlp-update-4.jsonl"), ["memory", "tensors", "gpu"]], [path.join(traces, "failed-open.jsonl"), ["memory", "tensors", "gpu"]],
    [path.join(invalid, "many-faults.jsonl"), ["memory", "tensors", "gpu"]], [path.join(traces, "physical-samples.jsonl"), ["memory"]],
    [path.join(repo, "examples", "tagger"), ["model", "findings"]], [path.join(crates, "mlp"), ["model", "findings"]]];
  if (fixtures !== null) inputs.push([path.join(fixtures, "bundles", "nsight-full-bound"), ["gpu"]]);
  const visits = inputs.flatMap(([input, views]) => [["light", 1280], ["dark", 360], ["dark", 2560]].map(([theme, width]) => ({ input, views, theme, width })));
  await t.each(visits, async (page, { input, views, theme, width }) => {
    await page.emulateMedia({ colorScheme: theme });
    await page.setViewportSize({ width, height: 800 });
    await t.open(t.make("view", input), { page });
    for (const id of views) {
      const what = `${path.basename(input)}, ${id}, ${theme}, ${width}`;
      await openTab(page, id);
      t.need(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${what}: wider than the window`);
      for (const one of await t.axeViolations(page)) t.need(false, `${what}: ${one}`);
      await page.keyboard.press("t");
      t.need(await page.evaluate(() => document.documentElement.dataset.theme) !== theme, `${what}: T does not change the theme`);
      await page.keyboard.press("t");
    }
    await page.evaluate(() => localStorage.clear());
  });
}

await run("planes", async (t) => {
  await memory(t);
  await tensors(t);
  await gpu(t);
  await model(t);
  await everywhere(t);
});
