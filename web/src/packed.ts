/* packed - rows of the packed tables of a run, by number: what several views need of them. */
import { type Column, type Table, words } from "./data";
import { h } from "./dom";
import type { Run } from "./run";

const NONE: Column = { rows: 0, has: () => false, number: () => NaN, exact: () => null, text: () => null };

/* 0, 1, 2, ... as rows of a table() that reads columns. */
export function numbers(count: number): Uint32Array {
  const out = new Uint32Array(count);
  for (let i = 0; i < count; i++) out[i] = i;
  return out;
}

export function column(from: Table, name: string): Column {
  return from.columns.get(name) ?? NONE;
}

/* The id of the span in row `row` of a column `span`; null: not known. */
export function spanId(run: Run, row: number): string | null {
  if (Number.isNaN(row)) return null;
  if (run.nodes) return run.nodes.id.text(row);
  const spans = run.tables.get("spans");
  return spans ? words(spans, "id").text(row) : null;
}

export function spanName(run: Run, row: number): string | null {
  if (Number.isNaN(row)) return null;
  if (run.nodes) return run.nodes.name.text(row);
  const spans = run.tables.get("spans");
  return spans ? words(spans, "name").text(row) : null;
}

/* A shape, which a column holds as `1,2,3` or as JSON. */
export function shapeText(value: string | null): string {
  return value === null ? "\u2014" : `[${value.replace(/[[\]]/g, "").split(",").join(", ")}]`;
}

/* Before the figures of a capture that is not whole: how far they may be trusted. */
export function howFar(run: Run): HTMLElement | null {
  const word = run.health();
  return word === "complete" ? null : h("p", { class: "note" }, word === "failed"
    ? "The capture failed: these are the records until then, not those of a whole measurement."
    : "The trace of this capture has errors: its records are shown as they are, and nothing may be concluded from them. Overview names the issues.");
}
