/*
 * run - one run as the page holds it: the island viewer/5, and its nodes in columns.
 *
 * Nodes are numbered from 0 in the order of the document: spans, then operations, then tensors.
 * The tree over them is given by `parent`, `firstChild` and `nextSibling` (-1: none).
 */
import { type Column, type Json, type Table, Whole, whole, Words, words } from "./data";

/* An operation's id is made of its span's and its number; all others are written down. */
class Ids implements Column {
  constructor(private readonly nodes: Nodes, private readonly written: Words, private readonly numbers: Whole) {}
  get rows(): number {
    return this.written.rows;
  }
  has(row: number): boolean {
    return row >= 0 && row < this.rows;
  }
  number(): number {
    return NaN;
  }
  exact(): bigint | null {
    return null;
  }
  text(row: number): string | null {
    if (!this.has(row)) return null;
    return this.written.text(row) ?? `${this.written.text(this.nodes.parent[row])}/op/${this.numbers.exact(row)}`;
  }
}

export class Nodes {
  readonly rows: number;
  readonly id: Column;
  readonly name: Words;
  readonly kind: Words;
  readonly parent: Int32Array;
  readonly firstChild: Int32Array;
  readonly nextSibling: Int32Array;
  readonly depth: Uint32Array;
  readonly start: Whole;
  readonly total: Whole;
  readonly self: Whole;
  /* The same as doubles, for drawing and sorting: start from `origin`, NaN unknown. */
  readonly startNs: Float64Array;
  readonly totalNs: Float64Array;
  readonly selfNs: Float64Array;
  readonly origin: bigint;
  private index: Map<string, number> | null = null;

  constructor(readonly table: Table) {
    this.rows = table.rows;
    this.id = new Ids(this, words(table, "id"), whole(table, "op_number"));
    this.name = words(table, "name");
    this.kind = words(table, "kind");
    this.start = whole(table, "start_ns");
    this.total = whole(table, "host_total_time_ns");
    this.self = whole(table, "host_self_time_ns");
    this.totalNs = this.total.numbers();
    this.selfNs = this.self.numbers();
    let origin: bigint | null = null;
    const rough = this.start.numbers();
    for (let row = 0, least = Infinity; row < this.rows; row++)
      if (rough[row] <= least) {
        least = rough[row];
        const exact = this.start.exact(row);
        if (exact !== null && (origin === null || exact < origin)) origin = exact;
      }
    this.origin = origin ?? 0n;
    this.startNs = this.start.relative(this.origin);
    const parents = whole(table, "parent");
    this.parent = new Int32Array(this.rows).fill(-1);
    this.firstChild = new Int32Array(this.rows).fill(-1);
    this.nextSibling = new Int32Array(this.rows).fill(-1);
    for (let row = this.rows - 1; row >= 0; row--) {
      if (!parents.has(row)) continue;
      const above = parents.number(row);
      this.parent[row] = above;
      this.nextSibling[row] = this.firstChild[above];
      this.firstChild[above] = row;
    }
    this.depth = this.depths();
  }

  private depths(): Uint32Array {
    const depth = new Uint32Array(this.rows);
    const stack: number[] = [];
    for (let row = 0; row < this.rows; row++) if (this.parent[row] < 0) stack.push(row);
    while (stack.length > 0) {
      const row = stack.pop() as number;
      for (let child = this.firstChild[row]; child >= 0; child = this.nextSibling[child]) {
        depth[child] = depth[row] + 1;
        stack.push(child);
      }
    }
    return depth;
  }

  /* -1 when there is none. */
  find(id: string): number {
    if (this.index === null) {
      this.index = new Map();
      for (let row = 0; row < this.rows; row++) this.index.set(this.id.text(row) ?? "", row);
    }
    return this.index.get(id) ?? -1;
  }
  column(name: string): Whole {
    return whole(this.table, name);
  }
  /* The total as a part of the measured region; NaN outside of it. */
  share(row: number, measured: number): number {
    return this.column("in_measured").number(row) === 1 ? this.totalNs[row] / measured : NaN;
  }
}

export interface Run {
  /* candle-graph/viewer/5; its lists may be cut (whole()) */
  readonly payload: Json;
  /*
   * Packed tables, never cut: nodes, edges, device_timings (with a graph; else spans), intervals,
   * memory_timeline, lifetimes, samples, tensors, tensor_stats, gradients. Columns: src/schema/packed.def
   * and docs/schemas/page.md. `span`, `from` and `to` are rows of nodes.
   */
  readonly tables: Map<string, Table>;
  /* null: the run gave no graph */
  readonly nodes: Nodes | null;
  /* How long a list of the payload is outside of this page; `path` as in docs/schemas/viewer.md. */
  whole(path: string, list: unknown[]): number | string;
  health(): "complete" | "failed" | "invalid";
}

export function runOf(payload: Json, packed: Map<string, Table>): Run {
  const cuts = new Map<string, number | string>();
  for (const cut of payload.bounded?.lists ?? []) cuts.set(cut.list, cut.total);
  const nodes = packed.get("nodes");
  return {
    payload,
    tables: packed,
    nodes: nodes && nodes.rows > 0 ? new Nodes(nodes) : null,
    whole: (path, list) => cuts.get(path) ?? list.length,
    health: () => !payload.summary.structurally_valid ? "invalid" : payload.summary.capture_complete ? "complete" : "failed",
  };
}
