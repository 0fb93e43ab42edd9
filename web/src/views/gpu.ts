/*
 * GPU: what Nsight exports say of the run. Projected ranges and GPU operations stand on the profiler's
 * own clock, never beside host time. A projected range says where its launches ran; only the exact
 * phases say how long the GPU was busy for it. What could not be attributed is listed as a gap.
 */
import type { Json } from "../data";
import type { Doc } from "../doc";
import { axes, ending, label as words, line, linear, onWidth, picture, pictureText, seriesColour } from "../chart";
import { empty, figure, h, pairs, size, status, svg, text } from "../dom";
import type { Run } from "../run";
import { table } from "../table";
import { count, duration, known, type Maybe, type Num, show, shown } from "../text";
import type { Context, Found, Mounted, View } from "../view";

const BARS = 400;
const WORST = ["invalid", "unavailable", "partial", "available", "complete"];

/* GPU times are short: in the unit that suits, exact when pointed at. */
const time = (ns: Maybe<Num>): HTMLElement => figure(known(ns) ? duration(Number(ns)) : "\u2014", ns, "ns");

function worstOf(gpu: Json): string {
  const words: string[] = [gpu.status, gpu.correlation_capability.level, gpu.provenance_capability.level];
  return WORST.find((word) => words.includes(word)) ?? "unavailable";
}

/* How many rows a report has outside of this page, added up over its files. */
function cuts(gpu: Json): Json[] {
  return Object.entries(gpu.limits as Record<string, Json>).map(([file, limit]) => ({ file, ...limit }));
}

interface Lane {
  name: string;
  bars: { at: number; wide: number; row: Json }[];
}

interface Bars {
  element: HTMLElement;
  picture(): SVGElement | null;
}

/* Bars in lanes on one clock that is no other's. */
function drawLanes(title: string, lanes: Lane[], open: (row: Json) => void): Bars {
  const box = h("div", { class: "chart-box tall" });
  let drawn: SVGElement | null = null;
  let end = 1;
  for (const lane of lanes) for (const bar of lane.bars) end = Math.max(end, bar.at + bar.wide);
  queueMicrotask(() => onWidth(box, (width) => {
    const left = width < 520 ? 12 : Math.min(230, width * 0.26);
    const step = width < 520 ? 38 : 26;
    const high = step * lanes.length + 34;
    const frame = { left, top: 4, right: width - 14, bottom: high - 26 };
    const x = linear(0, end, frame.left, frame.right, width / 90);
    const parts = axes(frame, x, null, duration, String);
    for (const tick of x.ticks) parts.push(line(Math.round(x.at(tick)) + 0.5, frame.top, Math.round(x.at(tick)) + 0.5, frame.bottom));
    lanes.forEach((lane, index) => {
      const top = frame.top + step * index;
      const y = width < 520 ? top + 16 : top + 4;
      parts.push(width < 520 ? words(left, top + 12, ending(lane.name, 44)) : words(left - 8, top + 17, ending(lane.name, Math.floor(left / 7.4)), "end"));
      for (const bar of lane.bars) {
        const wide = Math.max(1.5, x.at(bar.at + bar.wide) - x.at(bar.at));
        parts.push(svg("rect", { x: x.at(bar.at).toFixed(1), y, width: wide.toFixed(1), height: 17, fill: seriesColour(index), "fill-opacity": 0.8,
          stroke: "var(--back)", "stroke-width": 0.5, on: { click: () => open(bar.row) } },
        svg("title", {}, `${show(bar.row.name ?? bar.row.semantic_key, 120)}: ${duration(bar.wide)}`)));
      }
    });
    drawn = picture(`${title}: ${lanes.length} lanes over ${duration(end)}`, width, high, ...parts);
    box.replaceChildren(drawn);
  }));
  return { element: box, picture: () => drawn };
}

/* From the first of the starts, exactly, whatever the clock reads. */
function originOf(rows: Json[], key: string): bigint {
  let origin: bigint | null = null;
  for (const row of rows) if (known(row[key]) && (origin === null || BigInt(row[key]) < origin)) origin = BigInt(row[key]);
  return origin ?? 0n;
}

function inspectRow(context: Context, row: Json): void {
  context.inspect(row.name ?? row.semantic_key, [pairs(Object.entries(row).map(([name, value]): [string, unknown] =>
    [name.replace(/_/g, " "), name.endsWith("_ns") ? time(value as string) : Array.isArray(value) ? value.join(", ") : value]))]);
}

/* ---- correlation ---- */

function drawCorrelation(root: HTMLElement, gpu: Json): void {
  const correlation = gpu.correlation;
  const ledger = correlation.ledger;
  root.append(h("h2", {}, "Labels of the run and ranges of the profiler"), h("p", {}, correlation.complete
    ? h("span", { class: "badge good" }, "\u2713 complete") : h("span", { class: "badge warn" }, "! not complete"), ": ", text(correlation.reason, 400)),
  h("p", { class: "soft" }, `Compared by ${show(correlation.mode).replace(/_/g, " ")}; the clocks of host and GPU are ${correlation.clock_aligned ? "aligned by the profiler" : "not aligned, so their times are never compared"}.`));
  const lists: [string, string, string][] = [["missing_expected", "expected, but no range was seen", "bad"], ["unexpected_observed", "a range that nobody expected", "warn"],
    ["unexpected_cpu_only", "declared for the CPU alone, but a range was seen", "warn"], ["matched", "one range", "good"], ["cpu_only", "for the CPU alone, as declared", "soft"]];
  const rows = new Map<string, { label: string; words: string; kind: string; rank: number }>();
  lists.forEach(([key, meaning, kind], rank) => {
    for (const label of (ledger[key] ?? []) as string[]) if (!rows.has(label)) rows.set(label, { label, words: meaning, kind, rank });
  });
  for (const twice of (ledger.duplicates ?? []) as Json[]) {
    const label = typeof twice === "string" ? twice : twice.label ?? twice.semantic_key;
    rows.set(label, { label, words: `${typeof twice === "string" ? "several" : count(twice.count)} ranges of one name`, kind: "bad", rank: 0 });
  }
  const signs: Record<string, string> = { good: "\u2713", bad: "\u2717", warn: "!", soft: "\u25cb" };
  root.append(rows.size === 0 ? empty("Neither labels were expected nor ranges seen.") : table({
    caption: "Labels", rows: [...rows.values()].sort((a, b) => a.rank - b.rank), filter: (row) => row.label,
    columns: [
      { title: "Label", cell: (row) => text(row.label, 200), key: (row) => row.label },
      { title: "What was seen", cell: (row) => h("span", { class: row.kind }, `${signs[row.kind]} ${row.words}`), key: (row) => row.rank },
    ],
  }).element);
}

/* ---- phases ---- */

function drawPhases(root: HTMLElement, gpu: Json, context: Context): Bars | null {
  const ranges: Json[] = gpu.nvtx_ranges;
  const phases: Json[] = gpu.phase_attribution;
  root.append(h("h2", {}, "Phases"));
  if (ranges.length === 0 && phases.length === 0) {
    root.append(empty("No projected ranges were exported: which part of the run the GPU worked for is unknown."));
    return null;
  }
  const exact = new Map<string, Json>(phases.map((row) => [row.semantic_key, row]));
  const here = ranges.filter((row) => known(row.projected_start_ns) && known(row.projected_duration_ns));
  const origin = originOf(here, "projected_start_ns");
  const drawn = here.slice(0, 40);
  const lanes = drawLanes("Projected ranges on the profiler's clock", drawn.map((row) => ({
    name: row.semantic_key ?? row.name, bars: [{ at: Number(BigInt(row.projected_start_ns) - origin), wide: Number(row.projected_duration_ns), row }],
  })), (row) => inspectRow(context, row));
  if (here.length > 0)
    root.append(h("p", { class: "soft" }, "Where the GPU work launched inside a range ran: from its first operation to its last, idle time and other work included. " +
      `Ranges drawn: ${shown(drawn.length, here.length)}.`), lanes.element);
  root.append(h("p", { class: "soft" }, phases.length > 0 ? "Busy time is exact where every operation was joined to its range." :
    "No operation could be joined to its range exactly, so busy time of phases is unknown; the projected duration is an upper bound of it."));
  const extra = phases.filter((row) => !here.some((range) => (range.semantic_key ?? range.name) === row.semantic_key));
  root.append(table<Json>({
    caption: "Phases", rows: [...ranges, ...extra], open: (row) => inspectRow(context, row),
    filter: (row) => `${row.name ?? ""} ${row.semantic_key ?? ""}`,
    columns: [
      { title: "Range", cell: (row) => text(row.semantic_key ?? row.name, 200), key: (row) => row.semantic_key ?? row.name },
      { title: "GPU busy, exact", cell: (row) => time(exact.get(row.semantic_key)?.gpu_busy_ns), number: true, key: (row) => Number(exact.get(row.semantic_key)?.gpu_busy_ns ?? NaN) },
      { title: "Projected", cell: (row) => time(row.projected_duration_ns), number: true, key: (row) => Number(row.projected_duration_ns ?? NaN) },
      { title: "Operations", cell: (row) => count(row.gpu_operations ?? exact.get(row.semantic_key)?.gpu_operation_count), number: true, key: (row) => Number(row.gpu_operations ?? NaN) },
      { title: "Host range", cell: (row) => (known(row.duration_ns) ? time(row.duration_ns) : "\u2014"), number: true },
      { title: "Joined by", cell: (row) => text(exact.get(row.semantic_key)?.join_keys.join(", ")) },
    ],
  }).element);
  return here.length > 0 ? lanes : null;
}

/* ---- operations ---- */

function drawOperations(root: HTMLElement, gpu: Json, context: Context): Bars | null {
  const rows: Json[] = gpu.gpu_timeline;
  root.append(h("h2", {}, "GPU operations"));
  if (rows.length === 0) {
    root.append(empty("No time line of the GPU was exported."));
    return null;
  }
  const origin = originOf(rows, "start_ns");
  const lanes = new Map<string, Lane>();
  let drawn = 0;
  for (const row of rows) {
    const name = `${row.device ?? "GPU"} stream ${row.stream ?? "?"}`;
    let lane = lanes.get(name);
    if (!lane && lanes.size < 24) lanes.set(name, (lane = { name, bars: [] }));
    if (!lane || drawn >= BARS) continue;
    drawn++;
    lane.bars.push({ at: Number(BigInt(row.start_ns) - origin), wide: Number(row.duration_ns), row });
  }
  const bars = drawLanes("Operations by stream on the profiler's clock", [...lanes.values()], (row) => inspectRow(context, row));
  root.append(h("p", { class: "soft" }, `By device and stream on the profiler's clock. Operations drawn: ${shown(drawn, rows.length)}.`), bars.element, table<Json>({
    caption: "Operations in order", rows, filter: (row) => `${row.name} ${row.semantic_key ?? ""} ${row.device ?? ""}`, open: (row) => inspectRow(context, row),
    columns: [
      { title: "Operation", cell: (row) => text(row.name, 160), key: (row) => row.name },
      { title: "Duration", cell: (row) => time(row.duration_ns), number: true, key: (row) => Number(row.duration_ns), plain: (row) => String(row.duration_ns) },
      { title: "Start", cell: (row) => duration(Number(BigInt(row.start_ns) - origin)), number: true, key: (row) => Number(BigInt(row.start_ns) - origin), plain: (row) => String(row.start_ns) },
      { title: "Device", cell: (row) => text(row.device), key: (row) => row.device ?? "" },
      { title: "Stream", cell: (row) => text(row.stream), key: (row) => row.stream ?? "" },
      { title: "Range", cell: (row) => text(row.semantic_key), key: (row) => row.semantic_key ?? "" },
    ],
  }).element);
  return bars;
}

function drawTotals(root: HTMLElement, title: string, rows: Json[], none: string, context: Context): void {
  root.append(h("h2", {}, title));
  if (rows.length === 0) {
    root.append(empty(none));
    return;
  }
  const whole = rows.reduce((sum, row) => sum + Number(row.total_ns), 0);
  root.append(table<Json>({
    caption: title, rows, sort: [1, "down"], filter: (row) => row.name, open: (row) => inspectRow(context, row),
    columns: [
      { title: "Name", cell: (row) => text(row.name, 160), key: (row) => row.name },
      { title: "Total", cell: (row) => time(row.total_ns), number: true, key: (row) => Number(row.total_ns), plain: (row) => String(row.total_ns) },
      { title: "Share", cell: (row) => (whole > 0 ? `${((100 * Number(row.total_ns)) / whole).toFixed(1)} %` : "\u2014"), number: true, key: (row) => Number(row.total_ns) },
      { title: "Count", cell: (row) => count(row.count), number: true, key: (row) => Number(row.count ?? NaN) },
      { title: "Mean", cell: (row) => time(row.average_ns), number: true, key: (row) => Number(row.average_ns ?? NaN) },
      { title: "Least", cell: (row) => time(row.minimum_ns), number: true },
      { title: "Most", cell: (row) => time(row.maximum_ns), number: true },
    ],
  }).element);
}

/* ---- gaps, files ---- */

function drawGaps(root: HTMLElement, gaps: Json): void {
  root.append(h("h2", {}, "What could not be attributed"));
  if (!gaps || gaps.status !== "available") {
    root.append(empty(known(gaps?.reason) ? `Attribution needs projected ranges and the time line of the GPU: ${show(gaps.reason, 400)}` : "Attribution needs projected ranges and the time line of the GPU; they were not exported."));
    return;
  }
  const lists: [string, string][] = [["missing_expected", "expected labels without a range"], ["duplicate_labels", "labels with several ranges"],
    ["matched_without_exact_gpu_busy_attribution", "matched labels without exact busy time"], ["attributed_unexpected", "attributed labels that nobody expected"],
    ["unexpected_observed", "ranges that nobody expected"], ["unexpected_cpu_only", "labels for the CPU alone that have a range"]];
  const rows = lists.flatMap(([key, what]) => ((gaps[key]?.rows ?? []) as Json[]).map((row) => ({ what, label: typeof row === "string" ? row : row.label ?? row.semantic_key ?? JSON.stringify(row) })));
  const total = lists.reduce((sum, [key]) => sum + Number(gaps[key]?.total ?? 0), 0);
  root.append(h("p", {}, `${count(gaps.exactly_attributed_phase_rows)} of ${count(gaps.projected_range_rows)} projected ranges have exact busy time.`),
    rows.length === 0 ? empty("Nothing is left over.") : table({
      caption: "Gaps", rows, total,
      columns: [
        { title: "Label", cell: (row) => text(row.label, 200), key: (row) => row.label },
        { title: "Gap", cell: (row) => row.what, key: (row) => row.what },
      ],
    }).element);
}

function drawFiles(root: HTMLElement, gpu: Json): void {
  const files: Json[] = [...(gpu.raw_report ? [{ ...gpu.raw_report, what: "profile" }] : []), ...gpu.source_csv.map((row: Json) => ({ ...row, what: "export" }))];
  const limits = new Map(cuts(gpu).map((row) => [row.file, row]));
  root.append(h("h2", {}, "Files"), files.length === 0 ? empty("No files.") : table<Json>({
    caption: "Nsight files", rows: files,
    columns: [
      { title: "File", cell: (row) => text(row.path, 160), key: (row) => row.path },
      { title: "What", cell: (row) => row.what },
      { title: "Size", cell: (row) => size(row.size_bytes), number: true, key: (row) => Number(row.size_bytes) },
      { title: "Rows", cell: (row) => { const limit = limits.get(row.path); return limit ? shown(limit.displayed_rows, limit.total_rows) : "\u2014"; } },
      { title: "SHA-256", cell: (row) => h("span", { title: row.sha256 }, `${show(row.sha256).slice(0, 16)}\u2026`), plain: (row) => row.sha256 },
    ],
  }).element);
  const notes: string[] = [...(gpu.diagnostics ?? []), ...(gpu.provenance.diagnostics ?? [])];
  if (notes.length > 0) root.append(table<string>({ caption: "What was wrong with them", rows: notes, columns: [{ title: "Message", cell: (row) => text(row, 600) }] }).element);
  const manifest = gpu.provenance.manifest;
  if (manifest)
    root.append(h("h3", {}, "What the profiler's manifest says"), pairs([
      ["Run", manifest.run?.id], ["Tool", `${show(manifest.tool?.name)} ${show(manifest.tool?.version)}`], ["Host", manifest.hardware?.host],
      ["Devices", (manifest.hardware?.devices ?? []).join(", ")], ["Commands", (manifest.commands ?? []).join("; ")],
    ]));
}

/* ---- device intervals of the trace itself ---- */

function drawClocks(root: HTMLElement, run: Run): void {
  const timing = run.payload.views.evidence.timing;
  const spans: Json[] = timing.device_spans;
  root.append(h("h2", {}, "Device intervals of the trace"));
  if (timing.device_clocks.length === 0) {
    root.append(empty("The recorder gave no device intervals: device time of spans is unknown, not zero."));
    return;
  }
  root.append(h("p", { class: "soft" }, "Each device clock is a plane of its own. The time line draws them."), table<Json>({
    caption: "Busy time by device clock", rows: timing.device_clocks,
    columns: [
      { title: "Device", cell: (row) => text(row.device) }, { title: "Clock", cell: (row) => text(row.clock_id) },
      { title: "Intervals", cell: (row) => count(row.interval_count), number: true, key: (row) => Number(row.interval_count) },
      { title: "Busy", cell: (row) => time(row.busy_ns), number: true, key: (row) => Number(row.busy_ns) },
    ],
  }).element, table<Json>({
    caption: "Busy time by span", rows: spans, total: run.whole("views.evidence.timing.device_spans", spans), sort: [3, "down"],
    columns: [
      { title: "Span", cell: (row) => text(row.span_id), key: (row) => row.span_id }, { title: "Device", cell: (row) => text(row.device), key: (row) => row.device },
      { title: "Clock", cell: (row) => text(row.clock_id), key: (row) => row.clock_id },
      { title: "Busy", cell: (row) => time(row.busy_ns), number: true, key: (row) => Number(row.busy_ns) },
      { title: "Intervals", cell: (row) => count(row.interval_count), number: true }, { title: "Streams", cell: (row) => text((row.streams ?? []).join(", "), 80) },
    ],
  }).element);
}

const view: View = {
  id: "gpu",
  label: "GPU",
  order: 70,
  available: (doc: Doc) => doc.run !== null,
  mount(root, context): Mounted {
    const run = context.doc.run as Run;
    const gpu = run.payload.views.gpu;
    const word = worstOf(gpu);
    root.append(h("h2", {}, "Nsight evidence"), h("p", { class: "lead" }, status(word), known(gpu.reason) ? ": " : "", known(gpu.reason) ? text(gpu.reason, 400) : ""), pairs([
      ["Exports", status(gpu.status)], ["Correlation", h("span", {}, status(gpu.correlation_capability.level), " ", text(gpu.correlation_capability.reason, 400))],
      ["Bound to this run", h("span", {}, status(gpu.provenance.binding), " ", text(gpu.provenance_capability.reason, 400))],
    ]));
    const has = gpu.source_csv.length > 0;
    let bars: Bars | null = null;
    if (has) {
      drawCorrelation(root, gpu);
      bars = drawPhases(root, gpu, context);
      const operations = drawOperations(root, gpu, context);
      bars ??= operations;
      drawTotals(root, "Kernels", gpu.kernels, "No summary of kernels was exported.", context);
      drawTotals(root, "Runtime calls", gpu.runtime_calls, "No summary of runtime calls was exported.", context);
      drawTotals(root, "Memory operations", gpu.memory_operations, "No summary of memory operations was exported.", context);
      drawGaps(root, context.doc.islands.get("cg-answers")?.gpu_gaps);
      drawFiles(root, gpu);
    } else {
      root.append(empty("No Nsight exports belong to this run. `candle-graph view TRACE --nsight-dir DIR` reads them."));
    }
    drawClocks(root, run);
    const picture = bars;
    return {
      search(query): Found {
        const word = query.toLowerCase();
        const rows: Json[] = [...gpu.kernels, ...gpu.runtime_calls, ...gpu.memory_operations, ...gpu.nvtx_ranges, ...gpu.gpu_timeline]
          .filter((row: Json) => `${row.name ?? ""} ${row.semantic_key ?? ""}`.toLowerCase().includes(word));
        return { total: rows.length, hits: rows.slice(0, 50).map((row) => ({ label: row.name, detail: duration(Number(row.total_ns ?? row.duration_ns)), go: () => inspectRow(context, row) })) };
      },
      ...(picture ? { picture: () => pictureText(picture.picture()) } : {}),
    };
  },
};
export default view;
