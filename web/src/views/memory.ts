/*
 * Memory: live bytes of logical storage over time, by category, in steps; what was live at the
 * peak; every storage with its life. Physical samples stand apart: they are of another plane and
 * are never added to the first.
 */
import { type Column, type Json, type Table, whole } from "../data";
import type { Doc } from "../doc";
import { axes, dot, hatches, label, legend, line, linear, onWidth, picture, pictureText, seriesColour } from "../chart";
import { empty, h, pairs, size, svg, text, time } from "../dom";
import { followSelection } from "../inspect";
import { column, howFar, numbers, shapeText, spanId } from "../packed";
import type { Run } from "../run";
import { table, type TableHandle } from "../table";
import { bytes, count, duration, ms, shape, show, shown } from "../text";
import type { Context, Found, Mounted, View } from "../view";

const HIGH = 260;
const NO_CATEGORY = "not said";

interface Points {
  time: Float64Array; /* from the first one, in nanoseconds */
  origin: bigint;
  live: Float64Array;
  categories: string[]; /* most at the peak first */
  bytes: Float64Array[]; /* by category, by point */
  peak: number; /* the highest point */
}

function pointsOf(from: Table): Points {
  const times = whole(from, "timestamp_ns");
  const live = whole(from, "live_bytes").numbers();
  const rough = times.numbers();
  const names = [...from.columns.keys()].filter((name) => name !== "timestamp_ns" && name !== "live_bytes");
  const columns = names.map((name) => whole(from, name).numbers().map((amount) => (Number.isNaN(amount) ? 0 : amount)));
  const rest = new Float64Array(from.rows);
  let first = 0;
  let peak = 0;
  let hasRest = false;
  for (let row = 0; row < from.rows; row++) {
    let sum = 0;
    for (const column of columns) sum += column[row];
    rest[row] = Math.max(0, live[row] - sum);
    hasRest ||= rest[row] > 0;
    if (live[row] > live[peak]) peak = row;
    if (rough[row] < rough[first]) first = row;
  }
  if (hasRest) {
    names.push(NO_CATEGORY);
    columns.push(rest);
  }
  const origin = times.exact(first) ?? 0n;
  const order = names.map((_, i) => i).sort((x, y) => columns[y][peak] - columns[x][peak] || (names[x] < names[y] ? -1 : 1));
  return { time: times.relative(origin), origin, live, categories: order.map((i) => names[i]), bytes: order.map((i) => columns[i]), peak };
}

/* One column of the screen shows its highest moment; the level it leaves holds until the next event. */
function columnsOf(points: Points, from: number, to: number, width: number): { at: number; top: number; last: number }[] {
  const out: { at: number; top: number; last: number }[] = [];
  const scale = width / Math.max(1, to - from);
  for (let row = 0; row < points.time.length; row++) {
    const at = Math.round((points.time[row] - from) * scale);
    const column = out[out.length - 1];
    if (column && column.at === at) {
      if (points.live[row] > points.live[column.top]) column.top = row;
      column.last = row;
    } else {
      out.push({ at, top: row, last: row });
    }
  }
  return out;
}

function bandPath(columns: ReturnType<typeof columnsOf>, base: (row: number) => number, top: (row: number) => number,
  left: number, right: number): string {
  const upper: string[] = [];
  const lower: string[] = [];
  columns.forEach((column, i) => {
    const x = left + column.at;
    const next = i + 1 < columns.length ? left + columns[i + 1].at : right;
    const walk = column.top === column.last ? [[x, next, column.last]] : [[x, x + 0.5, column.top], [x + 0.5, next, column.last]];
    for (const [a, b, row] of walk) {
      upper.push(`${a} ${top(row).toFixed(1)}`, `${b} ${top(row).toFixed(1)}`);
      lower.push(`${a} ${base(row).toFixed(1)}`, `${b} ${base(row).toFixed(1)}`);
    }
  });
  return `M${upper.join("L")}L${lower.reverse().join("L")}Z`;
}

interface Chart {
  element: HTMLElement;
  picture(): SVGElement | null;
  choose(row: number, isQuiet?: boolean): void;
  keys: [string, string][];
}

function drawChart(points: Points, onChoose: (row: number) => void): Chart {
  const box = h("div", { class: "chart-box" });
  const marker = h("div", { class: "marker", "aria-hidden": "true" });
  const slider = h("div", { class: "plot", role: "slider", tabindex: "0", "aria-label": "Moment of the time line",
    "aria-valuemin": 0, "aria-valuemax": points.time.length - 1, "aria-valuenow": points.peak }, box, marker);
  const end = points.time[points.time.length - 1];
  let at = points.peak;
  let drawn: SVGElement | null = null;
  let place: ((row: number) => number) | null = null;
  let value: ((x: number) => number) | null = null;

  function draw(width: number): void {
    const frame = { left: 74, top: 12, right: width - 12, bottom: HIGH - 26 };
    const x = linear(0, end, frame.left, frame.right, width / 90);
    const y = linear(0, points.live[points.peak] * 1.04, frame.bottom, frame.top, 5, true);
    const columns = columnsOf(points, 0, x.max, frame.right - frame.left);
    const parts: SVGElement[] = [hatches("cg-memory", points.categories.length), ...axes(frame, x, y, duration, bytes)];
    const sums = new Float64Array(points.time.length);
    points.categories.forEach((_, index) => {
      const base = sums.slice();
      for (let row = 0; row < sums.length; row++) sums[row] += points.bytes[index][row];
      const top = sums.slice();
      parts.push(svg("path", {
        d: bandPath(columns, (row) => y.at(base[row]), (row) => y.at(top[row]), frame.left, frame.right),
        fill: `url(#cg-memory-${index})`, stroke: seriesColour(index), "stroke-width": 1,
      }));
    });
    const peakX = x.at(points.time[points.peak]);
    const isRight = peakX > (frame.left + frame.right) / 2;
    parts.push(line(peakX, frame.top, peakX, frame.bottom, "var(--fore)", { "stroke-dasharray": "4 3" }),
      label(peakX + (isRight ? -5 : 5), frame.top + 10, `peak ${bytes(points.live[points.peak])}`, isRight ? "end" : "start"));
    drawn = picture(`Live bytes of logical storage by category over ${duration(end)} of the host clock, in steps; ` +
      `highest ${bytes(points.live[points.peak])}`, width, HIGH, ...parts);
    box.replaceChildren(drawn);
    place = (row) => x.at(points.time[row]);
    value = (px) => x.value(px);
    mark();
  }

  function mark(): void {
    if (place === null) return;
    marker.style.setProperty("left", `${place(at)}px`);
    slider.setAttribute("aria-valuenow", String(at));
    slider.setAttribute("aria-valuetext", `${duration(points.time[at])}: ${bytes(points.live[at])} live`);
  }

  /* The last point at or before a time. */
  function rowAt(ns: number): number {
    let low = 0;
    let high = points.time.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (points.time[middle] <= ns) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  function choose(row: number, isQuiet = false): void {
    at = Math.max(0, Math.min(points.time.length - 1, row));
    mark();
    if (!isQuiet) onChoose(at);
  }

  slider.addEventListener("pointerdown", (event) => {
    if (value) choose(rowAt(value(event.clientX - slider.getBoundingClientRect().left)));
  });
  slider.addEventListener("pointermove", (event) => {
    if (value && event.buttons === 1) choose(rowAt(value(event.clientX - slider.getBoundingClientRect().left)));
  });
  slider.addEventListener("keydown", (event) => {
    const far = Math.max(1, Math.round(points.time.length / 20));
    const to = new Map([["ArrowRight", at + 1], ["d", at + 1], ["ArrowLeft", at - 1], ["a", at - 1], ["PageDown", at + far],
      ["PageUp", at - far], ["Home", 0], ["End", points.time.length - 1], ["p", points.peak]]).get(event.key);
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    choose(to);
  });
  const swatches = legend(points.categories.map((name, index) => ({
    sign: svg("rect", { width: 16, height: 16, fill: `url(#cg-memory-${index})`, stroke: seriesColour(index) }),
    words: `${show(name, 60)}, ${bytes(points.bytes[index][points.peak])} at the peak`,
  })));
  queueMicrotask(() => onWidth(box, draw));
  return {
    element: h("div", {}, slider, swatches), picture: () => drawn, choose,
    keys: [["\u2190 \u2192, A D", "to the moment before or after, on the chart"], ["Page Up, Page Down", "far back or ahead"], ["P", "to the peak"]],
  };
}

function peakTable(held: Json[], total: number | string, context: Context): TableHandle {
  return table<Json>({
    caption: "Storages live at the peak", rows: held, total, sort: [1, "down"],
    filter: (row) => `${row.op_name ?? ""} ${row.category ?? ""} ${row.device} ${row.dtype ?? ""} ${row.tensor_ids.join(" ")}`,
    open: (row) => context.select(row.allocation_span_id),
    isSelected: (row) => context.selected !== null && row.allocation_span_id === context.selected,
    columns: [
      { title: "Operation", cell: (row) => text(row.op_name), key: (row) => row.op_name ?? "" },
      { title: "Size", cell: (row) => size(row.bytes), number: true, key: (row) => Number(row.bytes), plain: (row) => String(row.bytes) },
      { title: "Shape", cell: (row) => shape(row.shape) },
      { title: "Type", cell: (row) => row.dtype, key: (row) => row.dtype ?? "" },
      { title: "Category", cell: (row) => row.category ?? "\u2014", key: (row) => row.category ?? "" },
      { title: "Device", cell: (row) => text(row.device), key: (row) => row.device },
      { title: "Tensors", cell: (row) => text(row.tensor_ids.map((id: string) => show(id, 60)).join(", "), 200) },
    ],
  });
}

function livesTable(run: Run, lives: Table, context: Context): TableHandle {
  const [start, end, amount, span] = ["start_ns", "end_ns", "bytes", "span"].map((name) => whole(lives, name));
  const [op, category, device, tensor, dtype, axes] = ["op_name", "category", "device", "tensor_id", "dtype", "shape"].map((name) => column(lives, name));
  const word = (of: Column) => (row: number): string => of.text(row) ?? "";
  return table<number>({
    caption: "Storages and their lives", rows: numbers(lives.rows), sort: [1, "down"],
    filter: (row) => `${word(op)(row)} ${word(category)(row)} ${word(device)(row)} ${word(dtype)(row)} ${word(tensor)(row)}`,
    open: (row) => context.select(spanId(run, span.number(row))),
    isSelected: (row) => context.selected !== null && spanId(run, span.number(row)) === context.selected,
    columns: [
      { title: "Operation", cell: (row) => text(op.text(row)), key: word(op) },
      { title: "Size", cell: (row) => size(amount.exact(row)), number: true, key: (row) => amount.number(row), plain: (row) => amount.text(row) ?? "" },
      { title: "From", cell: (row) => time(start.exact(row)), number: true, key: (row) => start.number(row), plain: (row) => start.text(row) ?? "" },
      { title: "Until", cell: (row) => (end.has(row) ? time(end.exact(row)) : "stays"), number: true, key: (row) => end.number(row), plain: (row) => end.text(row) ?? "" },
      { title: "Shape", cell: (row) => shapeText(axes.text(row)) },
      { title: "Type", cell: (row) => dtype.text(row), key: word(dtype) },
      { title: "Category", cell: (row) => category.text(row) ?? "\u2014", key: word(category) },
      { title: "Device", cell: (row) => text(device.text(row)), key: word(device) },
      { title: "Tensor", cell: (row) => text(tensor.text(row), 80), key: word(tensor) },
    ],
  });
}

function drawLogical(root: HTMLElement, run: Run, context: Context): Mounted {
  const logical = run.payload.views.memory.logical;
  root.append(h("h2", {}, "Logical storage"));
  if (!logical) {
    root.append(empty("No storage events were recorded: logical memory is unknown, not zero."));
    return {};
  }
  const timeline = run.tables.get("memory_timeline");
  const peak = logical.peak;
  root.append(pairs([
    ["Logical peak", peak ? size(peak.live_bytes) : null], ["at", peak ? time(peak.timestamp_ns) : null],
    ["Allocations", count(logical.storage_allocation_count)], ["Matched frees", count(logical.matched_storage_free_count)],
    ["Allocated in all", size(logical.total_allocated_bytes)],
  ]));
  const tables: TableHandle[] = [];
  const mounted: Mounted = {};
  if (timeline && timeline.rows > 0) {
    const points = pointsOf(timeline);
    const readout = h("div", { class: "readout", "aria-live": "polite" });
    const chart = drawChart(points, (row) => {
      context.route.set({ at: String(row) }, true);
      read(row);
    });
    const read = (row: number): void => readout.replaceChildren(h("p", {}, `At ${ms(column(timeline, "timestamp_ns").exact(row))} of the host clock: `,
      size(points.live[row]), " live", row === points.peak ? " (the peak)" : ""), h("ul", {}, ...points.categories
      .map((name, index) => [name, points.bytes[index][row]] as const).filter(([, amount]) => amount > 0)
      .map(([name, amount]) => h("li", {}, text(name, 60), ": ", size(amount)))));
    const go = (): void => {
      const named = context.route.get("at");
      const row = named !== null && /^\d+$/.test(named) && Number(named) < points.time.length ? Number(named) : points.peak;
      chart.choose(row, true);
      read(row);
    };
    root.append(h("p", { class: "soft" }, `Live bytes by category over the host clock, ${count(timeline.rows)} moments; a column of the picture shows its highest.`), chart.element, readout);
    go();
    Object.assign(mounted, {
      route: go, keys: chart.keys,
      picture: () => pictureText(chart.picture()),
    });
  }
  if (peak) {
    const held: Json[] = peak.live_allocations;
    const made = peakTable(held, run.whole("views.memory.logical.peak.live_allocations", held), context);
    tables.push(made);
    root.append(h("h2", {}, "At the peak"), made.element);
  }
  const lives = run.tables.get("lifetimes");
  if (lives && lives.rows > 0) {
    const made = livesTable(run, lives, context);
    const end = whole(lives, "end_ns");
    const amount = whole(lives, "bytes");
    let kept = 0;
    let keptBytes = 0n;
    for (let row = 0; row < lives.rows; row++)
      if (!end.has(row)) {
        kept++;
        keptBytes += amount.exact(row) ?? 0n;
      }
    tables.push(made);
    root.append(h("h2", {}, "Every storage"), h("p", {}, kept === 0 ? "Everything was freed again."
      : `${count(kept)} of them stay: ${bytes(keptBytes)} were not freed while it was recorded.`), made.element);
  }
  root.append(h("h2", {}, "Devices"), table<Json>({
    caption: "Logical storage by device", rows: logical.by_device,
    columns: [
      { title: "Device", cell: (row) => text(row.device) },
      { title: "Allocations", cell: (row) => count(row.storage_allocation_count), number: true, key: (row) => Number(row.storage_allocation_count) },
      { title: "Matched frees", cell: (row) => count(row.matched_storage_free_count), number: true },
      { title: "Allocated in all", cell: (row) => size(row.total_allocated_bytes), number: true },
      { title: "Peak", cell: (row) => size(row.peak_live_bytes), number: true },
      { title: "Peak at", cell: (row) => time(row.peak_timestamp_ns), number: true },
    ],
  }).element);
  const refresh = (): void => tables.forEach((made) => made.refresh());
  if (run.nodes) followSelection(run, run.nodes, context, "memory", refresh);
  else context.onSelect(refresh);
  mounted.search = (query): Found => {
    const word = query.toLowerCase();
    const found: Found = { total: 0, hits: [] };
    if (!lives) return found;
    const [op, category, tensor, amount, span] = ["op_name", "category", "tensor_id", "bytes", "span"].map((name) => column(lives, name));
    for (let row = 0; row < lives.rows; row++) {
      const where = `${op.text(row) ?? ""} ${category.text(row) ?? ""} ${tensor.text(row) ?? ""}`;
      if (!where.toLowerCase().includes(word)) continue;
      if (found.total++ < 50)
        found.hits.push({ label: op.text(row) ?? tensor.text(row) ?? "storage", detail: `${bytes(amount.exact(row))} ${category.text(row) ?? ""}`,
          go: () => context.select(spanId(run, span.number(row))) });
    }
    return found;
  };
  return mounted;
}

const PLANES: [string, string][] = [["used_bytes", "used"], ["reserved_bytes", "reserved"], ["free_bytes", "free"], ["capacity_bytes", "capacity"]];

const DOTS = 2000;

/* What a device said of its own memory, one picture for each: dots, because nobody knows what was between. */
function drawSamples(device: string, samples: Table, rows: number[]): HTMLElement {
  const box = h("div", { class: "chart-box" });
  const planes = PLANES.map(([key, words], index) => ({ values: whole(samples, key), words, index }))
    .filter(({ values }) => rows.some((row) => values.has(row)));
  const times = whole(samples, "timestamp_ns");
  const rough = times.numbers();
  const first = rows.reduce((least, row) => (rough[row] < rough[least] ? row : least), rows[0]);
  const at = times.relative(times.exact(first) ?? 0n);
  const last = rows.reduce((most, row) => Math.max(most, at[row]), 0);
  const top = rows.reduce((most, row) => planes.reduce((high, { values }) => Math.max(high, values.has(row) ? values.number(row) : 0), most), 0);
  const step = Math.max(1, Math.ceil(rows.length / DOTS));
  queueMicrotask(() => onWidth(box, (width) => {
    const frame = { left: 74, top: 10, right: width - 14, bottom: 134 };
    const x = linear(0, last > 0 ? last : 1000, frame.left, frame.right, width / 90);
    const y = linear(0, top * 1.06, frame.bottom, frame.top, 3, true);
    const dots: SVGElement[] = [];
    for (const { values, index } of planes)
      for (let i = 0; i < rows.length; i += step)
        if (values.has(rows[i])) dots.push(dot(index, x.at(at[rows[i]]), y.at(values.number(rows[i])), 3.5, seriesColour(index)));
    box.replaceChildren(picture(`Samples of the memory of ${show(device, 60)}: ${planes.map(({ words }) => words).join(", ")}; at most ${bytes(top)}`,
      width, 160, ...axes(frame, x, y, duration, bytes), ...dots));
  }));
  return h("div", {}, h("h3", {}, text(device)),
    step > 1 ? h("p", { class: "soft" }, `Samples drawn: ${shown(Math.ceil(rows.length / step), rows.length)}, evenly chosen.`) : null,
    box, legend(planes.map(({ words, index }) => ({ sign: dot(index, 8, 8, 4.5, seriesColour(index)), words }))));
}

function drawPhysical(root: HTMLElement, run: Run): void {
  const physical = run.payload.views.memory.physical;
  const samples = run.tables.get("samples");
  root.append(h("h2", {}, "Physical memory"));
  if (!physical || !samples || samples.rows === 0) {
    root.append(empty("No samples of physical memory were recorded: it is unknown, not zero."));
    return;
  }
  root.append(h("p", { class: "soft" }, "What devices reported of their own memory, other programs included. It is another plane than " +
    `logical storage and never added to it. ${count(samples.rows)} samples.`));
  const device = column(samples, "device");
  const groups = new Map<string, number[]>();
  for (let row = 0; row < samples.rows; row++) {
    const name = device.text(row) ?? "";
    const rows = groups.get(name);
    if (rows) rows.push(row);
    else groups.set(name, [row]);
  }
  let drawn = 0;
  for (const [name, rows] of groups) if (drawn++ < 8) root.append(drawSamples(name, samples, rows));
  if (groups.size > 8) root.append(h("p", { class: "soft" }, `Pictures of devices: ${shown(8, groups.size)}.`));
  root.append(table<Json>({
    caption: "Physical memory by device", rows: physical.by_device,
    columns: [
      { title: "Device", cell: (row) => text(row.device) },
      { title: "Samples", cell: (row) => count(row.sample_count), number: true },
      { title: "Most used", cell: (row) => size(row.peak_used_bytes), number: true },
      { title: "Most reserved", cell: (row) => size(row.peak_reserved_bytes), number: true },
      { title: "Least free", cell: (row) => size(row.minimum_free_bytes), number: true },
      { title: "Capacity", cell: (row) => size(row.maximum_observed_capacity_bytes), number: true },
    ],
  }).element);
}

const view: View = {
  id: "memory",
  label: "Memory",
  order: 50,
  available: (doc: Doc) => doc.run !== null,
  mount(root, context) {
    const run = context.doc.run as Run;
    const worth = howFar(run);
    if (worth) root.append(worth);
    const mounted = drawLogical(root, run, context);
    drawPhysical(root, run);
    return mounted;
  },
};
export default view;
