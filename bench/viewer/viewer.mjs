#!/usr/bin/env node
/*
 * viewer: what a large run costs in a browser, measured in the page.
 *
 * usage: node bench/viewer/viewer.mjs CANDLE_GRAPH [--spans N]
 *
 * A trace of N spans (default 100 000) is written, then its page; the page is opened and panned.
 * One line per promise, `name value unit budget verdict`; exits with 1 when a budget is broken.
 * Then the same with ten times as many spans, which must open. Needs what tests/browser needs; run
 * it on a quiet machine.
 */
import { execFileSync } from "node:child_process";
import {
  closeSync, existsSync, mkdtempSync, openSync, rmSync, statSync, writeSync,
} from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const argv = process.argv.slice(2);
const cli = argv[0];
if (!cli) {
  console.error("usage: node bench/viewer/viewer.mjs CANDLE_GRAPH [--spans N]");
  process.exit(2);
}
const spans = argv.includes("--spans") ? Number(argv[argv.indexOf("--spans") + 1]) : 100000;
const repo = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const tools = path.join(repo, "build", "browser-tools", "package.json");
const { chromium } = createRequire(tools)("playwright-core");
const place = mkdtempSync(path.join(os.tmpdir(), "cg-bench-viewer-"));
let broken = false;

function line(name, value, unit, budget) {
  const isKept = budget === null || value <= budget;
  broken ||= !isKept;
  const verdict = budget === null ? "stated" : isKept ? "ok" : "BROKEN";
  const limit = budget === null ? "-" : `<=${budget}`;
  console.log(`${name} ${Number(value.toFixed(3))} ${unit} ${limit} ${verdict}`);
}

/* Nested calls with names of modules and times like those of a real loop; the same every time. */
function trace(count) {
  const file = path.join(place, `spans-${count}.jsonl`);
  const out = openSync(file, "w");
  let seed = 12345;
  const random = (below) => (seed = (seed * 1103515245 + 12345) % 2147483648) % below;
  let text = "";
  const add = (record) => {
    text += JSON.stringify(record) + "\n";
    if (text.length > 1 << 20) {
      writeSync(out, text);
      text = "";
    }
  };
  const none = Object.fromEntries(["operations", "tensors", "gradients", "logical_memory",
    "physical_memory", "device_timing"].map((plane) => [plane, "none"]));
  add({
    kind: "meta", schema: "candle-graph/trace/10", run_id: "bench", correlation_id: "bench",
    entrypoint: "bench::run", phase: "infer", timestamp: "2026-01-01T00:00:00Z", capture_step: 1,
    warmup_steps: 0, device: "cpu", measured_region_device_synchronized: false,
    timing_mode: "host", tags: {},
    capture_contract: {
      measurement_scope: "profiled_work", ...none, required_semantic_labels: [],
    },
  });
  const parts = ["attention", "norm", "mlp", "project", "rotary"];
  add({
    kind: "span_start", id: "s0", name: "bench::run", start_ns: 0, span_kind: "function",
    measured: true,
  });
  const open = [];
  let now = 1000;
  for (let i = 1; i < count; i++) {
    while (open.length > 0 && (open.length >= 8 || random(3) === 0)) {
      const [id, start] = open.pop();
      now += 50 + random(400);
      add({ kind: "span_end", id, duration_ns: now - start });
    }
    now += 20 + random(2000);
    add({
      kind: "span_start", id: `s${i}`, parent_id: open.length > 0 ? open[open.length - 1][0] : "s0",
      name: `model/layers.${random(32)}/${parts[random(5)]}`, start_ns: now, span_kind: "module",
      measured: false,
    });
    open.push([`s${i}`, now]);
  }
  while (open.length > 0) {
    const [id, start] = open.pop();
    add({ kind: "span_end", id, duration_ns: (now += 10) - start });
  }
  add({ kind: "span_end", id: "s0", duration_ns: now + 1000 });
  add({ kind: "terminal", outcome: "complete", timestamp_ns: now + 1000 });
  writeSync(out, text);
  closeSync(out);
  return file;
}

async function look(browser, html) {
  const page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
  page.on("pageerror", (error) => { throw error; });
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const patient = { timeout: 120000 };
  await page.goto(pathToFileURL(html) + "#timeline", { waitUntil: "load", ...patient });
  await page.waitForFunction(
    () => performance.getEntriesByName("cg:drawn").length > 0, null, patient);
  const { metrics } = await session.send("Performance.getMetrics");
  const cpu = metrics.find((one) => one.name === "ThreadTime")?.value ?? NaN;
  return [page, cpu, await page.evaluate(() => ({
    bytes: performance.getEntriesByType("navigation")[0].responseEnd,
    load: performance.getEntriesByType("navigation")[0].loadEventEnd,
    drawn: performance.getEntriesByName("cg:drawn")[0].startTime,
    heap: performance.memory?.usedJSHeapSize ?? 0,
  }))];
}

/* The script's time for each of 120 frames, and the distance between frames. */
const panning = (page, zoomed) => page.evaluate(async (scale) => {
  const chart = document.querySelector(".flame");
  chart.focus();
  const key = (name) =>
    chart.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
  for (let i = 0; i < scale; i++) key("w");
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  await frame();
  await frame();
  const work = [];
  const gaps = [];
  let last = performance.now();
  for (let i = 0; i < 120; i++) {
    const before = performance.getEntriesByName("cg:drawn").length;
    const begin = performance.now();
    key(i % 40 < 20 ? "d" : "a");
    const handled = performance.now() - begin;
    let drawing = 0;
    await new Promise((done) => requestAnimationFrame(() => {
      const from = performance.now();
      setTimeout(() => { drawing = performance.now() - from; done(); }, 0);
    }));
    work.push(handled + drawing);
    const now = performance.now();
    gaps.push(now - last);
    last = now;
    if (performance.getEntriesByName("cg:drawn").length === before) i--;
  }
  const at = (list, part) => [...list].sort((a, b) => a - b)[Math.floor(list.length * part)];
  return { median: at(work, 0.5), p95: at(work, 0.95), gap: at(gaps, 0.5) };
}, zoomed);

try {
  const browser = await chromium.launch({
    executablePath: ["chromium", "chromium-browser", "google-chrome"]
      .map((name) => path.join("/usr/bin", name)).find((file) => existsSync(file)),
    args: ["--enable-precise-memory-info",
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])],
  });
  for (const [count, isFirst] of [[spans, true], [spans * 10, false]]) {
    const file = trace(count);
    const html = `${file}.html`;
    const begin = process.hrtime.bigint();
    execFileSync(cli, ["view", file, "--output", html]);
    const seconds = Number(process.hrtime.bigint() - begin) / 1e9;
    const label = `viewer.${count}`;
    line(`${label}.write`, seconds, "s", null);
    line(`${label}.file`, statSync(html).size / statSync(file).size, "of_trace",
      isFirst ? 0.3 : null);
    const [page, cpu, found] = await look(browser, html);
    line(`${label}.first_frame`, (found.drawn - found.load) / 1000, "s", isFirst ? 0.5 : null);
    line(`${label}.first_frame_after_last_byte`, (found.drawn - found.bytes) / 1000, "s", null);
    line(`${label}.first_frame_main_thread`, cpu, "s_cpu", isFirst ? 0.5 : null);
    line(`${label}.heap`, found.heap / 1048576, "MiB", null);
    for (const [words, zoomed] of [["whole", 0], ["zoomed", 8]]) {
      const frames = await panning(page, zoomed);
      line(`${label}.pan_${words}_median`, frames.median, "ms", isFirst ? 16 : null);
      line(`${label}.pan_${words}_p95`, frames.p95, "ms", isFirst ? 16 : null);
      line(`${label}.pan_${words}_frame_distance`, frames.gap, "ms", null);
    }
    await page.close();
  }
  await browser.close();
} finally {
  rmSync(place, { recursive: true, force: true });
}
process.exit(broken ? 1 : 0);
