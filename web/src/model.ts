/* model - viewer/1 as the views of the source use it: who belongs to whom, by number and by name. */
import type { Json } from "./data";
import { h } from "./dom";
import { type Num, show } from "./text";

export interface Model {
  readonly data: Json;
  /* How long a list is outside of this page; `path` as in docs/schemas/viewer-model.md. */
  whole(path: string, list: unknown[]): Num;
  /* A name for an id, or the id. */
  named(id: string): string;
}

const made = new WeakMap<object, Model>();

export function modelOf(data: Json): Model {
  const before = made.get(data);
  if (before) return before;
  const cuts = new Map<string, Num>();
  const names = new Map<string, string>();
  for (const cut of data.bounded?.lists ?? []) cuts.set(cut.list, cut.total);
  for (const node of data.views.architecture.nodes) names.set(node.id, node.qualified_name || node.label);
  for (const flow of [data.views.dataflow_train, data.views.dataflow_infer]) {
    for (const row of flow.functions) names.set(row.id, row.label);
    for (const row of flow.nodes) names.set(row.id, row.label);
  }
  for (const row of data.views.structure.parameters) names.set(row.id, row.key);
  const model: Model = { data, whole: (path, list) => cuts.get(path) ?? list.length, named: (id) => names.get(id) ?? id };
  made.set(data, model);
  return model;
}

export function groupBy(rows: Json[], key: string): Map<string, Json[]> {
  const groups = new Map<string, Json[]>();
  for (const row of rows) {
    const here = groups.get(row[key]);
    if (here) here.push(row);
    else groups.set(row[key], [row]);
  }
  return groups;
}

const GRADIENTS: Record<string, [string, string]> = Object.assign(Object.create(null), {
  Trainable: ["\u2713", "good"], Differentiable: ["\u2192", ""], Frozen: ["\u25a1", "soft"], Severed: ["\u2717", "bad"], LayoutDependent: ["!", "warn"], Unknown: ["?", "soft"],
});
export function gradient(word: unknown): HTMLElement {
  const [sign, kind] = GRADIENTS[String(word)] ?? ["?", "soft"];
  return h("span", { class: kind }, `${sign} ${show(word)}`);
}

const SEVERITIES: Record<string, [string, string]> = Object.assign(Object.create(null), {
  error: ["\u2717", "bad"], warning: ["!", "warn"], information: ["i", "soft"],
});
export function severity(word: unknown): HTMLElement {
  const [sign, kind] = SEVERITIES[String(word).toLowerCase()] ?? ["\u2717", "bad"];
  return h("span", { class: `badge ${kind}` }, `${sign} ${show(word)}`);
}

export function placeOf(row: Json): string {
  const at = row.location;
  return at ? `${at.file}:${at.line}:${at.column}` : (row.source ?? "");
}

/* Lines of source with their numbers; the one that matters is marked by a sign, not by colour alone. */
export function excerpt(lines: string[], first: number, marked: number): HTMLElement {
  return h("pre", { class: "source", tabindex: "0", role: "group", "aria-label": `Source, lines ${first} to ${first + lines.length - 1}` }, ...lines.map((line, at) =>
    h("code", { class: first + at === marked ? "here" : undefined }, `${first + at === marked ? "\u25b6" : " "} ${String(first + at).padStart(5)}  ${line === "" ? "" : show(line, 400)}\n`)));
}
export type Excerpts = Map<string, { file: string; first_line: number; lines: string[] }>;

export function excerptsOf(sources: Json | undefined): Excerpts {
  return new Map((sources?.excerpts ?? []).map((row: Json) => [row.id, row]));
}
