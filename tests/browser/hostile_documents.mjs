/*
 * Eighty texts that would be code, markup, an address or a trick to the eye, in every text of a comparison, a
 * series, the state of a campaign and a join, and in every text of two published runs side by side, each alone and
 * all at once: no script runs, nothing is requested, the text is shown as it is.
 *
 * ctest-timeout: 600
 */
import { execFileSync } from "node:child_process";
import path from "node:path";
import { PAYLOADS, attack, crowd, records } from "./shared/payloads.mjs";
import { repo, run } from "./support.mjs";

function comparison(text) {
  const id = (name) => name + text;
  const cohort = { samples_ns: [1, 2], median_ns: 1.5, p95_ns: 2, mad_ns: 0.5 };
  const runs = [{ run_id: id("a"), manifest_sha256: id("m") }, { run_id: id("b"), manifest_sha256: id("n") }];
  return {
    schema: "candle-graph/comparison/6", metric: id("metric"), inputs: { verification: "verified_bundles", baseline: runs, candidate: runs }, comparable: false, paired: false,
    verdict: "ineligible", reasons: [{ code: id("code"), message: id("message") }], baseline_implementation_id: id("old"), candidate_implementation_id: id("new"),
    identity: { workload_id: id("w"), model_id: id("m"), config_id: id("c"), data_id: id("d"), seed_policy: id("s"), physical_batch: 1, accumulation_steps: 1, precision: id("p"), device_state: id("x") },
    baseline: cohort, candidate: cohort, median_delta_ns: 0, median_delta_percent: null, confidence_interval: null,
    tensor_stats: { baseline_runs: 2, candidate_runs: 2, matched: [{ label: text, rms_a: 1, rms_b: 2, rms_ratio: 2, abs_max_ratio: null, non_finite_a: 0, non_finite_b: 1, samples_a: 1, samples_b: 1, runs_a: 1, runs_b: 1 }],
      unmatched_a: [id("gone")], unmatched_b: [id("fresh")] },
  };
}

function series(text) {
  const id = (name) => name + text;
  const rows = (more) => [1, 2].map((step) => ({ capture_step: step, run_id: id(`r${step}`), ...more }));
  const map = (value) => JSON.parse(`{${JSON.stringify(text)}:${JSON.stringify(value)},"other":${JSON.stringify(value)}}`);
  return {
    schema: "candle-graph/series/1", entrypoint: id("entry"), coordinate: "capture_step", label_prefix: id("prefix"),
    inputs: [1, 2].map((step) => ({ capture_step: step, run_id: id(`r${step}`), bundle: id("path"), manifest_sha256: id("sha") })),
    outer_wall_time: rows({ outer_wall_time_ns: 5 }), tensor_stats: map(rows({ rms: 1, abs_max: 2, mean: 0.5, non_finite: 1, elements: 4 })),
    gradients: map(rows({ state: "present", norm: 0.5 })), residual_bytes: map(rows({ residual_bytes: 8 })),
    growth: [{ span: text, captures: 2, from_bytes: 1, to_bytes: 2, bytes_per_capture: 1, points: rows({ residual_bytes: 1 }) }],
  };
}

function status(text) {
  const id = (name) => name + text;
  return {
    schema: "candle-graph/campaign-status/1", campaign_id: id("campaign"), entrypoint: id("entry"), planned: 2, published: 0, missing: 1, failed: 1,
    captures: [{ capture_step: 1, bundle: id("path"), state: { state: "missing" } }, { capture_step: 2, bundle: text, state: { state: "failed_run", run_id: id("run"), reason: id("reason") } }],
  };
}

/* Words of a document are few and known; every other text may hold anything. */
const WORDS = new Set(["schema", "kind", "record", "plane", "worth", "rule", "scope", "choice", "basis", "verdict", "part", "tie", "input", "phase", "outcome", "operations",
  "confidence"]);

function spoil(value, text, key = "") {
  if (typeof value === "string") return WORDS.has(key) ? value : value + text;
  if (Array.isArray(value)) return value.map((one) => spoil(one, text, key));
  if (value !== null && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, spoil(one, text, name)]));
  return value;
}

const data = path.join(repo, "tests", "data", "join", "broken");
const joined = JSON.parse(execFileSync(process.argv[2], ["query", "--kind", "join", path.join(data, "crate"), "--all", "--format", "json", "--trace", path.join(data, "calm.jsonl"),
  path.join(data, "sure.jsonl")], { maxBuffer: 1 << 26 }));
/* A published run at a path that is an attack as well, as far as a path can be one. */
function bundle(t, number, text, side, trace) {
  const named = text.replace(/[/\u0000]/g, "").slice(0, 40);
  const folder = path.join(t.place, `${number}-${side}${named}`);
  execFileSync(process.argv[2], ["report", t.write(`${number}-${side}.jsonl`, trace), "--bundle", folder], { stdio: ["ignore", "ignore", "pipe"] });
  return folder;
}

const isShort = (text) => text.length < 100;
/* What the page of two runs calls by name, on Compare and in the views of the candidate. */
const NAMES = ["before", "after", "entry", "cpu", "build", "work", "model", "config", "data", "seed", "half", "idle", "root", "leaf", "mul", "label-in", "label-out", "gpu", "w"];

await run("hostile documents", async (t) => {
  await t.each(PAYLOADS, async (page, text, number) => {
    const sides = ["before", "after"].map((side) => bundle(t, number, text, side, records(text, "complete", side)));
    await t.open(t.make("view", sides[1], "--against", sides[0]), { page, hash: "#compare" });
    await attack(t, page, `payload ${number}, two runs`, isShort(text) ? NAMES.map((name) => name + text) : []);
    await t.open(t.make("view", t.write(`${number}-join.json`, JSON.stringify(spoil(joined, text)))), { page });
    await attack(t, page, `payload ${number}, join`, isShort(text) ? [text] : []);
    for (const [name, make] of [["comparison", comparison], ["series", series], ["status", status]]) {
      await t.open(t.make("view", t.write(`${number}-${name}.json`, JSON.stringify(make(text)))), { page });
      await attack(t, page, `payload ${number}, ${name}`, isShort(text) ? [text] : []);
    }
  });
  const page = await t.page();
  const sides = ["before", "after"].map((side) => bundle(t, 80, "all", side, crowd(side)));
  await t.open(t.make("view", sides[1], "--against", sides[0]), { page, hash: "#compare" });
  await attack(t, page, "two runs, all at once", PAYLOADS.filter(isShort).map((text, number) => `label-in${number}${text}`));
});
