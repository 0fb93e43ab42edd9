/*
 * Costs: where time and memory went. The spans as a tree, the most expensive first on every level; all nodes
 * as a table; and names as a table, for what runs many times. Device time has a column per clock and is
 * never added to host time or to that of another clock.
 */
import type { Whole } from "../data";
import { empty, figure, h, size, text, time } from "../dom";
import { followSelection, rowsOfSpan, whyNoGraph } from "../inspect";
import type { Nodes, Run } from "../run";
import { table, type TableColumn, type TableHandle } from "../table";
import { bytes, count, ms, percent, show } from "../text";
import { tree } from "../tree";
import type { Context, Mounted, View } from "../view";

const CLOCKS = 4;

interface DeviceColumn {
  title: string;
  busy(row: number): bigint | null;
}

function deviceColumns(run: Run): { columns: DeviceColumn[]; total: number } {
  const timings = run.tables.get("device_timings");
  if (timings === undefined || timings.rows === 0) return { columns: [], total: 0 };
  const device = (row: number) => timings.columns.get("device")?.text(row) ?? "";
  const clock = (row: number) => timings.columns.get("clock_id")?.text(row) ?? "";
  const keys = new Set<string>();
  for (let row = 0; row < timings.rows; row++) keys.add(JSON.stringify([device(row), clock(row)]));
  return {
    total: keys.size,
    columns: [...keys].sort().slice(0, CLOCKS).map((key) => {
      const [onDevice, onClock] = JSON.parse(key) as [string, string];
      return {
        title: `Busy ${show(onDevice, 16)}/${show(onClock, 16)}`,
        busy(row) {
          const at = rowsOfSpan(timings, row).find((one) => device(one) === onDevice && clock(one) === onClock);
          return at === undefined ? null : (timings.columns.get("busy_ns") as Whole).exact(at);
        },
      };
    }),
  };
}

interface Name {
  name: string;
  kind: string;
  count: number;
  self: number;
  inside: number; /* own time in the measured region */
  total: number;
  allocated: number;
  first: number;
}

/* Own times add up; totals of a name would count what nests twice, so only the outermost ones are added. */
function byName(nodes: Nodes): Name[] {
  const found = new Map<number, Name>();
  const codes = nodes.name.codes;
  const outer = new Uint8Array(nodes.rows);
  for (let row = 0; row < nodes.rows; row++) {
    outer[row] = 1;
    for (let above = nodes.parent[row], steps = 0; above >= 0 && steps < 64; above = nodes.parent[above], steps++)
      if (codes[above] === codes[row]) {
        outer[row] = 0;
        break;
      }
  }
  const allocated = nodes.column("allocated_bytes");
  const measured = nodes.column("in_measured");
  for (let row = 0; row < nodes.rows; row++) {
    if (!nodes.total.has(row)) continue;
    let one = found.get(codes[row]);
    if (one === undefined)
      found.set(codes[row], (one = { name: nodes.name.text(row) ?? "", kind: nodes.kind.text(row) ?? "", count: 0, self: 0, inside: 0, total: 0, allocated: NaN, first: row }));
    one.count++;
    one.self += nodes.selfNs[row];
    if (measured.number(row) === 1) one.inside += nodes.selfNs[row];
    if (outer[row] === 1) {
      one.total += nodes.totalNs[row];
      if (allocated.has(row)) one.allocated = (one.allocated || 0) + allocated.number(row);
    }
  }
  return [...found.values()];
}

function mountRun(root: HTMLElement, run: Run, nodes: Nodes, context: Context): Mounted {
  const measured = Number(run.payload.summary.outer_wall_time_ns ?? NaN);
  const device = deviceColumns(run);
  const allocated = nodes.column("allocated_bytes");
  const peak = nodes.column("peak_live_bytes");
  const dense = nodes.column("dense_bytes");
  const spans: number[] = [];
  for (let row = 0; row < nodes.rows; row++) if (nodes.total.has(row) && nodes.kind.text(row) !== "op") spans.push(row);
  const isSpan = new Uint8Array(nodes.rows);
  for (const row of spans) isSpan[row] = 1;

  const sorted = new Map<number, number[]>();
  const dearest = (rows: number[]) => rows.sort((a, b) => nodes.totalNs[b] - nodes.totalNs[a] || a - b);
  function below(row: number): number[] {
    let rows = sorted.get(row);
    if (rows === undefined) {
      rows = [];
      for (let child = nodes.firstChild[row]; child >= 0; child = nodes.nextSibling[child]) if (isSpan[child]) rows.push(child);
      sorted.set(row, dearest(rows));
    }
    return rows;
  }
  const has = (column: Whole) => { for (let row = 0; row < nodes.rows; row++) if (column.has(row)) return true; return false; };
  const hasMemory = has(allocated) || has(peak);
  const spanTree = tree({
    name: "Spans, the longest first",
    nodes: spans,
    source: {
      roots: dearest(spans.filter((row) => nodes.parent[row] < 0)),
      children: below,
      parent: (row) => nodes.parent[row],
      label: (row) => nodes.name.text(row) ?? "",
    },
    columns: [
      { title: "Total", cell: (row) => time(nodes.total.exact(row)) },
      { title: "Self", cell: (row) => time(nodes.self.exact(row)) },
      { title: "Of measured", cell: (row) => percent(nodes.share(row, measured), 1) },
      ...device.columns.map((one) => ({ title: one.title, cell: (row: number) => time(one.busy(row)) })),
      ...(hasMemory ? [{ title: "Allocated", cell: (row: number) => size(allocated.exact(row)) },
        { title: "Peak live", cell: (row: number) => size(peak.exact(row)) }] : []),
    ],
    select: (row) => context.select(nodes.id.text(row)),
  });
  spanTree.openTo(3);

  const rows = Uint32Array.from({ length: nodes.rows }, (_, row) => row).filter((row) => nodes.total.has(row) || dense.has(row));
  const whole = (title: string, column: Whole, draw: (row: number) => HTMLElement): TableColumn<number> => ({
    title, number: true, cell: draw, key: (row) => column.number(row), plain: (row) => column.text(row) ?? "",
  });
  const all = table<number>({
    caption: "All nodes", rows,
    columns: [
      { title: "Name", cell: (row) => text(nodes.name.text(row), 90), key: (row) => nodes.name.text(row), plain: (row) => nodes.name.text(row) ?? "" },
      { title: "Kind", cell: (row) => nodes.kind.text(row), key: (row) => nodes.kind.text(row) },
      whole("Host self", nodes.self, (row) => time(nodes.self.exact(row))),
      whole("Host total", nodes.total, (row) => time(nodes.total.exact(row))),
      ...device.columns.map((one): TableColumn<number> => ({
        title: one.title, number: true, cell: (row) => time(one.busy(row)), key: (row) => one.busy(row), plain: (row) => String(one.busy(row) ?? ""),
      })),
      whole("Allocated", allocated, (row) => size(allocated.exact(row))),
      whole("Peak live", peak, (row) => size(peak.exact(row))),
      whole("Dense", dense, (row) => size(dense.exact(row))),
      { title: "Shape", cell: (row) => nodes.table.columns.get("shape")?.text(row) ?? null },
    ],
    sort: [3, "down"],
    open: (row) => context.select(nodes.id.text(row)),
    isSelected: (row) => nodes.id.text(row) === context.selected,
    filter: (row) => nodes.name.text(row) ?? "",
  });

  const names = byName(nodes);
  const named = table<Name>({
    caption: "Names", rows: names,
    columns: [
      { title: "Name", cell: (row) => text(row.name, 90), key: (row) => row.name, plain: (row) => row.name },
      { title: "Kind", cell: (row) => row.kind, key: (row) => row.kind },
      { title: "Times", cell: (row) => count(row.count), key: (row) => row.count, number: true, plain: (row) => String(row.count) },
      { title: "Host self", cell: (row) => figure(ms(row.self), row.self, "ns"), key: (row) => row.self, number: true, plain: (row) => String(row.self) },
      { title: "Host total, outermost", cell: (row) => figure(ms(row.total), row.total, "ns"), key: (row) => row.total, number: true, plain: (row) => String(row.total) },
      { title: "Mean total", cell: (row) => ms(row.total / row.count), key: (row) => row.total / row.count, number: true },
      { title: "Self of measured", cell: (row) => percent(row.inside, measured), key: (row) => row.inside, number: true },
      { title: "Allocated", cell: (row) => bytes(Number.isNaN(row.allocated) ? null : row.allocated), key: (row) => row.allocated, number: true },
    ],
    sort: [3, "down"],
    open: (row) => context.select(nodes.id.text(row.first)),
    filter: (row) => row.name,
  });

  const filter = h("input", { type: "search", placeholder: "Filter spans", "aria-label": "Filter the tree of spans" });
  filter.addEventListener("input", () => spanTree.filter(filter.value));
  const forms: [string, string, HTMLElement, TableHandle | null][] = [
    ["tree", "Tree", h("div", {}, h("div", { class: "tools" }, filter), spanTree.element), null],
    ["nodes", "All nodes", all.element, all], ["names", "By name", named.element, named],
  ];
  const choice = h("select", { "aria-label": "Form of the costs" }, ...forms.map(([id, label]) => h("option", { value: id }, label)));
  choice.addEventListener("change", () => {
    context.route.set({ form: choice.value === "tree" ? null : choice.value });
    follow();
  });
  const clocks = device.total > device.columns.length ? h("p", { class: "soft" },
    `Device clocks: shown ${device.columns.length} of ${device.total}; the inspector shows all of a span.`) : null;
  root.append(h("div", { class: "tools" }, h("label", {}, "Show ", choice),
    h("span", { class: "soft" }, device.total === 0 ? "Host times; no device time was recorded." : "Host times; device times are per clock and in none of the sums.")),
  ...(clocks ? [clocks] : []), ...forms.map(([, , element]) => element));

  function follow(): void {
    const wanted = forms.some(([id]) => id === context.route.get("form")) ? (context.route.get("form") as string) : "tree";
    choice.value = wanted;
    for (const [id, , element, handle] of forms) {
      element.hidden = id !== wanted;
      if (id === wanted) handle?.refresh();
    }
  }
  follow();
  followSelection(run, nodes, context, "span_costs", (row) => {
    spanTree.reveal(row >= 0 && isSpan[row] ? row : -1);
    all.refresh();
  });
  return { route: follow, shown: follow };
}

const view: View = {
  id: "span_costs",
  label: "Costs",
  order: 30,
  available: (doc) => doc.run !== null,
  mount(root, context) {
    const run = context.doc.run as Run;
    if (run.nodes === null) {
      root.append(empty(whyNoGraph(run, "tree of costs")));
      return {};
    }
    return mountRun(root, run, run.nodes, context);
  },
};
export default view;
