/*
 * Timeline: what ran when, as bars. Host time is one chart; every device clock is one of its own, with an
 * axis of its own, because no time of one clock can be told in another.
 */
import { Chart, type Bars } from "../flame";
import { type Table, type Whole, whole } from "../data";
import { button, empty, h, svg, SVG } from "../dom";
import { followSelection, whyNoGraph } from "../inspect";
import { assignLanes } from "../lanes";
import type { Nodes, Run } from "../run";
import { count, duration, show, shown } from "../text";
import type { Context, Found, Mounted, View } from "../view";

const HITS = 50;

function tintOf(name: string): number {
  let hash = 7;
  for (let i = 0; i < name.length; i++) hash = (hash * 31 + name.charCodeAt(i)) | 0;
  return Math.abs(hash ^ (hash >> 15));
}

function hostBars(nodes: Nodes): { bars: Bars; groups: { row: number; label: string }[] } {
  const lanes = assignLanes(nodes.startNs, nodes.totalNs, nodes.parent, nodes.depth);
  return {
    bars: { start: nodes.startNs, length: nodes.totalNs, row: lanes.row, rows: lanes.rows, order: lanes.order },
    groups: lanes.first.map((row, lane) => ({ row, label: lane === 0 ? "host" : `beside it, lane ${lane}` })),
  };
}

interface Clock {
  device: string;
  clock: string;
  origin: bigint;
  bars: Bars;
  rows: number[]; /* by bar: row of the table */
  groups: { row: number; label: string }[];
}

/* One chart for each device and clock; its streams are groups of rows. */
function deviceClocks(table: Table): Clock[] {
  const text = (name: string, row: number) => table.columns.get(name)?.text(row) ?? "";
  const groups = new Map<string, number[]>();
  for (let row = 0; row < table.rows; row++) {
    const key = JSON.stringify([text("device", row), text("clock_id", row)]);
    const rows = groups.get(key);
    if (rows) rows.push(row);
    else groups.set(key, [row]);
  }
  const start: Whole = whole(table, "start_ns");
  const length: Whole = whole(table, "duration_ns");
  return [...groups.keys()].sort().map((key) => {
    const [device, clock] = JSON.parse(key) as [string, string];
    const rows = groups.get(key) as number[];
    let origin = start.exact(rows[0]) as bigint;
    for (const row of rows) {
      const at = start.exact(row) as bigint;
      if (at < origin) origin = at;
    }
    const relative = start.relative(origin);
    const streams = [...new Set(rows.map((row) => text("stream_id", row)))].sort();
    const bars: Bars = { start: Float64Array.from(rows, (row) => relative[row]), length: Float64Array.from(rows, (row) => length.number(row)),
      row: new Int32Array(rows.length).fill(-1), rows: 0 };
    const made: { row: number; label: string }[] = [];
    for (const stream of streams) {
      const mine = rows.map((row, at) => [row, at]).filter(([row]) => text("stream_id", row) === stream).map(([, at]) => at);
      const lanes = assignLanes(Float64Array.from(mine, (at) => bars.start[at]), Float64Array.from(mine, (at) => bars.length[at]),
        new Int32Array(mine.length).fill(-1), new Uint32Array(mine.length));
      mine.forEach((at, i) => (bars.row[at] = lanes.row[i] + bars.rows));
      made.push({ row: bars.rows, label: `stream ${show(stream, 24)}` });
      bars.rows += lanes.rows;
    }
    return { device, clock, origin, bars, rows, groups: made };
  });
}

const FILTERS: [string, number][] = [["all", 0], ["1 \u00b5s", 1e3], ["10 \u00b5s", 1e4], ["100 \u00b5s", 1e5], ["1 ms", 1e6],
  ["10 ms", 1e7], ["100 ms", 1e8], ["1 s", 1e9]];

function mountRun(root: HTMLElement, run: Run, nodes: Nodes, context: Context): Mounted {
  const { route } = context;
  const host = hostBars(nodes);
  const note = h("span", { class: "soft", role: "status" });
  const names = new Map<number, string>(); /* words made once, by row */
  const label = (row: number) => {
    let name = names.get(row);
    if (name === undefined) names.set(row, (name = show(nodes.name.text(row), 80)));
    return name;
  };
  const codes = nodes.name.codes;
  const tintOfCode = new Int32Array(nodes.name.texts.count + 1).fill(-1);
  const tint = (row: number) => {
    const code = codes[row];
    if (tintOfCode[code] < 0) tintOfCode[code] = tintOf(nodes.name.text(row) ?? "") % 1024;
    return tintOfCode[code];
  };
  const tell = (from: number, to: number, isWhole: boolean) =>
    route.set({ from: isWhole ? null : from.toFixed(3), to: isWhole ? null : to.toFixed(3) });
  const chart = new Chart({
    name: "Host time", bars: host.bars, groups: host.groups, label, tint,
    select: (row) => {
      context.select(nodes.id.text(row));
      context.announce(`${label(row)}, total ${duration(nodes.totalNs[row])}, self ${duration(nodes.selfNs[row])}`);
    },
    moved: (from, to) => tell(from, to, from <= 0 && to >= chart.whole),
    colour: context.colour, announce: context.announce,
  });
  const charts = [chart];
  const least = h("select", { "aria-label": "Shortest duration that is shown" },
    ...FILTERS.filter(([, ns]) => ns === 0 || ns < chart.whole).map(([words, ns]) => h("option", { value: ns }, words)));
  least.addEventListener("change", () => {
    route.set({ min: least.value === "0" ? null : least.value });
    filter();
  });

  function filter(): void {
    for (const each of charts) each.filter(Number(least.value));
    note.textContent = `${shown(chart.shown, chart.count)} bars` + (host.groups.length > 1
      ? `; ${host.groups.length} lanes: the trace names no threads, what overlaps stands beside` : "");
  }

  root.append(
    h("div", { class: "tools" },
      button("Zoom in", () => chart.zoom(0.5)), button("Zoom out", () => chart.zoom(2)),
      button("Whole run", () => { chart.look(0, chart.whole); tell(0, 0, true); }),
      button("To selection", () => { const row = nodes.find(context.selected ?? ""); if (row >= 0 && host.bars.row[row] >= 0) chart.fit(row); }),
      h("label", {}, "At least ", least), note),
    h("h2", {}, "Host time"), chart.element);

  const intervals = run.tables.get("intervals");
  const clocks = intervals ? deviceClocks(intervals) : [];
  root.append(h("h2", {}, "Device time"));
  if (clocks.length === 0) root.append(empty("No device intervals were recorded: device time is unknown, not zero."));
  else root.append(h("p", { class: "soft" }, "Each clock has an axis of its own: its times cannot be told in host time or in another clock."));
  for (const one of clocks) {
    const spans = whole(intervals as Table, "span");
    const device = new Chart({
      name: `Device ${show(one.device, 40)}, clock ${show(one.clock, 40)}`, bars: one.bars, groups: one.groups,
      label: (bar) => (spans.has(one.rows[bar]) ? label(spans.number(one.rows[bar])) : "no span"),
      tint: (bar) => (spans.has(one.rows[bar]) ? tint(spans.number(one.rows[bar])) : 0),
      select: (bar) => {
        device.select(bar, false);
        if (spans.has(one.rows[bar])) context.select(nodes.id.text(spans.number(one.rows[bar])));
      },
      moved: () => undefined, colour: context.colour, announce: context.announce,
    });
    charts.push(device);
    root.append(h("h3", {}, `${show(one.device, 60)}, clock ${show(one.clock, 60)} `,
      h("span", { class: "soft" }, `from ${one.origin} ns of that clock, ${count(one.rows.length)} intervals`)), device.element);
  }

  function follow(): void {
    const min = route.get("min");
    least.value = min !== null && FILTERS.some(([, ns]) => String(ns) === min) ? min : "0";
    if (least.selectedIndex < 0) least.value = "0";
    filter();
    const from = Number(route.get("from") ?? NaN);
    const to = Number(route.get("to") ?? NaN);
    if (to > from) chart.look(from, to);
  }
  follow();
  context.onTheme(() => charts.forEach((each) => each.redraw()));
  followSelection(run, nodes, context, "timeline", (row) => chart.select(row >= 0 && host.bars.row[row] >= 0 ? row : -1, true));

  function search(query: string): Found {
    const word = query.toLowerCase();
    const matches = new Int8Array(nodes.name.texts.count + 1).fill(-1);
    const marks = new Uint8Array(nodes.rows);
    const found: Found = { total: 0, hits: [] };
    for (let row = 0; row < nodes.rows; row++) {
      const code = codes[row];
      if (matches[code] < 0) matches[code] = (nodes.name.text(row) ?? "").toLowerCase().includes(word) ? 1 : 0;
      if (matches[code] === 0 || host.bars.row[row] < 0) continue;
      marks[row] = 1;
      if (found.total++ < HITS)
        found.hits.push({ label: nodes.name.text(row) ?? "", detail: duration(nodes.totalNs[row]), go: () => context.select(nodes.id.text(row)) });
    }
    chart.mark(word === "" ? null : marks);
    return found;
  }

  return {
    shown: () => charts.forEach((each) => each.redraw()),
    route: follow,
    search,
    keys: [["W S", "zoom in and out"], ["A D", "pan"], ["\u2190 \u2192", "bar before, bar behind; pan when nothing is selected"],
      ["\u2191 \u2193", "bar above, bar below"], ["F", "zoom to the selected bar"], ["0", "the whole run"],
      ["Ctrl+wheel", "zoom at the pointer; Shift+wheel pans"]],
    picture() {
      const pictures = charts.map((each) => each.picture());
      const height = pictures.reduce((sum, each) => sum + each.height + 12, 0);
      const all = svg("svg", { xmlns: SVG, width: pictures[0].width, height, viewBox: `0 0 ${pictures[0].width} ${height}` },
        svg("rect", { width: "100%", height: "100%", fill: context.colour("back") }));
      let y = 0;
      for (const each of pictures) {
        each.element.setAttribute("transform", `translate(0 ${y})`);
        all.append(each.element);
        y += each.height + 12;
      }
      return new XMLSerializer().serializeToString(all);
    },
  };
}

const view: View = {
  id: "timeline",
  label: "Timeline",
  order: 20,
  available: (doc) => doc.run !== null,
  mount(root, context) {
    const run = context.doc.run as Run;
    if (run.nodes === null) {
      root.append(empty(whyNoGraph(run, "timeline")));
      return {};
    }
    return mountRun(root, run, run.nodes, context);
  },
};
export default view;
