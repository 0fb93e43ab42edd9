/*
 * Tensors and gradients: where the first value that is not finite was made, what was recorded of
 * every label, which parameters got a gradient, by family, and the tensors themselves.
 */
import type { Json } from "../data";
import type { Doc } from "../doc";
import { button, empty, h, size, status, text, time } from "../dom";
import { axes, dot, label as words, legend, line, logarithmic, onWidth, picture, picturePng, pictureText } from "../chart";
import type { Run } from "../run";
import { table, type TableHandle } from "../table";
import { count, known, shape, show, shown } from "../text";
import type { Context, Found, Mounted, View } from "../view";

const DOTS = 400;

export function figures(value: unknown): string {
  const number = Number(value);
  return !known(value) ? "\u2014" : Number.isInteger(number) && Math.abs(number) < 1e6 ? String(number) : number.toPrecision(4);
}

function nonFinite(row: Json): HTMLElement {
  return BigInt(row.non_finite) > 0n ? h("span", { class: "bad" }, `\u2717 ${count(row.non_finite)}`) : h("span", {}, "0");
}

function placeLink(context: Context, words: string, id: string): HTMLElement {
  return button(show(words === "" ? id : words, 120), () => context.select(id), { class: "link data" });
}

/* ---- where it was made ---- */

function drawProducer(context: Context, row: Json): HTMLElement {
  return h("p", {}, text(row.label, 200), ": ", count(row.non_finite), " of ", count(row.elements), " elements not finite, made by ",
    known(row.operation) && row.operation !== "" ? h("strong", {}, text(row.operation)) : "a parameter that was so from the start", " in ",
    placeLink(context, row.span, row.span_id),
    row.finite_inputs.length > 0 ? `; its inputs were finite: ${row.finite_inputs.map((name: string) => show(name, 80)).join(", ")}` : "");
}

function drawOrigin(root: HTMLElement, context: Context, run: Run): void {
  const answers = context.doc.islands.get("cg-answers");
  const origin = answers?.nan_origin;
  const totals = answers?.nan_totals;
  root.append(h("h2", {}, "Where it stopped being finite"));
  if (!origin) {
    root.append(empty(run.payload.summary.structurally_valid ? "This page holds no answer to that question; `candle-graph query --kind nan-origin` gives one."
      : "The records contradict each other, so the order of values cannot be told. See Overview."));
    return;
  }
  if (Number(origin.non_finite_labels) === 0) {
    const stats: Json[] = run.payload.views.evidence.tensor_stats;
    root.append(stats.length === 0 ? empty("No statistics were recorded: whether values were finite is unknown.")
      : h("p", {}, status("ok"), " Every value that was recorded is finite."));
    return;
  }
  if (origin.origin) root.append(h("p", { class: "lead" }, h("span", { class: "badge bad" }, "\u2717 Origin: "), drawProducer(context, origin.origin)));
  else
    root.append(h("p", { class: "lead" }, h("span", { class: "badge warn" }, "! Cannot tell. "), "The earliest label that is not finite is ",
      origin.earliest_non_finite ? text(origin.earliest_non_finite.label, 200) : "unknown",
      ", and statistics of some of its inputs were not recorded", origin.unrecorded_inputs.length > 0
        ? `: ${origin.unrecorded_inputs.slice(0, 20).map((name: string) => show(name, 80)).join(", ")} (${shown(Math.min(20, origin.unrecorded_inputs.length), totals.unrecorded_inputs)}).` : "."));
  if (origin.other_producers.length > 0)
    root.append(h("h3", {}, "Other operations that made some"), ...origin.other_producers.slice(0, 20).map((row: Json) => drawProducer(context, row)),
      h("p", { class: "soft" }, `Operations: ${shown(Math.min(20, origin.other_producers.length), totals.other_producers)}.`));
  if (origin.propagators.length > 0)
    root.append(table<Json>({
      caption: "Labels that only passed it on", rows: origin.propagators, total: totals.propagators,
      columns: [
        { title: "Label", cell: (row) => text(row.label, 200) },
        { title: "Span", cell: (row) => text(row.span) },
        { title: "Not finite", cell: nonFinite, number: true },
      ],
    }).element);
}

/* ---- statistics ---- */

function drawDots(rows: Json[], context: Context): { element: HTMLElement; picture(): SVGElement | null } {
  const kept = rows.slice(0, DOTS);
  const box = h("div", { class: "chart-box" });
  let drawn: SVGElement | null = null;
  queueMicrotask(() => onWidth(box, (width) => {
    const left = Math.min(220, Math.max(110, width * 0.28));
    const high = 18 * kept.length + 34;
    const frame = { left, top: 6, right: width - 14, bottom: high - 26 };
    const values = kept.flatMap((row) => [Number(row.rms), Number(row.abs_max)]).filter((value) => value > 0 && Number.isFinite(value));
    const x = logarithmic(values.reduce((a, b) => Math.min(a, b), Infinity), values.reduce((a, b) => Math.max(a, b), 0), frame.left, frame.right, width / 80);
    const parts = axes(frame, x, null, (value) => value.toExponential(0).replace("e+", "e"), String);
    for (const tick of x.ticks) parts.push(line(x.at(tick), frame.top, x.at(tick), frame.bottom));
    kept.forEach((row, at) => {
      const y = frame.top + 18 * at + 9;
      const rms = Number(row.rms);
      const most = Number(row.abs_max);
      parts.push(words(left - 8, y + 4, show(row.label, Math.floor(left / 8)), "end"));
      if (rms > 0 && most > 0) parts.push(line(x.at(rms), y, x.at(most), y, "var(--soft)"));
      if (most > 0) parts.push(dot(2, x.at(most), y, 3.5, "var(--c2)"));
      if (rms > 0) parts.push(dot(0, x.at(rms), y, 4, "var(--c1)"));
      if (rms === 0 && most === 0) parts.push(words(frame.left + 4, y + 4, "all zero", "start", { fill: "var(--soft)" }));
      if (BigInt(row.non_finite) > 0n) parts.push(words(frame.right, y + 4, `\u2717 ${count(row.non_finite)} not finite`, "end", { fill: "var(--bad)" }));
    });
    drawn = picture(`Root mean square and largest magnitude of ${kept.length} labels on a logarithmic axis`, width, high, ...parts);
    box.replaceChildren(drawn);
  }));
  void context;
  return {
    element: h("div", {}, h("p", { class: "soft" }, `Magnitudes in the order of recording, axis logarithmic: ${shown(kept.length, rows.length)} rows.`), box,
      legend([{ sign: dot(0, 8, 8, 4.5, "var(--c1)"), words: "root mean square" }, { sign: dot(2, 8, 8, 4.5, "var(--c2)"), words: "largest magnitude" }])),
    picture: () => drawn,
  };
}

function drawStatistics(root: HTMLElement, context: Context, run: Run): { tables: TableHandle[]; picture(): SVGElement | null } {
  const rows: Json[] = run.payload.views.evidence.tensor_stats;
  root.append(h("h2", {}, "Statistics by label"));
  if (rows.length === 0) {
    root.append(empty("No tensor statistics were recorded: magnitudes are unknown."));
    return { tables: [], picture: () => null };
  }
  const dots = drawDots(rows, context);
  const made = table<Json>({
    caption: "Tensor statistics", rows, total: run.whole("views.evidence.tensor_stats", rows),
    filter: (row) => `${row.label} ${row.span_id} ${row.dtype ?? ""}`,
    open: (row) => context.select(row.span_id),
    isSelected: (row) => context.selected !== null && row.span_id === context.selected,
    columns: [
      { title: "Label", cell: (row) => text(row.label, 200), key: (row) => row.label },
      { title: "Not finite", cell: nonFinite, number: true, key: (row) => Number(row.non_finite), plain: (row) => String(row.non_finite) },
      { title: "RMS", cell: (row) => figures(row.rms), number: true, key: (row) => Number(row.rms), plain: (row) => String(row.rms) },
      { title: "Largest", cell: (row) => figures(row.abs_max), number: true, key: (row) => Number(row.abs_max), plain: (row) => String(row.abs_max) },
      { title: "Mean", cell: (row) => figures(row.mean), number: true, key: (row) => Number(row.mean), plain: (row) => String(row.mean) },
      { title: "Elements", cell: (row) => count(row.elements), number: true, key: (row) => Number(row.elements) },
      { title: "Shape", cell: (row) => shape(row.shape) },
      { title: "Type", cell: (row) => row.dtype },
      { title: "Span", cell: (row) => text(row.span_id) },
    ],
  });
  root.append(dots.element, made.element);
  return { tables: [made], picture: dots.picture };
}

/* ---- gradients ---- */

interface Family {
  name: string;
  expectation: string;
  least: number | null;
  keys: number;
  states: Map<string, number>;
  rows: Json[];
}

const STATES = ["present", "zero", "missing", "nonfinite"];
const stateWord = (state: string): string => (state === "nonfinite" || state === "non_finite" ? "not finite" : state);

function stateSign(state: string): HTMLElement {
  const [sign, kind] = state === "present" ? ["\u2713", "good"] : state === "zero" ? ["0", "warn"] : state === "missing" ? ["\u25cb", "bad"] : ["\u2717", "bad"];
  return h("span", { class: `badge ${kind}` }, `${sign} ${stateWord(show(state))}`);
}

/* What the contract promised of every family, and what came. */
function familiesOf(run: Run): { families: Family[]; of: Map<string, string> } {
  const contract = run.payload.views.evidence.provenance.capture_contract?.gradient_contract;
  const found = new Map<string, Family>();
  const of = new Map<string, string>();
  const family = (name: string): Family => {
    let here = found.get(name);
    if (!here) found.set(name, (here = { name, expectation: "not declared", least: null, keys: 0, states: new Map(), rows: [] }));
    return here;
  };
  for (const row of contract?.families ?? []) {
    const here = family(row.family);
    here.expectation = row.expectation;
    here.least = row.min_present ?? null;
  }
  for (const row of contract?.expected ?? []) {
    of.set(`${row.root}\n${row.key}`, row.family);
    family(row.family).keys++;
  }
  for (const row of run.payload.gradients) {
    const here = family(of.get(`${row.root}\n${row.key}`) ?? "(no family)");
    here.states.set(row.state, (here.states.get(row.state) ?? 0) + 1);
    here.rows.push(row);
  }
  return { families: [...found.values()], of };
}

const EXPECTED: Record<string, string> = Object.assign(Object.create(null), {
  active: "must get gradients", inactive: "must get none", data_conditional: "may get gradients, as the data say",
});

function judge(here: Family): HTMLElement {
  const present = here.states.get("present") ?? 0;
  const bad = here.states.get("nonfinite") ?? here.states.get("non_finite") ?? 0;
  if (bad > 0) return h("span", { class: "badge bad" }, `\u2717 ${count(bad)} not finite`);
  if (here.expectation === "inactive") return present === 0 ? h("span", { class: "badge good" }, "\u2713 as promised") : h("span", { class: "badge bad" }, `\u2717 ${count(present)} got one`);
  if (here.expectation === "not declared") return h("span", { class: "badge soft" }, "? nothing promised");
  if (present < (here.least ?? 0)) return h("span", { class: "badge bad" }, `\u2717 fewer than ${count(here.least)}`);
  const silent = here.expectation === "active" ? here.keys - present : 0;
  return silent > 0 ? h("span", { class: "badge warn" }, `! ${count(silent)} without`) : h("span", { class: "badge good" }, "\u2713 as promised");
}

function bar(here: Family): HTMLElement {
  const total = [...here.states.values()].reduce((sum, value) => sum + value, 0);
  return h("span", { class: "stack", "aria-hidden": "true" }, ...[...here.states].sort((a, b) => STATES.indexOf(a[0]) - STATES.indexOf(b[0]))
    .map(([state, amount]) => h("span", { class: `state-${state === "non_finite" ? "nonfinite" : STATES.includes(state) ? state : "other"}`, title: `${stateWord(state)}: ${amount}`,
      style: { width: `${(100 * amount) / total}%` } })));
}

function drawGradients(root: HTMLElement, context: Context, run: Run): TableHandle[] {
  const rows: Json[] = run.payload.gradients;
  const { families, of } = familiesOf(run);
  root.append(h("h2", {}, "Gradients by family"));
  if (rows.length === 0) {
    root.append(empty(run.payload.summary.phase === "train" ? "No gradients are derived from this capture: which parameters learn is unknown."
      : "This is a run of inference: there are no gradients."));
    if (families.length === 0) return [];
  }
  const whole = run.whole("gradients", rows);
  const amount = (here: Family, ...names: string[]): number => names.reduce((sum, name) => sum + (here.states.get(name) ?? 0), 0);
  root.append(table<Family>({
    caption: "Families of the gradient contract", rows: families,
    columns: [
      { title: "Family", cell: (row) => text(row.name, 120), key: (row) => row.name },
      { title: "Promise", cell: (row) => EXPECTED[row.expectation] ?? show(row.expectation) },
      { title: "Verdict", cell: judge },
      { title: "Keys", cell: (row) => count(row.keys), number: true, key: (row) => row.keys },
      { title: "Present", cell: (row) => count(amount(row, "present")), number: true, key: (row) => amount(row, "present") },
      { title: "Zero", cell: (row) => count(amount(row, "zero")), number: true, key: (row) => amount(row, "zero") },
      { title: "Missing", cell: (row) => count(amount(row, "missing")), number: true, key: (row) => amount(row, "missing") },
      { title: "Not finite", cell: (row) => count(amount(row, "nonfinite", "non_finite")), number: true, key: (row) => amount(row, "nonfinite", "non_finite") },
      { title: "Share", cell: bar, plain: () => "" },
    ],
  }).element);
  if (String(whole) !== String(rows.length)) root.append(h("p", { class: "note" }, `Counts are of the gradients in this page: ${shown(rows.length, whole)}.`));
  const made = table<Json>({
    caption: "Gradients by parameter", rows, total: whole,
    filter: (row) => `${row.root} ${row.key} ${stateWord(row.state)} ${of.get(`${row.root}\n${row.key}`) ?? ""}`,
    open: (row) => openModel(context, row),
    columns: [
      { title: "Parameter", cell: (row) => text(row.key, 200), key: (row) => row.key },
      { title: "State", cell: (row) => stateSign(row.state), key: (row) => -STATES.indexOf(row.state) },
      { title: "Norm", cell: (row) => figures(row.norm), number: true, key: (row) => (known(row.norm) ? Number(row.norm) : null), plain: (row) => String(row.norm ?? "") },
      { title: "Family", cell: (row) => text(of.get(`${row.root}\n${row.key}`)), key: (row) => of.get(`${row.root}\n${row.key}`) ?? "" },
      { title: "Root", cell: (row) => text(row.root), key: (row) => row.root },
    ],
  });
  root.append(h("h2", {}, "Gradients by parameter"), made.element);
  return [made];
}

/* On a joint page a parameter of the run leads to that of the source. */
function openModel(context: Context, row: Json): void {
  const match = context.doc.model?.views.structure.parameters.find((parameter: Json) => parameter.key === row.key);
  if (match) context.open("model", { parameter: match.id });
  else context.inspect(row.key, [h("p", {}, stateSign(row.state), known(row.norm) ? ` norm ${figures(row.norm)}` : ""), h("p", { class: "soft" }, "Root: ", text(row.root))]);
}

/* ---- tensors ---- */

function drawTensors(root: HTMLElement, context: Context, run: Run): TableHandle[] {
  const rows: Json[] = run.payload.views.evidence.tensors;
  root.append(h("h2", {}, "Recorded tensors"));
  if (rows.length === 0) {
    root.append(empty("No tensors to show: none were recorded, or there is no derived graph."));
    return [];
  }
  const made = table<Json>({
    caption: "Tensors", rows, total: run.whole("views.evidence.tensors", rows),
    filter: (row) => `${row.label ?? ""} ${row.tensor_id} ${row.category ?? ""} ${row.dtype ?? ""}`,
    open: (row) => context.select(`tensor/${row.tensor_id}`),
    isSelected: (row) => context.selected === `tensor/${row.tensor_id}`,
    columns: [
      { title: "Tensor", cell: (row) => text(known(row.label) && row.label !== "" ? row.label : row.tensor_id, 200), key: (row) => row.label ?? row.tensor_id },
      { title: "Shape", cell: (row) => shape(row.shape) },
      { title: "Type", cell: (row) => row.dtype, key: (row) => row.dtype ?? "" },
      { title: "Bytes", cell: (row) => size(row.dense_bytes), number: true, key: (row) => (known(row.dense_bytes) ? Number(row.dense_bytes) : null) },
      { title: "Device", cell: (row) => text(row.device), key: (row) => row.device ?? "" },
      { title: "Category", cell: (row) => row.category, key: (row) => row.category ?? "" },
      { title: "Span", cell: (row) => text(row.span_id) },
    ],
  });
  root.append(made.element);
  return [made];
}

const view: View = {
  id: "tensors",
  label: "Tensors",
  order: 60,
  available: (doc: Doc) => doc.run !== null,
  mount(root, context): Mounted {
    const run = context.doc.run as Run;
    drawOrigin(root, context, run);
    const statistics = drawStatistics(root, context, run);
    const tables = [...statistics.tables, ...drawGradients(root, context, run), ...drawTensors(root, context, run)];
    context.onSelect(() => tables.forEach((made) => made.refresh()));
    void time;
    const mounted: Mounted = {
      search(query): Found {
        const word = query.toLowerCase();
        const found: Found = { total: 0, hits: [] };
        const add = (name: string, detail: string, go: () => void): void => {
          if (!name.toLowerCase().includes(word)) return;
          if (found.total++ < 50) found.hits.push({ label: name, detail, go });
        };
        for (const row of run.payload.views.evidence.tensor_stats) add(row.label, `RMS ${figures(row.rms)}`, () => context.select(row.span_id));
        for (const row of run.payload.gradients) add(row.key, stateWord(row.state), () => openModel(context, row));
        return found;
      },
    };
    if (run.payload.views.evidence.tensor_stats.length > 0) {
      mounted.svg = () => pictureText(statistics.picture() as SVGElement);
      mounted.png = () => picturePng(statistics.picture() as SVGElement);
    }
    return mounted;
  },
};
export default view;
