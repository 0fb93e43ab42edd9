/*
 * Series: one quantity over the captures of a training run. Captures stand at their steps; between
 * two captures nobody knows, so the line is only a guide for the eye. What a campaign planned and
 * does not have is listed, never left out silently.
 */
import uPlot from "uplot";
import type { Json } from "../data";
import type { Doc } from "../doc";
import { colour } from "../theme";
import { axes, dot, ending, label, line, linear, logarithmic, picture, pictureText, SERIES, seriesColour } from "../chart";
import { empty, h, pairs, size, svg, text, time } from "../dom";
import { table } from "../table";
import { bytes, count, duration, known, show, shown } from "../text";
import type { Context, Found, Mounted, View } from "../view";
import { figures } from "./tensors";

const LINES = 8;
const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3], [4, 4], [12, 4], [1, 4], [6, 2, 1, 2]];
/* Steps are whole; so are the ticks of their axis. */
const STEPS = Array.from({ length: 15 }, (_, power) => [1, 2, 5].map((first) => first * 10 ** power)).flat();
type Group = [string, Json[]];

interface Quantity {
  id: string;
  name: string;
  groups: Group[];
  value(row: Json): number | null;
  format(value: number): string;
  isLogarithmic: boolean;
}

const positive = (value: unknown): number | null => (known(value) && Number(value) > 0 ? Number(value) : null);
const plain = (value: unknown): number | null => (known(value) ? Number(value) : null);

function quantitiesOf(data: Json): Quantity[] {
  const out: Quantity[] = [];
  const times: Json[] = data.outer_wall_time.filter((row: Json) => known(row.outer_wall_time_ns));
  const stats = Object.entries(data.tensor_stats) as Group[];
  const gradients = (Object.entries(data.gradients) as Group[]).filter(([, rows]) => rows.some((row) => known(row.norm)));
  const kept = Object.entries(data.residual_bytes ?? {}) as Group[];
  if (times.length > 0)
    out.push({ id: "time", name: "Time of the measured region", groups: [["measured region", data.outer_wall_time]], value: (row) => plain(row.outer_wall_time_ns), format: duration, isLogarithmic: false });
  if (stats.length > 0)
    out.push({ id: "rms", name: "RMS of labels", groups: stats, value: (row) => positive(row.rms), format: figures, isLogarithmic: true },
      { id: "mean", name: "Mean of labels", groups: stats, value: (row) => plain(row.mean), format: figures, isLogarithmic: false },
      { id: "largest", name: "Largest magnitude of labels", groups: stats, value: (row) => positive(row.abs_max), format: figures, isLogarithmic: true });
  if (gradients.length > 0)
    out.push({ id: "norm", name: "Norm of gradients", groups: gradients, value: (row) => positive(row.norm), format: figures, isLogarithmic: true });
  if (kept.length > 0)
    out.push({ id: "kept", name: "Bytes kept by spans", groups: kept, value: (row) => plain(row.residual_bytes), format: bytes, isLogarithmic: false });
  return out;
}

/* Largest change first: what moved is what one looks for. */
function movement(quantity: Quantity, rows: Json[]): number {
  const values = rows.map(quantity.value).filter((value): value is number => value !== null);
  if (values.length < 2) return -1;
  const least = values.reduce((a, b) => Math.min(a, b));
  const most = values.reduce((a, b) => Math.max(a, b));
  return quantity.isLogarithmic ? Math.log(most / least) : (most - least) / (Math.abs(most) + Math.abs(least) || 1);
}

const PLAN: Record<string, [string, string]> = Object.assign(Object.create(null), {
  published: ["\u2713", "good"], missing: ["\u25cb", "warn"], failed_run: ["\u2717", "bad"], verification_failed: ["\u2717", "bad"], identity_mismatch: ["\u2717", "bad"],
});

function drawPlan(root: HTMLElement, plan: Json): void {
  root.append(h("h2", {}, "Campaign"), h("p", { class: "lead" }, h("span", { class: `badge ${plan.published === plan.planned ? "good" : "warn"}` },
    `${plan.published === plan.planned ? "\u2713" : "!"} ${count(plan.published)} of ${count(plan.planned)} captures are published`),
  `; ${count(plan.missing)} missing, ${count(plan.failed)} failed.`), pairs([["Campaign", plan.campaign_id], ["Entry point", plan.entrypoint]]), table<Json>({
    caption: "Planned captures", rows: plan.captures,
    columns: [
      { title: "Step", cell: (row) => count(row.capture_step), number: true, key: (row) => Number(row.capture_step) },
      { title: "State", cell: (row) => { const [sign, kind] = PLAN[row.state.state] ?? ["?", "soft"]; return h("span", { class: `badge ${kind}` }, `${sign} ${show(row.state.state).replace(/_/g, " ")}`); }, key: (row) => row.state.state },
      { title: "Why", cell: (row) => text(row.state.message ?? row.state.reason, 400) },
      { title: "Bundle", cell: (row) => text(row.bundle, 200) },
      { title: "Run", cell: (row) => text(row.state.run_id, 80) },
    ],
  }).element);
}

/* uPlot draws on a canvas, whose colours have to be colours and not properties. */
function plot(into: HTMLElement, quantity: Quantity, chosen: Group[], steps: number[], width: number, log: boolean, onStep: (at: number | null) => void): uPlot {
  const paint = chosen.map((_, at) => colour(`c${(at % SERIES) + 1}`));
  const columns = chosen.map(([, rows]) => {
    const by = new Map<number, number | null>(rows.map((row) => [Number(row.capture_step), quantity.value(row)]));
    return steps.map((step) => by.get(step) ?? null);
  });
  const soft = colour("soft");
  const grid = { stroke: colour("line"), width: 1 };
  return new uPlot({
    width, height: 340,
    scales: { x: { time: false }, y: log ? { distr: 3 } : {} },
    legend: { show: false },
    cursor: { drag: { x: true, y: false }, points: { size: 9 } },
    hooks: { setCursor: [(self) => onStep(self.cursor.idx ?? null)] },
    axes: [
      { stroke: soft, grid, ticks: grid, incrs: STEPS, label: "captured step", labelSize: 22, font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif" },
      { stroke: soft, grid, ticks: grid, size: 78, font: "12px system-ui, sans-serif", values: (_self, ticks) => ticks.map((tick) => (tick === null ? "" : quantity.format(tick))) },
    ],
    series: [{}, ...chosen.map(([name], at) => ({
      label: show(name, 60), stroke: paint[at], width: 2, dash: DASHES[at % DASHES.length], points: { show: true, size: 7, fill: paint[at] }, spanGaps: true,
    }))],
  }, [steps, ...columns] as uPlot.AlignedData, into);
}

/* The same lines as a picture of its own, with the step and the names that the page says beside the canvas. */
function drawing(quantity: Quantity, chosen: Group[], steps: number[], width: number, log: boolean): SVGElement {
  const frame = { left: 92, top: 34, right: width - 16, bottom: 330 };
  const lines = chosen.map(([, rows]) => rows.map((row): [number, number | null] => [Number(row.capture_step), quantity.value(row)])
    .filter((point): point is [number, number] => point[1] !== null && (!log || point[1] > 0)).sort((a, b) => a[0] - b[0]));
  const values = lines.flat().map(([, value]) => value);
  const least = values.reduce((a, b) => Math.min(a, b), Infinity);
  const most = values.reduce((a, b) => Math.max(a, b), -Infinity);
  const margin = (most - least) * 0.06 || Math.abs(most) * 0.05 || 1;
  const x = linear(steps[0], steps[steps.length - 1], frame.left + 12, frame.right - 12, width / 100);
  const y = log ? logarithmic(least, most, frame.bottom, frame.top, 6) : linear(least - margin, most + margin, frame.bottom, frame.top, 6);
  const parts = axes(frame, x, y, (step) => (Number.isInteger(step) ? count(step) : ""), quantity.format);
  lines.forEach((points, at) => {
    const paint = seriesColour(at);
    const places = points.map(([step, value]): [number, number] => [x.at(step), y.at(value)]);
    parts.push(svg("path", { d: places.map(([left, top], i) => `${i === 0 ? "M" : "L"}${left.toFixed(1)} ${top.toFixed(1)}`).join(""), fill: "none", stroke: paint, "stroke-width": 2,
      "stroke-dasharray": DASHES[at % DASHES.length].join(" ") }), ...places.map(([left, top]) => dot(at, left, top, 4, paint)));
    const top = frame.bottom + 46 + 20 * at;
    parts.push(line(frame.left, top - 4, frame.left + 40, top - 4, paint, { "stroke-width": 2, "stroke-dasharray": DASHES[at % DASHES.length].join(" ") }),
      dot(at, frame.left + 20, top - 4, 4, paint), label(frame.left + 50, top, ending(chosen[at][0], Math.floor((width - frame.left - 60) / 7))));
  });
  parts.push(label(12, 18, `${quantity.name}, by captured step`, "start", { "font-weight": 600 }));
  return picture(quantity.name, width, frame.bottom + 44 + 20 * chosen.length, ...parts);
}

function drawTrajectories(root: HTMLElement, data: Json, context: Context): Mounted {
  const quantities = quantitiesOf(data);
  root.append(h("h2", {}, "Course of each quantity"));
  if (quantities.length === 0) {
    root.append(empty("No capture has a quantity to draw: no measured region, no statistics, no gradients."));
    return {};
  }
  const select = h("select", { "aria-label": "Quantity" }, ...quantities.map((quantity) => h("option", { value: quantity.id }, quantity.name)));
  const log = h("input", { type: "checkbox" });
  const box = h("div", { class: "chart-box series", role: "img" });
  const slider = h("div", { class: "plot-keys", role: "slider", tabindex: "0", "aria-label": "Captured step" }, box);
  const keyList = h("ul", { class: "legend" });
  const note = h("p", { class: "soft" });
  const readout = h("div", { class: "readout", "aria-live": "polite" });
  const list = h("div");
  let drawn: uPlot | null = null;
  let chosen: Group[] = [];
  let steps: number[] = [];
  let at = 0;
  let quantity = quantities[0];

  const wanted = (): string[] => (context.route.get("of") ?? "").split("\n").filter((name) => name !== "");

  function read(): void {
    readout.replaceChildren(h("ul", {}, h("li", {}, `Step ${count(steps[at])}:`), ...chosen.map(([name, rows]) => {
      const row = rows.find((each) => Number(each.capture_step) === steps[at]);
      const value = row ? quantity.value(row) : null;
      const state = row && known(row.state) && row.state !== "present" ? ` (${show(row.state)})` : "";
      return h("li", {}, text(name, 60), ": ", value === null ? `\u2014${state}` : quantity.format(value));
    })));
    slider.setAttribute("aria-valuenow", String(at));
    slider.setAttribute("aria-valuetext", `step ${steps[at]}: ${chosen.map(([name, rows]) => {
      const row = rows.find((each) => Number(each.capture_step) === steps[at]);
      const value = row ? quantity.value(row) : null;
      return `${show(name, 40)} ${value === null ? "unknown" : quantity.format(value)}`;
    }).join(", ")}`);
  }

  function draw(): void {
    const width = Math.floor(box.clientWidth);
    drawn?.destroy();
    drawn = null;
    if (width === 0) return;
    drawn = plot(box, quantity, chosen, steps, width, log.checked, (index) => {
      if (index === null || index === at) return;
      at = index;
      read();
    });
    box.setAttribute("aria-label", `${quantity.name} over ${steps.length} captures, ${chosen.length} lines`);
  }

  function arrange(): void {
    const named = wanted();
    const ranked = [...quantity.groups].sort((a, b) => movement(quantity, b[1]) - movement(quantity, a[1]) || (a[0] < b[0] ? -1 : 1));
    const found = ranked.filter(([name]) => named.includes(name));
    chosen = (found.length > 0 ? found : ranked).slice(0, LINES);
    steps = [...new Set(quantity.groups.flatMap(([, rows]) => rows.map((row) => Number(row.capture_step))))].sort((a, b) => a - b);
    at = Math.min(Math.max(0, at), steps.length - 1);
    slider.setAttribute("aria-valuemin", "0");
    slider.setAttribute("aria-valuemax", String(steps.length - 1));
    note.textContent = `${quantity.name}, by captured step. Lines: ${shown(chosen.length, quantity.groups.length)}` +
      (quantity.groups.length > chosen.length ? found.length > 0 ? ", those that were chosen." : ", those that moved most; choose others below." : ".") +
      (log.checked ? " The axis is logarithmic: zeros and negative values are not on it." : "");
    keyList.replaceChildren(...chosen.map(([name], index) => {
      const swatch = h("span", { class: "swatch", "aria-hidden": "true", style: { "border-top-color": `var(--c${(index % SERIES) + 1})`, "border-top-style": ["solid", "dashed", "dotted"][index % 3] } });
      return h("li", {}, swatch, " ", text(name, 80));
    }));
    list.replaceChildren(table<Group>({
      caption: `Everything of this quantity`, rows: ranked, filter: (row) => row[0],
      open: (row) => {
        const names = wanted();
        const next = names.includes(row[0]) ? names.filter((name) => name !== row[0]) : [...names, row[0]].slice(-LINES);
        context.route.set({ of: next.length > 0 ? next.join("\n") : null }, true);
        arrange();
      },
      isSelected: (row) => chosen.some(([name]) => name === row[0]),
      columns: [
        { title: "Name", cell: (row) => text(row[0], 200), key: (row) => row[0] },
        { title: "First", cell: (row) => { const value = quantity.value(row[1][0]); return value === null ? "\u2014" : quantity.format(value); }, number: true, key: (row) => quantity.value(row[1][0]) },
        { title: "Last", cell: (row) => { const value = quantity.value(row[1][row[1].length - 1]); return value === null ? "\u2014" : quantity.format(value); }, number: true, key: (row) => quantity.value(row[1][row[1].length - 1]) },
        { title: "Rows", cell: (row) => count(row[1].length), number: true },
        { title: "Not as they should be", cell: (row) => {
          const odd = row[1].filter((each) => Number(each.non_finite ?? 0) > 0 || (known(each.state) && each.state !== "present"));
          return odd.length === 0 ? "none" : h("span", { class: "bad" }, `\u2717 ${count(odd.length)}: ${[...new Set(odd.map((each) => (known(each.state) ? show(each.state) : "not finite")))].join(", ")}`);
        } },
      ],
    }).element);
    draw();
    read();
  }

  function choose(): void {
    quantity = quantities.find((each) => each.id === select.value) ?? quantities[0];
    log.checked = quantity.isLogarithmic;
    arrange();
  }

  select.addEventListener("change", () => {
    context.route.set({ quantity: select.value, of: null }, true);
    choose();
  });
  log.addEventListener("change", arrange);
  slider.addEventListener("keydown", (event) => {
    const to = new Map([["ArrowRight", at + 1], ["d", at + 1], ["ArrowLeft", at - 1], ["a", at - 1], ["Home", 0], ["End", steps.length - 1]]).get(event.key);
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    at = Math.max(0, Math.min(steps.length - 1, to));
    if (drawn) drawn.setCursor({ left: drawn.valToPos(steps[at], "x"), top: 10 });
    read();
  });
  context.onTheme(draw);
  new ResizeObserver(() => { if (drawn === null || Math.floor(box.clientWidth) !== drawn.width) draw(); }).observe(box);
  root.append(h("div", { class: "tools" }, h("label", {}, "Quantity ", select), h("label", {}, log, " logarithmic")), note, slider, keyList, readout, list);
  const go = (): void => {
    const named = context.route.get("quantity");
    if (named !== null && quantities.some((each) => each.id === named)) select.value = named;
    choose();
  };
  go();
  return {
    route: go,
    keys: [["\u2190 \u2192, A D", "to the capture before or after, on the chart"]],
    search(query): Found {
      const word = query.toLowerCase();
      const found: Found = { total: 0, hits: [] };
      for (const each of quantities)
        for (const [name] of each.groups) {
          if (!name.toLowerCase().includes(word)) continue;
          if (found.total++ < 50)
            found.hits.push({ label: name, detail: each.name, go: () => { context.route.set({ quantity: each.id, of: name }, true); go(); } });
        }
      return found;
    },
    picture: () => (steps.length > 0 ? pictureText(drawing(quantity, chosen, steps, Math.max(480, Math.floor(box.clientWidth)), log.checked)) : null),
  };
}

function drawGrowth(root: HTMLElement, data: Json): void {
  if (!data.growth) return;
  root.append(h("h2", {}, "What grows"), data.growth.length === 0 ? empty("No span keeps more and more: no leak is visible in these captures.") : table<Json>({
    caption: "Spans whose kept bytes never fall", rows: data.growth,
    columns: [
      { title: "Span", cell: (row) => text(row.span, 200), key: (row) => row.span },
      { title: "By capture", cell: (row) => size(row.bytes_per_capture), number: true, key: (row) => Number(row.bytes_per_capture) },
      { title: "From", cell: (row) => size(row.from_bytes), number: true }, { title: "To", cell: (row) => size(row.to_bytes), number: true },
      { title: "Captures", cell: (row) => count(row.captures), number: true },
    ],
  }).element);
}

function drawInputs(root: HTMLElement, data: Json): void {
  const times = new Map<string, Json>(data.outer_wall_time.map((row: Json) => [row.run_id, row]));
  root.append(h("h2", {}, "Captures"), table<Json>({
    caption: "Captures of this series", rows: data.inputs,
    columns: [
      { title: "Step", cell: (row) => count(row.capture_step), number: true, key: (row) => Number(row.capture_step) },
      { title: "Run", cell: (row) => text(row.run_id, 80) },
      { title: "Measured region", cell: (row) => time(times.get(row.run_id)?.outer_wall_time_ns), number: true, key: (row) => Number(times.get(row.run_id)?.outer_wall_time_ns ?? NaN) },
      { title: "Bundle", cell: (row) => text(row.bundle, 200) },
      { title: "Manifest", cell: (row) => h("span", { title: row.manifest_sha256 }, `${show(row.manifest_sha256).slice(0, 16)}\u2026`), plain: (row) => row.manifest_sha256 },
    ],
  }).element);
}

const view: View = {
  id: "series",
  label: "Series",
  order: 16,
  available: (doc: Doc) => doc.islands.has("cg-series") || doc.islands.has("cg-campaign"),
  mount(root, context): Mounted {
    const data = context.doc.islands.get("cg-series");
    const plan = context.doc.islands.get("cg-campaign");
    let mounted: Mounted = {};
    if (plan) drawPlan(root, plan);
    if (data) {
      root.append(pairs([["Entry point", data.entrypoint], ["Captures", count(data.inputs.length)], ...(known(data.label_prefix) ? [["Only names that begin with", data.label_prefix] as [string, unknown]] : [])]));
      mounted = drawTrajectories(root, data, context);
      drawGrowth(root, data);
      drawInputs(root, data);
    } else if (plan) {
      root.append(empty(Number(plan.published) === 0 ? "No capture is published: there is nothing to draw." : "This page was made of the state of the campaign alone; `candle-graph view` of its plan draws the published captures."));
    }
    return mounted;
  },
};
export default view;
