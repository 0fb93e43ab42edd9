/*
 * The views of a run do what they say: draw, select, search, zoom, sort, copy, export; by mouse and by
 * keyboard; the fragment brings one back to the same place; nothing is wider than the window.
 *
 * ctest-labels: slow
 * ctest-timeout: 300
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import { openTab, repo, run, settle, tabs, traces } from "./support.mjs";

const selected = (page) => page.evaluate(() => new URLSearchParams(location.hash.split("?")[1] ?? "").get("select"));
const inspector = (page) => page.$eval("#cg-inspector", (pane) => (pane.hidden ? "" : pane.innerText));
/* How many colours a canvas shows. */
const colours = (page, query) => page.$eval(query, (canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const found = new Set();
  for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 0) found.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
  return found.size;
});

async function saved(page, button) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.click(button)]);
  const chunks = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk);
  return [download.suggestedFilename(), Buffer.concat(chunks)];
}

async function timeline(t, file) {
  const page = await t.open(file, { hash: "#timeline" });
  t.need(await colours(page, ".flame-stick canvas") > 4, "the timeline draws nothing");
  t.need(await colours(page, ".minimap") > 1, "the minimap draws nothing");
  await page.focus(".flame");
  await page.keyboard.press("ArrowDown");
  const first = await selected(page);
  t.need(first !== null, "the arrow selects no bar");
  t.need(/Host total/.test(await inspector(page)) && /Host self/.test(await inspector(page)), "the inspector shows no self and total");
  await page.keyboard.press("ArrowDown");
  t.need(await selected(page) !== first, "the arrow does not go down");
  t.need((await page.$eval("#cg-live", (live) => live.textContent)).includes("total"), "the selection is not announced");
  await page.keyboard.press("w");
  await settle(page);
  const zoomed = await page.evaluate(() => location.hash);
  t.need(zoomed.includes("from="), "zooming leaves no trace in the fragment");
  await page.keyboard.press("0");
  t.need(!(await page.evaluate(() => location.hash)).includes("from="), "0 does not show the whole run");
  await page.keyboard.press("f");
  t.need((await page.evaluate(() => location.hash)).includes("from="), "F does not go to the bar");
  await page.keyboard.press("0");
  const box = await (await page.$(".flame-stick canvas")).boundingBox();
  await page.mouse.click(box.x + box.width / 3, box.y + 22 + 8);
  t.need(await selected(page) !== null, "a click selects no bar");
  await page.keyboard.press("/");
  await page.keyboard.type("mlp");
  await settle(page);
  t.need(/found|shown/.test(await page.$eval("#cg-search", (bar) => bar.innerText)), "the search says nothing");
  t.need(await page.$$eval("#cg-hits [role=option]", (all) => all.length) > 2, "the search finds nothing");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  t.need(/mlp/.test(await inspector(page)), "Enter does not go to the hit");
  const [name, svg] = await saved(page, "#cg-svg");
  t.need(name.endsWith(".svg") && svg.toString().startsWith("<svg") && svg.toString().includes("<rect"), "no SVG of the timeline");
  const [, png] = await saved(page, "#cg-png");
  t.need(png.subarray(1, 4).toString() === "PNG", "no PNG of the timeline");
  await page.selectOption("#view-timeline select", { index: 1 });
  await settle(page);
  t.need(/shown|all/.test(await page.$eval("#view-timeline .tools", (tools) => tools.innerText)), "the filter does not say what it left");
  await page.close();
}

async function clocks(t) {
  const page = await t.open(path.join(traces, "device-clocks.jsonl"), { hash: "#timeline" });
  t.need(await page.$$eval(".flame", (all) => all.length) > 2, "clocks share an axis");
  await page.close();
}

async function costs(t, file) {
  const page = await t.open(file, { hash: "#span_costs" });
  await page.focus('[role="tree"]');
  const rows = () => page.$$eval('[role="treeitem"]', (all) => all.length);
  const before = await rows();
  t.need(before > 3, "the tree is empty");
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowLeft");
  t.need(await rows() < before, "Left does not close a node");
  await page.keyboard.press("ArrowRight");
  t.need(await rows() === before, "Right does not open it again");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  const chosen = await selected(page);
  t.need(chosen !== null, "Enter selects nothing");
  t.need(await page.$eval('[role="treeitem"][aria-selected="true"]', (row) => row.getAttribute("aria-level")) === "2", "the selected row is not marked");
  const shares = await page.$$eval('[role="treeitem"]', (all) => all.map((row) => row.children[3].innerText));
  t.need(shares[0] === "\u2014" && shares[1] === "100.0 %" && shares.slice(1).every((share) => parseFloat(share) <= 100), `shares of the measured region: ${shares.join()}`);
  await page.fill('input[aria-label="Filter the tree of spans"]', "fc1");
  await settle(page);
  const filtered = await page.$$eval('[role="treeitem"]', (all) => all.map((row) => row.innerText));
  t.need(filtered.some((row) => row.includes("fc1")) && filtered.length < before + 1 && filtered.length > 1, "the filter loses the way to a match");
  await page.selectOption("#view-span_costs select", "nodes");
  await settle(page);
  const column = (at) => page.$$eval("#view-span_costs tbody tr:not(.gap)", (all, i) => all.filter((row) => row.offsetParent).map((row) => row.children[i].innerText), at);
  await page.click("#view-span_costs .sort >> nth=0");
  await settle(page);
  const names = await column(0);
  t.need(names.length > 5 && [...names].sort((a, b) => (a < b ? -1 : 1)).join() === names.join(), "sorting by name does not sort");
  t.need(await page.$eval("#view-span_costs thead th[aria-sort=ascending]", (head) => head.innerText.startsWith("Name")), "the order is not said");
  t.need(/all \d+|shown \d+ of/.test(await page.$eval("#view-span_costs caption", (caption) => caption.textContent)), "the caption says no number of rows");
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.click('#view-span_costs button[aria-label^="Copy as tab"] >> visible=true');
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  t.need(copied.startsWith("Name\tKind\t") && copied.split("\n").length > names.length, `the copy is no TSV: ${copied.slice(0, 60)}`);
  // The same place again.
  await page.goto("about:blank");
  await t.open(file, { page, hash: `#span_costs?form=names&select=${chosen}` });
  t.need(await page.$eval("#view-span_costs select", (select) => select.value) === "names", "the link loses the form");
  t.need(await selected(page) === chosen && (await inspector(page)).includes(chosen), "the link loses the selection");
  await page.close();
}

async function graph(t, file) {
  const page = await t.open(file, { hash: "#trace" });
  await page.waitForSelector(".graph .node");
  const nodes = () => page.$$eval(".graph .node", (all) => all.length);
  t.need(await nodes() > 5, "the graph draws nothing");
  t.need(await page.$$eval(".graph path[marker-end]", (all) => all.length) > 5, "no arrows");
  t.need(/shown \d+ of \d+ nodes/.test(await page.$eval("#view-trace .tools", (tools) => tools.innerText)), "the cap is not said");
  await page.focus(".graph .node");
  await page.keyboard.press("Enter");
  t.need(await selected(page) !== null && (await inspector(page)).length > 20, "Enter selects no node");
  const before = await page.$eval(".graph > g", (stage) => stage.getAttribute("transform"));
  await page.keyboard.press("w");
  t.need(await page.$eval(".graph > g", (stage) => stage.getAttribute("transform")) !== before, "W does not zoom");
  const [, svg] = await saved(page, "#cg-svg");
  t.need(svg.toString().includes("<text") && !svg.toString().includes("<script"), "no SVG of the graph");
  await page.close();
}

async function prints(t) {
  const lines = readFileSync(path.join(traces, "mlp-update-4.jsonl"), "utf8").trim().split("\n");
  const start = JSON.parse(lines.find((line) => line.includes('"span_start"') && line.includes('"measured":true')));
  const more = Array.from({ length: 700 }, (_, i) => [
    JSON.stringify({ kind: "span_start", id: `x${i}`, parent_id: start.id, name: `extra ${i}`, start_ns: start.start_ns, span_kind: "function", measured: false }),
    JSON.stringify({ kind: "span_end", id: `x${i}`, duration_ns: 0 })]).flat();
  const at = lines.findIndex((line) => line.includes('"span_start"') && line.includes('"measured":true')) + 1;
  const page = await t.open(t.write("long.jsonl", [...lines.slice(0, at), ...more, ...lines.slice(at)].join("\n") + "\n"), { hash: "#span_costs?form=nodes" });
  const rows = () => page.$$eval("#view-span_costs tbody tr", (all) => all.filter((row) => row.offsetParent).length);
  const onScreen = await rows();
  t.need(onScreen < 120, `${onScreen} rows of a long table are in the document`);
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  t.need(await rows() === 500, "paper does not get the first rows");
  t.need((await page.$$eval("caption", (all) => all.filter((one) => one.offsetParent).map((one) => one.textContent).join())).includes("printed 500 of"), "paper does not say what it leaves out");
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  t.need(await rows() === onScreen, "the table does not come back");
  await page.close();
}

async function expands(t) {
  const chain = [];
  const add = (record) => chain.push(JSON.stringify(record));
  add({ kind: "meta", schema: "candle-graph/trace/10", run_id: "r", correlation_id: "c", entrypoint: "wide", phase: "infer", timestamp: "2026-01-01T00:00:00Z", capture_step: 1, warmup_steps: 0, device: "cpu", measured_region_device_synchronized: false, timing_mode: "host", capture_contract: { measurement_scope: "profiled_work", operations: "none", tensors: "none", gradients: "none", logical_memory: "none", physical_memory: "none", device_timing: "none", required_semantic_labels: [] }, tags: {} });
  add({ kind: "span_start", id: "s0", name: "root", start_ns: 0, span_kind: "function", measured: true });
  for (let i = 1; i <= 400; i++) {
    add({ kind: "span_start", id: `s${i}`, parent_id: "s0", name: `child ${i}`, start_ns: i * 10, span_kind: "function", measured: false });
    add({ kind: "span_end", id: `s${i}`, duration_ns: 5 });
  }
  add({ kind: "span_end", id: "s0", duration_ns: 5000 });
  add({ kind: "terminal", outcome: "complete", timestamp_ns: 5000 });
  const page = await t.open(t.write("wide.jsonl", chain.join("\n") + "\n"), { hash: "#trace" });
  await page.waitForSelector(".graph .node");
  const nodes = () => page.$$eval(".graph .node", (all) => all.length);
  const first = await nodes();
  t.need(first > 5 && first <= 60, `the neighbourhood has ${first} nodes`);
  await page.focus('.graph .focus-node');
  await page.keyboard.press("e");
  await page.waitForFunction((count) => document.querySelectorAll(".graph .node").length > count, first);
  t.need(await nodes() <= first + 24, "opening a node opens everything");
  t.need(/shown \d+ of 401 nodes/.test(await page.$eval("#view-trace .tools", (tools) => tools.innerText.replace(/\u202f/g, ""))), "the cap is not said");
  await page.close();
}

async function face(t, file) {
  const page = await t.open(file);
  const theme = () => page.evaluate(() => [document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor].join());
  const light = await theme();
  t.need(light.startsWith("light"), "a light system gets a dark page");
  await page.click("#cg-theme");
  t.need(await theme() !== light, "the theme does not change");
  await page.keyboard.press("t");
  t.need(await theme() === light, "T does not change the theme");
  await page.keyboard.press("?");
  t.need(/search in this view/.test(await page.$eval("dialog", (dialog) => dialog.innerText)), "? shows no help");
  t.need(/dagre/.test(await page.$eval("dialog", (dialog) => dialog.innerText)) && (await page.$eval("dialog", (dialog) => dialog.textContent)).includes("Permission is hereby granted"), "the licences are not inside");
  await page.keyboard.press("Escape");
  await page.waitForSelector("dialog", { state: "detached", timeout: 5000 }).catch(() => t.need(false, "Escape does not close the help"));
  await page.click("#tab-memory");
  t.need(await page.$eval("#view-memory", (view) => !view.hidden), "a click opens no view");
  await page.click("#tab-evidence");
  await page.focus('[role="tab"][aria-selected="true"]');
  await page.keyboard.press("End");
  const all = await tabs(page);
  t.need(await page.evaluate(() => document.activeElement.id) === `tab-${all.at(-1)}`, "End does not open the last tab");
  await page.keyboard.press("ArrowRight");
  t.need(await page.evaluate(() => document.activeElement.id) === "tab-evidence", "Right does not wrap around");
  await page.keyboard.press("2");
  t.need(await page.evaluate(() => location.hash) === "#timeline", "2 does not open the second view");
  await page.goBack();
  await settle(page);
  t.need(await page.$eval("#tab-evidence", (tab) => tab.getAttribute("aria-selected")) === "true", "Back does not go back");
  const dark = await t.open(file, { theme: "dark" });
  t.need(await dark.evaluate(() => document.documentElement.dataset.theme) === "dark", "a dark system gets a light page");
  await dark.close();
  await page.close();
}

/* What a first visit trips over: names of any width, deep zoom, the window's title, dark colours on paper. */
const plain = { operations: "none", tensors: "none", gradients: "none", logical_memory: "none", physical_memory: "none", device_timing: "none" };
function small(names, outcome = "complete") {
  return [
    { kind: "meta", schema: "candle-graph/trace/10", run_id: "r", correlation_id: "c", entrypoint: "entry::point", phase: "infer", timestamp: "2026-01-01T00:00:00Z", capture_step: 1, warmup_steps: 0,
      device: "cpu", measured_region_device_synchronized: false, timing_mode: "host", capture_contract: { measurement_scope: "profiled_work", ...plain, required_semantic_labels: [] }, tags: {} },
    ...names.map((name, i) => ({ kind: "span_start", id: `s${i}`, ...(i > 0 ? { parent_id: "s0" } : {}), name, start_ns: 10 * i, span_kind: "function", measured: i === 0 })),
    ...(outcome === "failed" ? [] : names.map((_, i) => ({ kind: "span_end", id: `s${i}`, duration_ns: i === 0 ? 1000 : 5 })).reverse()),
    { kind: "terminal", outcome, timestamp_ns: 1000, ...(outcome === "failed" ? { reason: "out of memory" } : {}) },
  ].map((record) => JSON.stringify(record)).join("\n") + "\n";
}

async function visitor(t, file) {
  const names = ["m".repeat(5000), "W".repeat(60), "\u6f22".repeat(200), "\u0645\u0631\u062d\u0628\u0627/\u05e9\u05dc\u05d5\u05dd".repeat(40), "a b"];
  const odd = t.make("view", t.write("odd.jsonl", small(names)));
  for (const width of [1280, 360]) {
    const page = await t.open(odd, { hash: "#trace", width });
    await page.waitForSelector(".graph .node");
    const over = await page.$$eval(".graph .node", (all) => all.flatMap((node) => [...node.querySelectorAll("text.name, text.figure")]
      .filter((words) => words.getBBox().x + words.getBBox().width > node.querySelector(".body").getBBox().width + 1).map((words) => words.textContent.slice(0, 30))));
    t.need(over.length === 0, `words leave their box: ${over}`);
    await page.focus(".graph .node");
    await page.keyboard.press("0");
    t.need(await page.$eval(".graph", (picture) => [...picture.querySelectorAll(".node")].every((node) => {
      const [outer, inner] = [picture.getBoundingClientRect(), node.getBoundingClientRect()];
      return inner.left >= outer.left - 1 && inner.right <= outer.right + 1 && inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1;
    })), `${width}: 0 does not show all of the graph`);
    for (const id of await tabs(page)) {
      await openTab(page, id);
      t.need(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `odd names, ${id}, ${width}: wider than the window`);
    }
    await page.close();
  }
  const page = await t.open(file, { hash: "#timeline?from=2000000&to=2000008" });
  t.need((await page.title()).startsWith("fixture::mlp::train"), `the title is ${await page.title()}`);
  const [, svg] = await saved(page, "#cg-svg");
  const marks = [...svg.toString().matchAll(/<text[^>]*>([0-9.]+ ms)</g)].map((found) => found[1]);
  t.need(marks.length > 3 && new Set(marks).size === marks.length, `marks of the axis that are the same: ${marks}`);
  await page.close();

  const dark = await t.open(file, { theme: "dark", hash: "#timeline" });
  const look = () => dark.$eval(".flame-stick canvas", (canvas) => canvas.toDataURL());
  const night = await look();
  await dark.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await dark.emulateMedia({ media: "print" });
  t.need(await look() !== night && await dark.evaluate(() => document.documentElement.dataset.theme) === "light", "pictures are printed dark");
  t.need(await dark.evaluate(() => getComputedStyle(document.body).backgroundColor) === "rgb(255, 255, 255)", "paper is dark");
  await dark.emulateMedia({ media: null });
  await dark.evaluate(() => dispatchEvent(new Event("afterprint")));
  t.need(await look() === night && await dark.evaluate(() => document.documentElement.dataset.theme) === "dark", "the dark does not come back");
  await dark.close();

  for (const hash of ["#nothing", "#%E0%A4%A", "#?", "#__proto__"]) {
    const lost = await t.open(file, { hash });
    t.need(await lost.$eval("#tab-evidence", (tab) => tab.getAttribute("aria-selected")) === "true", `${hash} leads nowhere`);
    await lost.close();
  }
  for (const hash of ["#timeline?from=abc&to=", "#timeline?from=1e300&to=2e300", "#timeline?min=77", "#memory?at=999999", "#trace?select=nope", "#span_costs?form=zzz", "#tensors?select=__proto__"]) {
    const bent = await t.open(file, { hash });
    const id = hash.slice(1).split("?")[0];
    t.need(await bent.$eval(`#view-${id}`, (view) => !view.hidden && view.innerText.length > 20), `${hash} shows nothing`);
    await bent.close();
  }
  const back = await t.open(file);
  await back.click("#tab-timeline");
  await back.click("#tab-memory");
  await back.focus("#view-memory [role=slider]");
  await back.keyboard.press("Home");
  await back.keyboard.press("ArrowRight");
  await back.reload();
  await settle(back);
  t.need(await back.evaluate(() => location.hash) === "#memory?at=1", "a reload loses the place");
  await back.goBack();
  await settle(back);
  t.need(await back.evaluate(() => location.hash) === "#timeline", "Back after a reload does not go back");
  await back.close();
}

/* No cell's words lie across the next cell, in no view, narrow or wide. */
async function cells(t, files) {
  await t.each(files.flatMap((file) => [[file, 1280], [file, 360]]), async (page, [file, width]) => {
    await page.setViewportSize({ width, height: 800 });
    await t.open(file, { page });
    for (const id of await tabs(page)) {
      await openTab(page, id);
      const over = await page.$$eval(`#view-${id} tr:not(.fixed) > *`, (all) => all.filter((cell) => cell.offsetParent && cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.textContent.slice(0, 60)));
      t.need(over.length === 0, `${path.basename(file)}, ${id}, ${width}: ${over.slice(0, 3).join(" | ")}`);
    }
  });
}

async function sizes(t, file) {
  for (const [width, height] of [[360, 640], [3840, 2160]]) {
    const page = await t.open(file, { width, height });
    for (const id of await tabs(page)) {
      await openTab(page, id);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      t.need(wide <= width, `${id} is ${wide} px wide in a window of ${width}`);
    }
    await page.emulateMedia({ media: "print" });
    t.need(await page.$eval("#cg-actions", (tools) => getComputedStyle(tools).display) === "none", "buttons are printed");
    await page.close();
  }
}

await run("views", async (t) => {
  const file = t.make("view", path.join(traces, "mlp-update-4.jsonl"));
  await timeline(t, file);
  await clocks(t);
  await costs(t, file);
  await graph(t, file);
  await expands(t);
  await prints(t);
  await face(t, file);
  await sizes(t, file);
  await visitor(t, file);
  const broken = path.join(repo, "tests", "data", "join", "broken");
  await cells(t, [file, t.make("view", path.join(repo, "examples", "tagger")), t.make("view", path.join(broken, "crate"), "--trace", path.join(broken, "calm.jsonl"), path.join(broken, "sure.jsonl"))]);
});
