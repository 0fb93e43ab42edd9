/*
 * Memory: live bytes of logical storage over time, by category, in steps; what was live at the
 * peak; every storage with its life. Physical samples stand apart: they are of another plane and
 * are never added to the first.
 */
import type { Json } from "../data";
import type { Doc } from "../doc";
import { axes, dot, hatches, label, legend, line, linear, onWidth, picture, picturePng, pictureText, seriesColour } from "../chart";
import { empty, h, pairs, size, svg, text, time } from "../dom";
import type { Run } from "../run";
import { table, type TableColumn, type TableHandle } from "../table";
import { bytes, count, duration, known, ms, shape, show, shown } from "../text";
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

function pointsOf(list: Json[]): Points {
  const names: string[] = [];
  const index = new Map<string, number>();
  let origin = list.length > 0 ? BigInt(list[0].timestamp_ns) : 0n;
  for (const point of list) {
    if (BigInt(point.timestamp_ns) < origin) origin = BigInt(point.timestamp_ns);
    for (const name of Object.keys(point.live_bytes_by_category ?? {}))
      if (!index.has(name)) {
        index.set(name, names.length);
        names.push(name);
      }
  }
  const columns = names.map(() => new Float64Array(list.length));
  const rest = new Float64Array(list.length);
  const live = new Float64Array(list.length);
  const at = new Float64Array(list.length);
  let peak = 0;
  let hasRest = false;
  list.forEach((point, row) => {
    let sum = 0;
    at[row] = Number(BigInt(point.timestamp_ns) - origin);
    live[row] = Number(point.live_bytes);
    if (live[row] > live[peak]) peak = row;
    for (const [name, amount] of Object.entries(point.live_bytes_by_category ?? {})) {
      columns[index.get(name) as number][row] = Number(amount);
      sum += Number(amount);
    }
    rest[row] = Math.max(0, live[row] - sum);
    hasRest ||= rest[row] > 0;
  });
  if (hasRest) {
    names.push(NO_CATEGORY);
    columns.push(rest);
  }
  const order = names.map((_, i) => i).sort((a, b) => columns[b][peak] - columns[a][peak] || (names[a] < names[b] ? -1 : 1));
  return { time: at, origin, live, categories: order.map((i) => names[i]), bytes: order.map((i) => columns[i]), peak };
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

function drawChart(run: Run, points: Points, onChoose: (row: number) => void): Chart {
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
  void run;
  return {
    element: h("div", {}, slider, swatches), picture: () => drawn, choose,
    keys: [["\u2190 \u2192, A D", "to the moment before or after, on the chart"], ["Page Up, Page Down", "far back or ahead"], ["P", "to the peak"]],
  };
}

function storageTable(caption: string, rows: Json[], total: number | string, context: Context, hasLife: boolean): TableHandle {
  const columns: TableColumn<Json>[] = [
    { title: "Operation", cell: (row) => text(row.op_name), key: (row) => row.op_name ?? "" },
    { title: "Size", cell: (row) => size(row.bytes), number: true, key: (row) => Number(row.bytes), plain: (row) => String(row.bytes) },
    { title: "Shape", cell: (row) => shape(row.shape) },
    { title: "Type", cell: (row) => row.dtype, key: (row) => row.dtype ?? "" },
    { title: "Category", cell: (row) => row.category ?? "\u2014", key: (row) => row.category ?? "" },
    { title: "Device", cell: (row) => text(row.device), key: (row) => row.device },
    { title: "Tensors", cell: (row) => text(row.tensor_ids.map((id: string) => show(id, 60)).join(", "), 200) },
  ];
  if (hasLife)
    columns.splice(2, 0, { title: "From", cell: (row) => time(row.start_timestamp_ns), number: true, key: (row) => Number(row.start_timestamp_ns) },
      { title: "Until", cell: (row) => known(row.end_timestamp_ns) ? time(row.end_timestamp_ns) : "stays", number: true,
        key: (row) => known(row.end_timestamp_ns) ? Number(row.end_timestamp_ns) : null });
  return table<Json>({
    caption, rows, total, columns, sort: [1, "down"],
    filter: (row) => `${row.op_name ?? ""} ${row.category ?? ""} ${row.device} ${row.dtype ?? ""} ${row.tensor_ids.join(" ")}`,
    open: (row) => context.select(row.allocation_span_id),
    isSelected: (row) => context.selected !== null && row.allocation_span_id === context.selected,
  });
}

function drawLogical(root: HTMLElement, run: Run, context: Context): Mounted {
  const logical = run.payload.views.memory.logical;
  root.append(h("h2", {}, "Logical storage"));
  if (!logical) {
    root.append(empty("No storage events were recorded: logical memory is unknown, not zero."));
    return {};
  }
  const list: Json[] = logical.timeline;
  const total = run.whole("views.memory.logical.timeline", list);
  const peak = logical.peak;
  root.append(pairs([
    ["Logical peak", peak ? size(peak.live_bytes) : null], ["at", peak ? time(peak.timestamp_ns) : null],
    ["Allocations", count(logical.storage_allocation_count)], ["Matched frees", count(logical.matched_storage_free_count)],
    ["Allocated in all", size(logical.total_allocated_bytes)],
  ]));
  const tables: TableHandle[] = [];
  const mounted: Mounted = {};
  if (list.length > 0) {
    const points = pointsOf(list);
    const readout = h("div", { class: "readout", "aria-live": "polite" });
    const chart = drawChart(run, points, (row) => {
      context.route.set({ at: String(row) }, true);
      read(row);
    });
    const read = (row: number): void => readout.replaceChildren(h("p", {}, `At ${ms(list[row].timestamp_ns)} of the host clock: `,
      size(list[row].live_bytes), " live", row === points.peak ? " (the peak)" : ""), h("ul", {}, ...points.categories
      .map((name, index) => [name, points.bytes[index][row]] as const).filter(([, amount]) => amount > 0)
      .map(([name, amount]) => h("li", {}, text(name, 60), ": ", size(amount)))));
    const go = (): void => {
      const named = context.route.get("at");
      const row = named !== null && /^\d+$/.test(named) && Number(named) < points.time.length ? Number(named) : points.peak;
      chart.choose(row, true);
      read(row);
    };
    root.append(h("p", { class: "soft" }, `Live bytes by category over the host clock; points of the time line: ${shown(list.length, total)}` +
      (String(total) === String(list.length) ? "." : ", the highest ones.")), chart.element, readout);
    go();
    Object.assign(mounted, {
      route: go, keys: chart.keys,
      svg: () => pictureText(chart.picture() as SVGElement), png: () => picturePng(chart.picture() as SVGElement),
    });
  }
  if (peak) {
    const held: Json[] = peak.live_allocations;
    const made = storageTable("Storages live at the peak", held, run.whole("views.memory.logical.peak.live_allocations", held), context, false);
    tables.push(made);
    root.append(h("h2", {}, "At the peak"), made.element);
  }
  const lives: Json[] = logical.lifetimes;
  if (lives.length > 0) {
    const made = storageTable("Storages and their lives", lives, run.whole("views.memory.logical.lifetimes", lives), context, true);
    const kept = lives.filter((row) => !known(row.end_timestamp_ns));
    tables.push(made);
    root.append(h("h2", {}, "Every storage"), h("p", {}, kept.length === 0 ? "Everything was freed again."
      : `${count(kept.length)} of them stay: ${bytes(kept.reduce((sum, row) => sum + Number(row.bytes), 0))} were not freed while it was recorded.`), made.element);
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
  context.onSelect(() => tables.forEach((made) => made.refresh()));
  mounted.search = (query): Found => {
    const word = query.toLowerCase();
    const hits: Found = { total: 0, hits: [] };
    for (const row of lives) {
      const where = `${row.op_name ?? ""} ${row.category ?? ""} ${row.tensor_ids.join(" ")}`;
      if (!where.toLowerCase().includes(word)) continue;
      if (hits.total++ < 50)
        hits.hits.push({ label: row.op_name ?? row.storage_id, detail: `${bytes(row.bytes)} ${row.category ?? ""}`,
          go: () => context.select(row.allocation_span_id) });
    }
    return hits;
  };
  return mounted;
}

const PLANES: [string, string][] = [["used_bytes", "used"], ["reserved_bytes", "reserved"], ["free_bytes", "free"], ["capacity_bytes", "capacity"]];

/* What a device said of its own memory, one picture for each: dots, because nobody knows what was between. */
function drawSamples(device: string, samples: Json[]): HTMLElement {
  const box = h("div", { class: "chart-box" });
  const here = PLANES.map(([key, words], index) => ({ key, words, index })).filter(({ key }) => samples.some((row) => known(row[key])));
  const origin = samples.reduce((least, row) => (BigInt(row.timestamp_ns) < least ? BigInt(row.timestamp_ns) : least), BigInt(samples[0].timestamp_ns));
  const at = samples.map((row) => Number(BigInt(row.timestamp_ns) - origin));
  const most = samples.reduce((top, row) => here.reduce((high, { key }) => Math.max(high, Number(row[key] ?? 0)), top), 0);
  queueMicrotask(() => onWidth(box, (width) => {
    const frame = { left: 74, top: 10, right: width - 14, bottom: 134 };
    const x = linear(0, at.reduce((last, ns) => Math.max(last, ns), 0), frame.left, frame.right, width / 90);
    const y = linear(0, most * 1.06, frame.bottom, frame.top, 3, true);
    const step = Math.max(1, Math.floor(samples.length / 2000));
    const dots: SVGElement[] = [];
    for (const { key, index } of here)
      for (let row = 0; row < samples.length; row += step)
        if (known(samples[row][key])) dots.push(dot(index, x.at(at[row]), y.at(Number(samples[row][key])), 3.5, seriesColour(index)));
    box.replaceChildren(picture(`Samples of the memory of ${show(device, 60)}: ${here.map(({ words }) => words).join(", ")}; at most ${bytes(most)}`,
      width, 160, ...axes(frame, x, y, duration, bytes), ...dots));
  }));
  return h("div", {}, h("h3", {}, text(device)), samples.length > 2000
    ? h("p", { class: "soft" }, `Dots: ${shown(Math.ceil(samples.length / Math.floor(samples.length / 2000)), samples.length)}, evenly chosen.`) : null,
  box, legend(here.map(({ words, index }) => ({ sign: dot(index, 8, 8, 4.5, seriesColour(index)), words }))));
}

function drawPhysical(root: HTMLElement, run: Run): void {
  const physical = run.payload.views.memory.physical;
  root.append(h("h2", {}, "Physical memory"));
  if (!physical || physical.timeline.length === 0) {
    root.append(empty("No samples of physical memory were recorded: it is unknown, not zero."));
    return;
  }
  const samples: Json[] = physical.timeline;
  root.append(h("p", { class: "soft" }, "What devices reported of their own memory, other programs included. It is another plane than " +
    `logical storage and never added to it. Samples: ${shown(samples.length, run.whole("views.memory.physical.timeline", samples))}.`));
  const groups = new Map<string, Json[]>();
  for (const row of samples) {
    const rows = groups.get(row.device);
    if (rows) rows.push(row);
    else groups.set(row.device, [row]);
  }
  let drawn = 0;
  for (const [device, rows] of groups) if (drawn++ < 8) root.append(drawSamples(device, rows));
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
    const mounted = drawLogical(root, run, context);
    drawPhysical(root, run);
    return mounted;
  },
};
export default view;
