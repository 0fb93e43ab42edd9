/*
 * Tensors and gradients: where the first value that is not finite was made, what was recorded of
 * every label, which parameters got a gradient, by family, and the tensors themselves.
 */
import type { Column, Json, Table } from "../data";
import type { Doc } from "../doc";
import { button, empty, h, size, text } from "../dom";
import { axes, dot, ending, label as words, legend, line, logarithmic, onWidth, picture, pictureText } from "../chart";
import { followSelection } from "../inspect";
import { column, howFar, numbers, shapeText, spanId, spanName } from "../packed";
import type { Run } from "../run";
import { table, type TableHandle } from "../table";
import { count, known, show, shown } from "../text";
import type { Context, Found, Mounted, View } from "../view";

const DOTS = 400;

export function figures(value: unknown): string {
  const number = Number(value);
  return !known(value) ? "\u2014" : Number.isInteger(number) && Math.abs(number) < 1e6 ? String(number) : number.toPrecision(4);
}

function nonFinite(amount: string | number | bigint | null): HTMLElement {
  return Number(amount) > 0 ? h("span", { class: "bad" }, `\u2717 ${count(amount)}`) : h("span", {}, amount === null ? "\u2014" : "0");
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
      : "The trace has errors, so the order of values is not relied on. See Overview."));
    return;
  }
  if (Number(origin.non_finite_labels) === 0) {
    root.append((run.tables.get("tensor_stats")?.rows ?? 0) === 0 ? empty("No statistics were recorded: whether values were finite is unknown.")
      : h("p", {}, h("span", { class: "badge good" }, "\u2713 Every value that was recorded is finite.")));
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
        { title: "Not finite", cell: (row) => nonFinite(row.non_finite), number: true },
      ],
    }).element);
}

/* ---- statistics ---- */

function drawDots(stats: Table): { element: HTMLElement; picture(): SVGElement | null } {
  const rows = Math.min(DOTS, stats.rows);
  const box = h("div", { class: "chart-box tall" });
  const [label, bad, rms, most] = ["label", "non_finite", "rms", "abs_max"].map((name) => column(stats, name));
  let drawn: SVGElement | null = null;
  let least = Infinity;
  let highest = 0;
  for (let row = 0; row < rows; row++)
    for (const value of [rms.number(row), most.number(row)])
      if (value > 0) {
        least = Math.min(least, value);
        highest = Math.max(highest, value);
      }
  queueMicrotask(() => onWidth(box, (width) => {
    const left = Math.min(260, Math.max(110, width * 0.28));
    const high = 18 * rows + 34;
    const frame = { left, top: 6, right: width - 14, bottom: high - 26 };
    const x = logarithmic(least, highest, frame.left, frame.right, width / 80);
    const parts = axes(frame, x, null, (value) => value.toExponential(0).replace("e+", "e"), String);
    for (const tick of x.ticks) parts.push(line(x.at(tick), frame.top, x.at(tick), frame.bottom));
    for (let row = 0; row < rows; row++) {
      const y = frame.top + 18 * row + 9;
      const middle = rms.number(row);
      const top = most.number(row);
      parts.push(words(left - 8, y + 4, ending(label.text(row), Math.floor(left / 7.4)), "end"));
      if (middle > 0 && top > 0) parts.push(line(x.at(middle), y, x.at(top), y, "var(--soft)"));
      if (top > 0) parts.push(dot(2, x.at(top), y, 3.5, "var(--c2)"));
      if (middle > 0) parts.push(dot(0, x.at(middle), y, 4, "var(--c1)"));
      if (middle === 0 && top === 0 && bad.number(row) === 0) parts.push(words(frame.left + 4, y + 4, "all zero", "start", { fill: "var(--soft)" }));
      if (bad.number(row) > 0) parts.push(words(frame.right, y + 4, `\u2717 ${count(bad.exact(row))} not finite`, "end", { fill: "var(--bad)" }));
    }
    drawn = picture(`Root mean square and largest magnitude of ${rows} rows on a logarithmic axis`, width, high, ...parts);
    box.replaceChildren(drawn);
  }));
  return {
    element: h("div", {}, h("p", { class: "soft" }, `Magnitudes in the order of recording, axis logarithmic: ${shown(rows, stats.rows)} rows.`), box,
      legend([{ sign: dot(0, 8, 8, 4.5, "var(--c1)"), words: "root mean square" }, { sign: dot(2, 8, 8, 4.5, "var(--c2)"), words: "largest magnitude" }])),
    picture: () => drawn,
  };
}

function drawStatistics(root: HTMLElement, context: Context, run: Run): { tables: TableHandle[]; picture(): SVGElement | null } {
  const stats = run.tables.get("tensor_stats");
  root.append(h("h2", {}, "Statistics by label"));
  if (!stats || stats.rows === 0) {
    root.append(empty("No tensor statistics were recorded: magnitudes are unknown."));
    return { tables: [], picture: () => null };
  }
  const dots = drawDots(stats);
  const [label, span, axes_, dtype, elements, bad, rms, most, mean] =
    ["label", "span", "shape", "dtype", "elements", "non_finite", "rms", "abs_max", "mean"].map((name) => column(stats, name));
  const figure = (title: string, of: Column) => ({
    title, cell: (row: number) => figures(of.text(row)), number: true, key: (row: number) => of.number(row), plain: (row: number) => of.text(row) ?? "",
  });
  const made = table<number>({
    caption: "Tensor statistics", rows: numbers(stats.rows),
    filter: (row) => `${label.text(row) ?? ""} ${spanName(run, span.number(row)) ?? ""} ${dtype.text(row) ?? ""}`,
    open: (row) => context.select(spanId(run, span.number(row))),
    isSelected: (row) => context.selected !== null && spanId(run, span.number(row)) === context.selected,
    columns: [
      { title: "Label", cell: (row) => text(label.text(row), 200), key: (row) => label.text(row) },
      { title: "Not finite", cell: (row) => nonFinite(bad.exact(row)), number: true, key: (row) => bad.number(row), plain: (row) => bad.text(row) ?? "" },
      figure("RMS", rms), figure("Largest", most), figure("Mean", mean),
      { title: "Elements", cell: (row) => count(elements.exact(row)), number: true, key: (row) => elements.number(row), plain: (row) => elements.text(row) ?? "" },
      { title: "Shape", cell: (row) => shapeText(axes_.text(row)) },
      { title: "Type", cell: (row) => dtype.text(row) },
      { title: "Span", cell: (row) => text(spanName(run, span.number(row)), 80) },
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
  rows: Gradient[];
}

const STATES = ["present", "zero", "missing", "nonfinite"];
const stateWord = (state: string): string => (state === "nonfinite" || state === "non_finite" ? "not finite" : state);

function stateSign(state: string, isPromised = false): HTMLElement {
  if (isPromised && (state === "missing" || state === "zero")) return h("span", { class: "badge soft" }, `\u25cb ${state}, as promised`);
  const [sign, kind] = state === "present" ? ["\u2713", "good"] : state === "zero" ? ["0", "warn"] : state === "missing" ? ["\u25cb", "bad"] : ["\u2717", "bad"];
  return h("span", { class: `badge ${kind}` }, `${sign} ${stateWord(show(state))}`);
}

interface Gradient {
  root: string;
  key: string;
  state: string;
  norm: number | null;
}

function gradientsOf(run: Run): Gradient[] {
  const from = run.tables.get("gradients");
  if (!from) return [];
  const [root, key, state, norm] = ["root", "key", "state", "norm"].map((name) => column(from, name));
  return Array.from(numbers(from.rows), (row) => ({
    root: root.text(row) ?? "", key: key.text(row) ?? "", state: state.text(row) ?? "", norm: norm.has(row) ? norm.number(row) : null,
  }));
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
  for (const row of gradientsOf(run)) {
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
    .map(([state, amount]) => h("span", { class: `state-${state === "non_finite" ? "nonfinite" : !STATES.includes(state) || (here.expectation === "inactive" && state === "missing") ? "other" : state}`, title: `${stateWord(state)}: ${amount}`,
      style: { width: `${(100 * amount) / total}%` } })));
}

function drawGradients(root: HTMLElement, context: Context, run: Run): TableHandle[] {
  const rows = gradientsOf(run);
  const { families, of } = familiesOf(run);
  const promised = new Set(families.filter((row) => row.expectation === "inactive").map((row) => row.name));
  root.append(h("h2", {}, "Gradients by family"));
  if (rows.length === 0) {
    root.append(empty(run.payload.summary.phase === "train" ? "No gradients are derived from this capture: which parameters learn is unknown."
      : "This is a run of inference: there are no gradients."));
    if (families.length === 0) return [];
  }
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
  const made = table<Gradient>({
    caption: "Gradients by parameter", rows,
    filter: (row) => `${row.root} ${row.key} ${stateWord(row.state)} ${of.get(`${row.root}\n${row.key}`) ?? ""}`,
    open: (row) => openModel(context, row),
    columns: [
      { title: "Parameter", cell: (row) => text(row.key, 200), key: (row) => row.key },
      { title: "State", cell: (row) => stateSign(row.state, promised.has(of.get(`${row.root}\n${row.key}`) ?? "")), key: (row) => -STATES.indexOf(row.state) },
      { title: "Norm", cell: (row) => figures(row.norm), number: true, key: (row) => (known(row.norm) ? Number(row.norm) : null), plain: (row) => String(row.norm ?? "") },
      { title: "Family", cell: (row) => text(of.get(`${row.root}\n${row.key}`)), key: (row) => of.get(`${row.root}\n${row.key}`) ?? "" },
      { title: "Root", cell: (row) => text(row.root), key: (row) => row.root },
    ],
  });
  root.append(h("h2", {}, "Gradients by parameter"), made.element);
  return [made];
}

/* On a joint page a parameter of the run leads to that of the source. */
function openModel(context: Context, row: Gradient): void {
  const match = context.doc.model?.views.structure.parameters.find((parameter: Json) => parameter.key === row.key);
  if (match) context.open("model", { parameter: match.id });
  else context.inspect(row.key, [h("p", {}, stateSign(row.state), known(row.norm) ? ` norm ${figures(row.norm)}` : ""), h("p", { class: "soft" }, "Root: ", text(row.root))]);
}

/* ---- tensors ---- */

function drawTensors(root: HTMLElement, context: Context, run: Run): TableHandle[] {
  const from = run.tables.get("tensors");
  root.append(h("h2", {}, "Recorded tensors"));
  if (!from || from.rows === 0) {
    root.append(empty("No tensors were recorded."));
    return [];
  }
  const [id, label, span, category, axes_, dtype, device, dense, grad] =
    ["tensor_id", "label", "span", "category", "shape", "dtype", "device", "dense_bytes", "requires_grad"].map((name) => column(from, name));
  const word = (of: Column) => (row: number): string => of.text(row) ?? "";
  const node = (row: number): string => `tensor/${id.text(row) ?? ""}`;
  const made = table<number>({
    caption: "Tensors", rows: numbers(from.rows),
    filter: (row) => [label, id, category, dtype, device].map((of) => of.text(row) ?? "").join(" "),
    open: (row) => context.select(node(row)),
    isSelected: (row) => context.selected === node(row),
    columns: [
      { title: "Tensor", cell: (row) => text(label.text(row) || id.text(row), 200), key: (row) => label.text(row) || id.text(row) },
      { title: "Shape", cell: (row) => shapeText(axes_.text(row)) },
      { title: "Type", cell: (row) => dtype.text(row), key: word(dtype) },
      { title: "Bytes", cell: (row) => size(dense.exact(row)), number: true, key: (row) => dense.number(row), plain: (row) => dense.text(row) ?? "" },
      { title: "Device", cell: (row) => text(device.text(row)), key: word(device) },
      { title: "Category", cell: (row) => category.text(row), key: word(category) },
      { title: "Gradient asked", cell: (row) => (grad.has(row) ? (grad.number(row) === 1 ? "yes" : "no") : "\u2014"), key: (row) => grad.number(row) },
      { title: "Span", cell: (row) => text(spanName(run, span.number(row)), 80) },
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
    const stats = run.tables.get("tensor_stats");
    const worth = howFar(run);
    if (worth) root.append(worth);
    drawOrigin(root, context, run);
    const statistics = drawStatistics(root, context, run);
    const tables = [...statistics.tables, ...drawGradients(root, context, run), ...drawTensors(root, context, run)];
    const refresh = (): void => tables.forEach((made) => made.refresh());
    if (run.nodes) followSelection(run, run.nodes, context, "tensors", refresh);
    else context.onSelect(refresh);
    const mounted: Mounted = {
      search(query): Found {
        const word = query.toLowerCase();
        const found: Found = { total: 0, hits: [] };
        const add = (name: string, detail: string, go: () => void): void => {
          if (!name.toLowerCase().includes(word)) return;
          if (found.total++ < 50) found.hits.push({ label: name, detail, go });
        };
        if (stats)
          for (let row = 0; row < stats.rows; row++)
            add(column(stats, "label").text(row) ?? "", `RMS ${figures(column(stats, "rms").text(row))}`, () => context.select(spanId(run, column(stats, "span").number(row))));
        for (const row of gradientsOf(run)) add(row.key, stateWord(row.state), () => openModel(context, row));
        return found;
      },
    };
    if (stats && stats.rows > 0) {
      mounted.picture = () => pictureText(statistics.picture());
    }
    return mounted;
  },
};
export default view;
