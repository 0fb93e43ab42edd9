/*
 * Compare: may two cohorts be compared, and what follows? Every sample is a dot; the interval of the
 * difference stands below on an axis of its own. Beside it what changed inside: statistics of
 * labels, and for two runs side by side their costs, memory and gradients.
 */
import type { Json } from "../data";
import type { Doc } from "../doc";
import { axes, dot, label as words, legend, line, linear, onWidth, picture, pictureText } from "../chart";
import { empty, h, pairs, size, status, svg, text, time } from "../dom";
import { type Run, runOf } from "../run";
import { table } from "../table";
import { bytes, count, duration, known, ms, show, shown } from "../text";
import type { Context, Found, Mounted, View } from "../view";
import { figures } from "./tensors";

const signed = (value: number, format: (value: number) => string): string => (value > 0 ? "+" : value < 0 ? "\u2212" : "") + format(Math.abs(value));
const percentOf = (value: unknown): string => (known(value) ? `${signed(Number(value), (amount) => amount.toFixed(1))} %` : "unknown percentage (the baseline's median is zero)");

/* What a ratio says, with a sign of its own: the table is sorted by how far it is from one. */
function ratio(value: unknown): HTMLElement {
  if (!known(value)) return h("span", { class: "warn", title: "the baseline is zero" }, "from zero");
  const number = Number(value);
  const far = number > 0 ? Math.abs(Math.log(number)) : Infinity;
  return h("span", { class: far > Math.log(2) ? "bad" : far > Math.log(1.05) ? "warn" : "" },
    far === 0 ? "= 1" : `${number > 1 ? "\u2191" : "\u2193"} \u00d7${number.toPrecision(4)}`);
}

/* ---- verdict ---- */

function verdictOf(data: Json): { sign: string; kind: string; words: string } {
  switch (data.verdict) {
    case "candidate_faster": return { sign: "\u2713", kind: "good", words: "The candidate is faster" };
    case "candidate_slower": return { sign: "\u2717", kind: "bad", words: "The candidate is slower" };
    case "inconclusive": return { sign: "?", kind: "warn", words: "No difference can be concluded" };
    default: return { sign: "\u25cb", kind: "warn", words: "These runs may not be compared" };
  }
}

function drawVerdict(root: HTMLElement, data: Json): void {
  const verdict = verdictOf(data);
  const interval = data.confidence_interval;
  root.append(h("h2", {}, "Verdict"), h("p", { class: "lead" }, h("span", { class: `badge ${verdict.kind}` }, `${verdict.sign} ${verdict.words}`),
    interval ? `: medians differ by ${signed(Number(data.median_delta_ns), ms)} (${percentOf(data.median_delta_percent)}), ` +
      `95 % interval ${signed(Number(interval.lower_delta_ns), ms)} to ${signed(Number(interval.upper_delta_ns), ms)}.`
      : `. Their medians differ by ${signed(Number(data.median_delta_ns), ms)}; nothing follows from that.`));
  root.append(h("p", { class: "soft" }, `Measured: time of the outermost measured region on the host clock, ${data.inputs.verification === "verified_bundles"
    ? "from verified bundles" : "from raw traces, which prove nothing about where they come from"}; samples ${data.paired ? "paired by their ids" : "not paired"}.`));
  if (data.min_effect)
    root.append(h("p", {}, `Asked for an effect of ${figures(data.min_effect.percent)} % or more (${ms(data.min_effect.threshold_ns)})` +
      (data.min_effect.interval_within_threshold ? "; the whole interval lies within that." : ".") +
      (data.min_effect.verdict_without_threshold !== data.verdict ? ` Without that: ${verdictOf({ verdict: data.min_effect.verdict_without_threshold }).words.toLowerCase()}.` : "")));
  if (data.reasons.length > 0)
    root.append(table<Json>({
      caption: "Why nothing may be concluded", rows: data.reasons,
      columns: [
        { title: "Reason", cell: (row) => status(row.code), key: (row) => row.code },
        { title: "What", cell: (row) => text(row.message, 600) },
      ],
    }).element);
}

/* ---- samples ---- */

const SIDES: ["baseline", "candidate"] = ["baseline", "candidate"];
const DOTS = 2000;

function drawSamples(root: HTMLElement, data: Json): () => SVGElement | null {
  const box = h("div", { class: "chart-box" });
  let drawn: SVGElement | null = null;
  const samples = SIDES.map((side) => (data[side].samples_ns as Json[]).map(Number));
  const all = samples.flat();
  const least = all.reduce((a, b) => Math.min(a, b), Infinity);
  const most = all.reduce((a, b) => Math.max(a, b), 0);
  const margin = (most - least) * 0.06 || most * 0.05 || 1;
  const interval = data.confidence_interval;
  queueMicrotask(() => onWidth(box, (width) => {
    const isNarrow = width < 520;
    const left = isNarrow ? 12 : 96;
    const frame = { left, top: 14, right: width - 16, bottom: 176 };
    const x = linear(Math.max(0, least - margin), most + margin, frame.left, frame.right, width / 90);
    const parts = axes(frame, x, null, duration, String);
    const middles = [58, 134];
    SIDES.forEach((side, index) => {
      const y = middles[index];
      const values = samples[index];
      const median = Number(data[side].median_ns);
      const mad = Number(data[side].mad_ns);
      parts.push(isNarrow ? words(left, y - 30, side) : words(left - 10, y + 4, side, "end", { "font-weight": 600 }));
      if (values.length === 0) return;
      parts.push(svg("rect", { x: x.at(median - mad), y: y - 22, width: Math.max(1, x.at(median + mad) - x.at(median - mad)), height: 44,
        fill: "var(--hover)", stroke: "var(--line)" }), line(x.at(median), y - 26, x.at(median), y + 26, "var(--fore)", { "stroke-width": 2 }));
      const step = Math.max(1, Math.ceil(values.length / DOTS));
      for (let i = 0; i < values.length; i += step)
        parts.push(dot(index === 0 ? 0 : 2, x.at(values[i]), y - 14 + ((i * 11) % 29), 4.5, index === 0 ? "var(--c1)" : "var(--c2)"));
    });
    let high = 200;
    if (interval) {
      const low = Number(interval.lower_delta_ns);
      const up = Number(interval.upper_delta_ns);
      const delta = Number(data.median_delta_ns);
      const threshold = data.min_effect ? Number(data.min_effect.threshold_ns) : 0;
      const reach = Math.max(Math.abs(low), Math.abs(up), threshold) * 1.15 || 1;
      const under = { left, top: 216, right: width - 16, bottom: 272 };
      const d = linear(-reach, reach, under.left, under.right, width / 100);
      parts.push(...axes(under, d, null, (value) => signed(value, duration), String),
        words(left, 222, "difference of medians, candidate minus baseline", "start", { fill: "var(--soft)" }));
      if (threshold > 0) parts.push(svg("rect", { x: d.at(-threshold), y: 228, width: d.at(threshold) - d.at(-threshold), height: 44, fill: "var(--hover)" }));
      parts.push(line(d.at(0), 226, d.at(0), 272, "var(--fore)", { "stroke-dasharray": "4 3" }),
        line(d.at(low), 250, d.at(up), 250, "var(--mark)", { "stroke-width": 3 }),
        line(d.at(low), 243, d.at(low), 257, "var(--mark)", { "stroke-width": 2 }), line(d.at(up), 243, d.at(up), 257, "var(--mark)", { "stroke-width": 2 }),
        dot(2, d.at(delta), 250, 5, "var(--mark)"));
      high = 298;
    }
    drawn = picture(`Samples of both cohorts: baseline ${samples[0].length} with median ${ms(data.baseline.median_ns)}, candidate ${samples[1].length} with median ${ms(data.candidate.median_ns)}` +
      (interval ? `; 95 % interval of the difference ${ms(interval.lower_delta_ns)} to ${ms(interval.upper_delta_ns)}` : ""), width, high, ...parts);
    box.replaceChildren(drawn);
  }));
  const keys = [{ sign: dot(0, 8, 8, 4.5, "var(--c1)"), words: "a run of the baseline" }, { sign: dot(2, 8, 8, 4.5, "var(--c2)"), words: "a run of the candidate" },
    { sign: line(8, 1, 8, 15, "var(--fore)", { "stroke-width": 2 }), words: "median, in the band of the median absolute deviation" }];
  if (interval) keys.push({ sign: line(1, 8, 15, 8, "var(--mark)", { "stroke-width": 3 }), words: "95 % interval of the difference" });
  const longest = Math.max(samples[0].length, samples[1].length);
  root.append(h("h2", {}, "Samples"), box, legend(keys));
  if (longest > DOTS) {
    const drawnOf = (values: number[]): number => Math.ceil(values.length / Math.max(1, Math.ceil(values.length / DOTS)));
    root.append(h("p", { class: "soft" }, `Dots: ${SIDES.map((side, at) => `${side} ${shown(drawnOf(samples[at]), samples[at].length)}`).join(", ")}; the table has all.`));
  }
  return () => drawn;
}

function drawCohorts(root: HTMLElement, data: Json): void {
  const spread = data.calibration;
  root.append(table<"baseline" | "candidate">({
    caption: "Cohorts", rows: SIDES,
    columns: [
      { title: "Cohort", cell: (side) => side },
      { title: "Build", cell: (side) => text(data[`${side}_implementation_id`], 120) },
      { title: "Runs", cell: (side) => count(data[side].samples_ns.length), number: true },
      { title: "Median", cell: (side) => time(data[side].median_ns), number: true },
      { title: "MAD", cell: (side) => time(data[side].mad_ns), number: true },
      { title: "95th percentile", cell: (side) => time(data[side].p95_ns), number: true },
      ...(spread ? [
        { title: "Mean", cell: (side: "baseline" | "candidate") => time(spread[side].mean_ns), number: true },
        { title: "Drift", cell: (side: "baseline" | "candidate") => `${percentOf(spread[side].drift_percent)}${spread[side].drift_is_significant ? " !" : ""}`, number: true },
      ] : []),
    ],
  }).element);
  if (spread) {
    root.append(h("h2", {}, "The baseline against itself"), h("p", {}, spread.baseline_differs_from_itself
      ? h("span", { class: "badge warn" }, "! Its first half differs from its second") : h("span", { class: "badge good" }, "\u2713 Its halves do not differ"),
    ` (${count(spread.first_runs)} against ${count(spread.second_runs)} runs): ${signed(Number(spread.median_delta_ns), ms)}` +
      (spread.confidence_interval ? `, interval ${signed(Number(spread.confidence_interval.lower_delta_ns), ms)} to ${signed(Number(spread.confidence_interval.upper_delta_ns), ms)}` : "") +
      `. Random splits of it differ by up to ${ms(spread.noise_floor_ns)}; the difference between the cohorts is ${spread.delta_exceeds_noise_floor ? "larger" : "not larger"} than that.`));
  }
  const runs = SIDES.flatMap((side) => (data[side].samples_ns as Json[]).map((sample, at) => ({ side, at, sample, run: data.inputs[side][at] })));
  root.append(table<Json>({
    caption: "Runs", rows: runs,
    columns: [
      { title: "Run", cell: (row) => text(row.run?.run_id ?? `${row.side} ${row.at + 1}`, 120) },
      { title: "Cohort", cell: (row) => row.side, key: (row) => row.side },
      { title: "Order", cell: (row) => count(row.at + 1), number: true, key: (row) => row.at },
      { title: "Sample", cell: (row) => time(row.sample), number: true, key: (row) => Number(row.sample), plain: (row) => String(row.sample) },
      { title: "Manifest", cell: (row) => h("span", { title: row.run?.manifest_sha256 }, row.run ? `${show(row.run.manifest_sha256).slice(0, 16)}\u2026` : "\u2014"), plain: (row) => row.run?.manifest_sha256 ?? "" },
    ],
  }).element);
  if (data.identity) root.append(h("h2", {}, "Same for all runs"), pairs(Object.entries(data.identity).map(([name, value]): [string, unknown] => [name.replace(/_/g, " "), value])));
}

/* ---- mechanism ---- */

function inspectLabel(context: Context, row: Json): void {
  context.inspect(row.label, [pairs([
    ["RMS, baseline", row.rms_a], ["RMS, candidate", row.rms_b], ["Ratio of RMS", ratio(row.rms_ratio)], ["Ratio of the largest", ratio(row.abs_max_ratio)],
    ["Not finite, baseline", count(row.non_finite_a)], ["Not finite, candidate", count(row.non_finite_b)],
    ["Statistics", `${count(row.samples_a)} in ${count(row.runs_a)} runs, ${count(row.samples_b)} in ${count(row.runs_b)} runs`],
  ])]);
}

function drawMechanism(root: HTMLElement, data: Json, context: Context): void {
  const mechanism = data.tensor_stats;
  root.append(h("h2", {}, "What changed inside"));
  if (mechanism.matched.length === 0 && mechanism.unmatched_a.length === 0 && mechanism.unmatched_b.length === 0) {
    root.append(empty("No run recorded tensor statistics: whether the values changed is unknown."));
    return;
  }
  const far = (row: Json): number => (known(row.rms_ratio) && Number(row.rms_ratio) > 0 ? Math.abs(Math.log(Number(row.rms_ratio))) : Infinity);
  const both = (a: unknown, b: unknown): HTMLElement => h("span", { class: Number(a) + Number(b) > 0 ? "bad" : "" }, Number(a) + Number(b) > 0 ? `\u2717 ${count(a as string)} / ${count(b as string)}` : "0 / 0");
  const marks = table<Json>({
    caption: "Tensor statistics of both cohorts, most changed first", rows: mechanism.matched,
    filter: (row) => row.label, open: (row) => inspectLabel(context, row),
    columns: [
      { title: "Label", cell: (row) => text(row.label, 200), key: (row) => row.label },
      { title: "RMS ratio", cell: (row) => ratio(row.rms_ratio), number: true, key: far, plain: (row) => String(row.rms_ratio ?? "") },
      { title: "Largest ratio", cell: (row) => ratio(row.abs_max_ratio), number: true, key: (row) => (known(row.abs_max_ratio) ? Number(row.abs_max_ratio) : Infinity), plain: (row) => String(row.abs_max_ratio ?? "") },
      { title: "RMS baseline", cell: (row) => figures(row.rms_a), number: true, key: (row) => Number(row.rms_a), plain: (row) => String(row.rms_a) },
      { title: "RMS candidate", cell: (row) => figures(row.rms_b), number: true, key: (row) => Number(row.rms_b), plain: (row) => String(row.rms_b) },
      { title: "Not finite", cell: (row) => both(row.non_finite_a, row.non_finite_b), number: true, key: (row) => Number(row.non_finite_a) + Number(row.non_finite_b) },
      { title: "Statistics", cell: (row) => `${count(row.samples_a)} / ${count(row.samples_b)}`, number: true },
    ],
  });
  root.append(h("p", { class: "soft" }, "Means over all runs of a cohort. A ratio of one is no change; these figures say nothing about time."), marks.element);
  for (const [side, list] of [["baseline", mechanism.unmatched_a], ["candidate", mechanism.unmatched_b]] as [string, string[]][])
    if (list.length > 0)
      root.append(table<string>({ caption: `Labels only the ${side} recorded`, rows: list, columns: [{ title: "Label", cell: (row) => text(row, 300) }] }).element);
}

/* ---- two runs side by side ---- */

interface Cost {
  name: string;
  counts: [number, number];
  self: [number, number];
  total: [number, number];
}

function costsOf(payload: Json, side: 0 | 1, into: Map<string, Cost>): void {
  for (const item of payload.views.span_costs.items) {
    if (item.kind === "tensor" || item.kind === "op") continue;
    let row = into.get(item.name);
    if (!row) into.set(item.name, (row = { name: item.name, counts: [0, 0], self: [0, 0], total: [0, 0] }));
    row.counts[side]++;
    row.self[side] += Number(item.host_self_time_ns);
    row.total[side] += Number(item.host_total_time_ns);
  }
}

const change = (from: number, to: number): string => (from === 0 ? (to === 0 ? "= " : "new") : `${signed((100 * (to - from)) / from, (value) => value.toFixed(1))} %`);

function drawPair(root: HTMLElement, run: Run, against: Run, context: Context): void {
  const sides = [against, run];
  const facts = (name: string, cell: (of: Run) => unknown): [string, unknown, unknown] => [name, cell(sides[0]), cell(sides[1])];
  const from = (of: Run): Json => of.payload.views.evidence.provenance;
  const rows = [
    facts("Run", (of) => from(of).run_id), facts("Entry point", (of) => of.payload.summary.entrypoint), facts("Phase", (of) => of.payload.summary.phase),
    facts("Captured step", (of) => count(from(of).capture_step)), facts("Device", (of) => from(of).device), facts("Health", (of) => status(of.health())),
    facts("Outer wall", (of) => time(of.payload.summary.outer_wall_time_ns)), facts("Logical peak", (of) => size(of.payload.summary.logical_peak_live_bytes)),
    facts("Nodes", (of) => count(of.whole("views.trace.nodes", of.payload.views.trace.nodes))),
  ];
  root.append(h("h2", {}, "Two runs side by side"), h("p", { class: "soft" }, "The candidate is the run that the other views of this page show; one run each is too little for a verdict about time."),
    table<[string, unknown, unknown]>({
      caption: "Both runs", rows,
      columns: [
        { title: "What", cell: (row) => row[0] },
        { title: "Baseline", cell: (row) => (row[1] instanceof Node ? row[1] : text(row[1])) },
        { title: "Candidate", cell: (row) => (row[2] instanceof Node ? row[2] : text(row[2])) },
      ],
    }).element);

  const costs = new Map<string, Cost>();
  costsOf(against.payload, 0, costs);
  costsOf(run.payload, 1, costs);
  const cut = sides.some((of) => String(of.whole("views.span_costs.items", of.payload.views.span_costs.items)) !== String(of.payload.views.span_costs.items.length));
  root.append(h("h2", {}, "Host time by span name"), costs.size === 0 ? empty("Neither run has a derived graph.") : table<Cost>({
    caption: "Spans of the same name taken together, host clock", rows: [...costs.values()], sort: [3, "down"], filter: (row) => row.name,
    columns: [
      { title: "Span", cell: (row) => text(row.name, 200), key: (row) => row.name },
      { title: "Self, baseline", cell: (row) => time(row.self[0]), number: true, key: (row) => row.self[0] },
      { title: "Self, candidate", cell: (row) => time(row.self[1]), number: true, key: (row) => row.self[1] },
      { title: "Self, difference", cell: (row) => signed(row.self[1] - row.self[0], ms), number: true, key: (row) => Math.abs(row.self[1] - row.self[0]) },
      { title: "Change", cell: (row) => change(row.self[0], row.self[1]), number: true },
      { title: "Total, baseline", cell: (row) => time(row.total[0]), number: true, key: (row) => row.total[0] },
      { title: "Total, candidate", cell: (row) => time(row.total[1]), number: true, key: (row) => row.total[1] },
      { title: "Count", cell: (row) => `${count(row.counts[0])} / ${count(row.counts[1])}`, number: true },
    ],
  }).element);
  if (cut) root.append(h("p", { class: "note" }, "Of at least one run only the largest spans are in this page, so small sums may be short."));

  const peaks = sides.map((of) => of.payload.views.memory.logical?.peak ?? null);
  const categories = [...new Set(peaks.flatMap((peak) => (peak ? Object.keys(peak.live_bytes_by_category) : [])))].sort();
  const held = (side: number, name: string): number => Number(peaks[side]?.live_bytes_by_category[name] ?? 0);
  root.append(h("h2", {}, "Memory at each run's own peak"), categories.length === 0 ? empty("No storage events were recorded: logical memory is unknown, not zero.") : table<string>({
    caption: "Live bytes by category", rows: categories,
    columns: [
      { title: "Category", cell: (name) => text(name), key: (name) => name },
      { title: "Baseline", cell: (name) => (peaks[0] ? size(held(0, name)) : "\u2014"), number: true, key: (name) => held(0, name) },
      { title: "Candidate", cell: (name) => (peaks[1] ? size(held(1, name)) : "\u2014"), number: true, key: (name) => held(1, name) },
      { title: "Difference", cell: (name) => (peaks[0] && peaks[1] ? signed(held(1, name) - held(0, name), bytes) : "\u2014"), number: true, key: (name) => Math.abs(held(1, name) - held(0, name)) },
    ],
  }).element);

  const states = new Map<string, [Json | null, Json | null]>();
  sides.forEach((of, side) => {
    for (const row of of.payload.gradients) {
      const key = `${row.root} ${row.key}`;
      const found = states.get(key) ?? [null, null];
      found[side] = row;
      states.set(key, found);
    }
  });
  const changed = [...states].filter(([, [a, b]]) => a?.state !== b?.state);
  root.append(h("h2", {}, "Gradients"), states.size === 0 ? empty("Neither run has gradients.") : changed.length === 0
    ? h("p", {}, `All ${count(states.size)} parameters have the same state in both runs.`) : table<[string, [Json | null, Json | null]]>({
      caption: "Parameters whose gradient changed its state", rows: changed,
      columns: [
        { title: "Parameter", cell: (row) => text(row[0], 200), key: (row) => row[0] },
        { title: "Baseline", cell: (row) => (row[1][0] ? status(row[1][0].state) : "not recorded") },
        { title: "Candidate", cell: (row) => (row[1][1] ? status(row[1][1].state) : "not recorded") },
      ],
    }).element);
  void context;
}

const view: View = {
  id: "compare",
  label: "Compare",
  order: 15,
  available: (doc: Doc) => doc.islands.has("cg-comparison"),
  mount(root, context): Mounted {
    const data = context.doc.islands.get("cg-comparison") as Json;
    const other = context.doc.islands.get("cg-against-payload");
    const run = context.doc.run;
    const isPair = other !== undefined && run !== null;
    if (isPair) drawPair(root, run, runOf(other, new Map()), context);
    if (!isPair) drawVerdict(root, data);
    const made = isPair ? () => null : drawSamples(root, data);
    if (!isPair) drawCohorts(root, data);
    drawMechanism(root, data, context);
    if (isPair) drawVerdict(root, data);
    return {
      search(query): Found {
        const rows: Json[] = data.tensor_stats.matched.filter((row: Json) => row.label.toLowerCase().includes(query.toLowerCase()));
        return { total: rows.length, hits: rows.slice(0, 50).map((row) => ({ label: row.label, detail: `RMS \u00d7${figures(row.rms_ratio)}`, go: () => inspectLabel(context, row) })) };
      },
      ...(isPair ? {} : { picture: () => pictureText(made()) }),
    };
  },
};
export default view;
