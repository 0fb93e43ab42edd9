/* inspect - what is known of one node of the run, for the pane on the right; shared by the views of a run. */
import { type Column, type Json, type Table } from "./data";
import { button, h, pairs, size, text, time } from "./dom";
import type { Nodes, Run } from "./run";
import { count, percent, show } from "./text";
import type { Context } from "./view";

/* Rows of a table by the span they belong to, made once. */
const bySpan = new WeakMap<Table, Map<number, number[]>>();
export function rowsOfSpan(table: Table | undefined, span: number): number[] {
  if (table === undefined) return [];
  let index = bySpan.get(table);
  if (index === undefined) {
    index = new Map();
    const column = table.columns.get("span") as Column;
    for (let row = 0; row < table.rows; row++) {
      if (!column.has(row)) continue;
      const at = column.number(row);
      const rows = index.get(at);
      if (rows === undefined) index.set(at, [row]);
      else rows.push(row);
    }
    bySpan.set(table, index);
  }
  return index.get(span) ?? [];
}

const cell = (table: Table, name: string, row: number) => table.columns.get(name)?.text(row) ?? null;

function link(nodes: Nodes, row: number, context: Context): HTMLElement {
  return h("button", { type: "button", class: "link", on: { click: () => context.select(nodes.id.text(row)) } },
    text(nodes.name.text(row), 80));
}

function children(nodes: Nodes, row: number): number[] {
  const out: number[] = [];
  for (let child = nodes.firstChild[row]; child >= 0; child = nodes.nextSibling[child]) out.push(child);
  return out;
}

function list(title: string, all: unknown[], most: number, line: (at: number) => Node): Node[] {
  if (all.length === 0) return [];
  const here = Math.min(all.length, most);
  return [h("h3", {}, here < all.length ? `${title} (shown ${here} of ${count(all.length)})` : `${title} (${all.length})`),
    h("ul", {}, ...Array.from({ length: here }, (_, at) => h("li", {}, line(at))))];
}

/* What is above, below and beside a node, its times on each clock, its memory, its statistics. */
export function inspectNode(run: Run, nodes: Nodes, row: number, context: Context, here: string): void {
  const figures = nodes.table;
  const measured = Number(run.payload.summary.outer_wall_time_ns ?? NaN);
  const parent = nodes.parent[row];
  const below = children(nodes, row).sort((a, b) => (nodes.totalNs[b] || 0) - (nodes.totalNs[a] || 0));
  const facts: [string, unknown][] = [["Kind", nodes.kind.text(row)], ["Id", nodes.id.text(row)]];
  if (nodes.total.has(row))
    facts.push(["Host total", h("span", {}, time(nodes.total.exact(row)), Number.isNaN(nodes.share(row, measured)) ? " (outside of the measured region)" : ` (${percent(nodes.share(row, measured), 1)} of the measured region)`)],
      ["Host self", time(nodes.self.exact(row))],
      ["Starts at", time(nodes.startNs[row])]);
  for (const at of rowsOfSpan(run.tables.get("device_timings"), row)) {
    const table = run.tables.get("device_timings") as Table;
    facts.push([`Busy on ${show(cell(table, "device", at), 30)}, clock ${show(cell(table, "clock_id", at), 30)}`,
      time(table.columns.get("busy_ns")?.exact(at))]);
  }
  for (const [title, name] of [["Allocated", "allocated_bytes"], ["Peak live", "peak_live_bytes"],
    ["Peak live, netted", "peak_live_bytes_net"], ["Residual", "residual_bytes"], ["Dense footprint", "dense_bytes"]]) {
    const column = figures.columns.get(name);
    if (column?.has(row)) facts.push([title, size(column.exact(row))]);
  }
  for (const name of ["shape", "dtype", "device"]) {
    const value = cell(figures, name, row);
    if (value !== null) facts.push([name === "dtype" ? "Type" : name === "shape" ? "Shape" : "Device", value]);
  }
  const stats = rowsOfSpan(run.tables.get("tensor_stats"), row);
  const peak: Json[] = (run.payload.views.memory?.logical?.peak?.live_allocations ?? [])
    .filter((one: Json) => one.span_id === nodes.id.text(row));
  const views: [string, string][] = [["timeline", "Timeline"], ["span_costs", "Costs"], ["trace", "Graph"]];
  context.inspect(nodes.name.text(row) ?? "", [
    pairs(facts),
    h("div", { class: "tools" }, ...views.filter(([id]) => id !== here)
      .map(([id, label]) => button(`Show in ${label}`, () => context.open(id)))),
    ...(parent >= 0 ? [h("h3", {}, "Inside of"), h("p", {}, link(nodes, parent, context))] : []),
    ...list("Contains, the longest first", below, 12, (at) => h("span", {}, link(nodes, below[at], context), " ",
      nodes.total.has(below[at]) ? time(nodes.total.exact(below[at])) : "")),
    ...list("Live at the peak", peak, 12, (at) => h("span", {}, text(peak[at].storage_id, 60), " ", size(peak[at].bytes))),
    ...list("Statistics", stats, 12, (at) => {
      const table = run.tables.get("tensor_stats") as Table;
      const bad = cell(table, "non_finite", stats[at]);
      return h("span", {}, text(cell(table, "label", stats[at]), 60), bad === "0" ? "" : ` \u2717 ${bad} not finite`);
    }),
  ]);
}

/* Follow the selection: `found` gets the node's row, -1 for none of this run. */
export function followSelection(run: Run, nodes: Nodes, context: Context, here: string, found: (row: number) => void): void {
  const tell = (id: string | null, isOpen: boolean) => {
    const row = id === null ? -1 : nodes.find(id);
    if (isOpen) {
      if (row >= 0) inspectNode(run, nodes, row, context, here);
      else context.inspect("", null);
    }
    found(row);
  };
  context.onSelect((id) => tell(id, location.hash.slice(1).split("?")[0] === here));
  tell(context.selected, context.selected !== null);
}

/* Why there is nothing to draw. */
export function whyNoGraph(run: Run, what: string): string {
  const word = run.health();
  return word === "failed"
    ? `There is no ${what}: the capture failed before its measurement ended, and no times are derived from a part of it. Overview tells the reason.`
    : word === "invalid" ? `There is no ${what}: the trace of this capture has errors. Overview names them.`
      : `There is no ${what}: this capture holds no graph.`;
}
