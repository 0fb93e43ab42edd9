/*
 * Graph: who calls whom and where tensors go, around one node. What is near it is shown first; every
 * node at the rim opens on demand, and never so much at once that the page would stand still.
 */
import { type Table, type Whole, whole } from "../data";
import { fitting } from "../chart";
import { button, empty, h, svg, SVG } from "../dom";
import type { LayoutAnswer } from "../graph/layout";
import { place } from "../graph/place";
import { followSelection, whyNoGraph } from "../inspect";
import type { Nodes, Run } from "../run";
import { bytes, count, ms, percent, show } from "../text";
import type { Context, Found, Mounted, View } from "../view";

const FIRST = 60; /* nodes around the focus */
const MOST = 240; /* nodes in the picture, whatever is opened */
const STEP = 24; /* nodes one opening adds at most */
const WIDTH = 190;
const HEIGHT = 34;
const HITS = 50;

/* Edges by either end. */
class Edges {
  readonly from: Float64Array;
  readonly to: Float64Array;
  private readonly at: Record<"from" | "to", Uint32Array>;
  private readonly rows: Record<"from" | "to", Uint32Array>;
  constructor(readonly table: Table, nodes: number) {
    this.from = whole(table, "from").numbers();
    this.to = whole(table, "to").numbers();
    const index = (ends: Float64Array): [Uint32Array, Uint32Array] => {
      const at = new Uint32Array(nodes + 1);
      for (const end of ends) at[end + 1]++;
      for (let node = 0; node < nodes; node++) at[node + 1] += at[node];
      const next = at.slice();
      const rows = new Uint32Array(ends.length);
      ends.forEach((end, row) => (rows[next[end]++] = row));
      return [at, rows];
    };
    const [fromAt, fromRows] = index(this.from);
    const [toAt, toRows] = index(this.to);
    this.at = { from: fromAt, to: toAt };
    this.rows = { from: fromRows, to: toRows };
  }
  of(node: number, end: "from" | "to"): Uint32Array {
    return this.rows[end].subarray(this.at[end][node], this.at[end][node + 1]);
  }
  degree(node: number): number {
    return this.of(node, "from").length + this.of(node, "to").length;
  }
  /* The other ends, callers and producers first. */
  near(node: number): number[] {
    return [...Array.from(this.of(node, "to"), (row) => this.from[row]), ...Array.from(this.of(node, "from"), (row) => this.to[row])];
  }
}

function mountRun(root: HTMLElement, run: Run, nodes: Nodes, table: Table, context: Context): Mounted {
  const edges = new Edges(table, nodes.rows);
  const kindOf = (edge: number) => table.columns.get("kind")?.text(edge) ?? "";
  const peak = Number(run.payload.summary.logical_peak_live_bytes ?? NaN);
  const peaks = nodes.column("peak_live_bytes");
  const dense = nodes.column("dense_bytes");
  const measured = () => {
    for (let row = 0; row < nodes.rows; row++) if (nodes.parent[row] < 0 && edges.degree(row) > 0) return row;
    return 0;
  };
  let focus = -1;
  let here = new Set<number>();
  let selected = -1;
  let hovered = -1;
  let layout: LayoutAnswer | null = null;
  let asked = 0;
  let view = { x: 0, y: 0, scale: 1 };
  let heat: "self" | "memory" = context.route.get("heat") === "memory" ? "memory" : "self";
  const boxes = new Map<number, SVGElement>();
  const lines: { from: number; to: number; element: SVGElement }[] = [];

  const status = h("span", { class: "soft", role: "status" });
  const picture = svg("svg", { class: "graph", role: "group", "aria-label": "Graph around the focus; Tab goes from node to node" });
  const stage = svg("g");
  const marker = (id: string) => svg("marker", { id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto-start-reverse" },
    svg("path", { d: "M0 0L8 4L0 8z", class: "arrow" }));
  picture.append(svg("defs", {}, marker("cg-arrow")), stage);

  /* The neighbours of a node that are not shown, those that took the longest first. */
  function missing(node: number): number[] {
    return [...new Set(edges.near(node))].filter((next) => !here.has(next))
      .sort((a, b) => (nodes.totalNs[b] || 0) - (nodes.totalNs[a] || 0) || a - b);
  }

  /* Breadth first from `start`, `room` nodes more at most, and of no node more than a few: a node with a
     thousand children must not push everything else out. */
  function grow(start: number, room: number): void {
    const queue = [start];
    for (let at = 0; at < queue.length && room > 0; at++)
      for (const next of missing(queue[at]).slice(0, Math.min(room, at === 0 ? STEP : 8))) {
        here.add(next);
        queue.push(next);
        room--;
      }
  }

  function around(node: number): void {
    focus = node;
    here = new Set([node]);
    grow(node, FIRST - 1);
    void arrange(true);
  }

  function widen(node: number): void {
    const before = here.size;
    for (const next of missing(node).slice(0, Math.min(STEP, MOST - before))) here.add(next);
    context.announce(here.size === before ? "Nothing was added: the picture is full." : `${here.size - before} nodes added`);
    void arrange(false);
  }

  async function arrange(fits: boolean): Promise<void> {
    const question = ++asked;
    const ids = [...here];
    const inside = new Map<string, [number, number]>();
    for (const id of ids)
      for (const row of edges.of(id, "from"))
        if (here.has(edges.to[row]) && edges.to[row] !== id) inside.set(`${id}>${edges.to[row]}`, [id, edges.to[row]]);
    status.textContent = "laying out \u2026";
    const { answer, isPlain } = await place({ nodes: ids.map((id) => ({ id, width: WIDTH, height: HEIGHT })), edges: [...inside.values()] });
    if (question !== asked) return;
    layout = answer;
    draw();
    if (fits) fit(false);
    status.textContent = `shown ${count(here.size)} of ${count(nodes.rows)} nodes, ${count(answer.edges.length)} of ${count(table.rows)} edges` +
      (here.size >= MOST ? `; ${MOST} nodes are the most at once` : "") +
      (isPlain ? "; the layout took too long, a plainer one stands in" : "");
    performance.mark("cg:drawn");
  }

  function heatOf(node: number): number {
    if (heat === "memory") {
      const own = peaks.has(node) ? peaks.number(node) : dense.has(node) ? dense.number(node) : NaN;
      return peak > 0 ? own / peak : NaN;
    }
    return nodes.totalNs[node] > 0 ? nodes.selfNs[node] / nodes.totalNs[node] : NaN;
  }

  function figureOf(node: number): string {
    if (heat === "memory") {
      const column: Whole = peaks.has(node) ? peaks : dense;
      return column.has(node) ? `${bytes(column.exact(node))}${peaks.has(node) ? ` peak, ${percent(peaks.number(node), peak)}` : ""}` : "\u2014";
    }
    return nodes.total.has(node) ? `${ms(nodes.total.exact(node))}, self ${percent(nodes.selfNs[node], nodes.totalNs[node])}` : (nodes.table.columns.get("shape")?.text(node) ?? "");
  }

  function box(node: number, x: number, y: number): SVGElement {
    const kind = nodes.kind.text(node) ?? "";
    const name = show(nodes.name.text(node), 400);
    const short = name.split("::").pop() || name;
    const part = heatOf(node);
    const hidden = missing(node).length;
    const element = svg("g", {
      class: `node kind-${/^[a-z]+$/.test(kind) ? kind : "other"}`, transform: `translate(${x - WIDTH / 2} ${y - HEIGHT / 2})`, tabindex: "0", role: "button",
      "aria-pressed": String(node === selected),
      on: {
        click: () => choose(node),
        dblclick: () => around(node),
        keydown: (event: KeyboardEvent) => {
          if (event.key === "Enter" || event.key === " ") choose(node);
          else if (event.key === "e" || event.key === "E") widen(node);
          else if (event.key === "c" || event.key === "C") around(node);
          else return;
          event.preventDefault();
          event.stopPropagation();
        },
        pointerenter: () => hover(node),
        pointerleave: () => hover(-1),
        focus: () => hover(node),
        blur: () => hover(-1),
      },
    },
    svg("title", {}, `${kind} ${show(name, 200)}, ${figureOf(node)}${hidden > 0 ? `, ${hidden} more around it` : ""}`),
    svg("rect", { class: "body", width: WIDTH, height: HEIGHT, rx: kind === "tensor" ? 16 : 3 }),
    svg("rect", { class: "heat", width: Number.isNaN(part) ? 0 : Math.max(1, Math.min(1, part) * WIDTH), height: 4, y: HEIGHT - 4 }),
    svg("text", { class: "name", x: 8, y: 14, "aria-hidden": "true" }, fitting(short, WIDTH - (hidden > 0 ? 46 : 16), "600 12px system-ui, sans-serif")),
    svg("text", { class: "figure", x: 8, y: 27, "aria-hidden": "true" }, fitting(`${kind} \u00b7 ${figureOf(node)}`, WIDTH - 16, "10.5px system-ui, sans-serif")));
    if (hidden > 0)
      element.append(svg("g", { class: "more", "aria-hidden": "true", on: { click: (event: MouseEvent) => { event.stopPropagation(); widen(node); } } },
        svg("rect", { x: WIDTH - 34, y: 2, width: 32, height: 15, rx: 7 }), svg("text", { x: WIDTH - 18, y: 13, "text-anchor": "middle" }, hidden > 999 ? "+\u2026" : `+${hidden}`)));
    return element;
  }

  function draw(): void {
    if (layout === null) return;
    const focused = [...boxes].find(([, element]) => element === document.activeElement)?.[0];
    boxes.clear();
    lines.length = 0;
    const children: SVGElement[] = [];
    for (const { from, to, points } of layout.edges) {
      const row = edges.of(from, "from").find((edge) => edges.to[edge] === to) as number;
      const kind = kindOf(row);
      const label = table.columns.get("label")?.text(row) ?? (kind === "call" ? ms(nodes.total.exact(to)) : "");
      const middle = points[Math.floor(points.length / 2)];
      const element = svg("g", { class: `edge edge-${kind === "data" ? "data" : "call"}` },
        svg("path", { d: "M" + points.map((point) => `${point.x.toFixed(1)} ${point.y.toFixed(1)}`).join("L"), "marker-end": "url(#cg-arrow)" }),
        layout.edges.length <= 80 ? svg("text", { x: middle.x, y: middle.y - 4, "text-anchor": "middle" }, show(label, 24)) : null);
      lines.push({ from, to, element });
      children.push(element);
    }
    for (const { id, x, y } of layout.nodes) {
      const element = box(id, x, y);
      boxes.set(id, element);
      children.push(element);
    }
    stage.replaceChildren(...children);
    mark();
    if (focused !== undefined) boxes.get(focused)?.focus();
  }

  function mark(): void {
    const lit = hovered >= 0 ? hovered : selected;
    const near = new Set<number>([lit]);
    for (const line of lines) {
      const isNear = line.from === lit || line.to === lit;
      line.element.classList.toggle("near", isNear);
      line.element.classList.toggle("far", hovered >= 0 && !isNear);
      if (isNear) near.add(line.from).add(line.to);
    }
    for (const [id, element] of boxes) {
      element.classList.toggle("selected", id === selected);
      element.classList.toggle("focus-node", id === focus);
      element.classList.toggle("far", hovered >= 0 && !near.has(id));
      element.setAttribute("aria-pressed", String(id === selected));
    }
  }

  function hover(node: number): void {
    hovered = node;
    mark();
  }
  function choose(node: number): void {
    context.select(nodes.id.text(node));
  }

  function move(): void {
    stage.setAttribute("transform", `translate(${view.x.toFixed(2)} ${view.y.toFixed(2)}) scale(${view.scale.toFixed(4)})`);
  }
  function fit(isAsked: boolean): void {
    const box = picture.getBoundingClientRect();
    if (layout === null || box.width === 0) return;
    const scale = Math.max(0.06, Math.min(1.6, box.width / (layout.width + 20), box.height / (layout.height + 20)));
    view = { scale, x: (box.width - layout.width * scale) / 2, y: (box.height - layout.height * scale) / 2 };
    // A wide graph that would become unreadable starts at the focus instead, until somebody wants to see all of it.
    if (scale < 0.45 && !isAsked) center(focus, 0.8, 0.22);
    move();
  }
  function center(node: number, scale = view.scale, place = 0.5): void {
    const box = picture.getBoundingClientRect();
    const at = layout?.nodes.find(({ id }) => id === node);
    if (at) view = { scale, x: Math.max(box.width * place, WIDTH / 2) - at.x * scale, y: box.height / 2 - at.y * scale };
    move();
  }
  function zoom(factor: number, x = picture.clientWidth / 2, y = picture.clientHeight / 2): void {
    const scale = Math.max(0.06, Math.min(4, view.scale * factor));
    view = { scale, x: x - ((x - view.x) * scale) / view.scale, y: y - ((y - view.y) * scale) / view.scale };
    move();
  }

  addEventListener("beforeprint", () => {
    if (picture.clientWidth > 0) fit(true);
  });
  picture.addEventListener("wheel", (event) => {
    const box = picture.getBoundingClientRect();
    zoom(Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) * 0.006), event.clientX - box.left, event.clientY - box.top);
    event.preventDefault();
  }, { passive: false });
  let drag: { x: number; y: number } | null = null;
  picture.addEventListener("pointerdown", (event) => {
    if ((event.target as Element).closest(".node") === null) drag = { x: event.clientX - view.x, y: event.clientY - view.y };
  });
  picture.addEventListener("pointermove", (event) => {
    if (drag === null || (event.buttons & 1) === 0) return;
    view = { ...view, x: event.clientX - drag.x, y: event.clientY - drag.y };
    move();
  });
  picture.addEventListener("pointerup", () => (drag = null));
  root.addEventListener("keydown", (event) => {
    if ((event.target as Element).closest("input, select") || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = 60;
    const keys: Record<string, () => void> = {
      w: () => zoom(1.25), s: () => zoom(0.8), "+": () => zoom(1.25), "-": () => zoom(0.8), "0": () => fit(true),
      a: () => { view.x += step; move(); }, d: () => { view.x -= step; move(); },
      ArrowLeft: () => { view.x += step; move(); }, ArrowRight: () => { view.x -= step; move(); },
      ArrowUp: () => { view.y += step; move(); }, ArrowDown: () => { view.y -= step; move(); },
    };
    const act = Object.hasOwn(keys, event.key) ? keys[event.key] : undefined;
    if (act === undefined) return;
    act();
    event.preventDefault();
    event.stopPropagation();
  });

  const heats = (["self", "memory"] as const).map((name) => {
    const input = h("input", { type: "radio", name: "cg-heat", value: name });
    input.checked = heat === name;
    input.addEventListener("change", () => {
      heat = name;
      context.route.set({ heat: name === "self" ? null : name });
      draw();
    });
    return h("label", {}, input, name === "self" ? " self of total" : " memory of the peak");
  });
  root.append(
    h("div", { class: "tools" }, button("Zoom in", () => zoom(1.25)), button("Zoom out", () => zoom(0.8)), button("Fit", () => fit(true)),
      button("Center on selection", () => around(selected >= 0 ? selected : measured())),
      button("Open around selection", () => selected >= 0 && widen(selected)),
      h("span", { role: "radiogroup", "aria-label": "The bar in each node" }, "Bar: ", ...heats), status),
    h("div", { class: "graph-box", tabindex: "0", role: "region", "aria-label": "Graph" }, picture),
    h("details", {}, h("summary", {}, "Legend"), h("ul", {},
      h("li", {}, "Box: span or operation. Pill: tensor. A thick frame: the node the picture is about."),
      h("li", {}, "Arrow: calls. Dashed arrow: data, from what makes it to what takes it."),
      h("li", {}, "Bar along the bottom: the share chosen above; its figure stands in the second line."),
      h("li", {}, "+n: so many neighbours are not shown; press it, or E, to open them."))));

  followSelection(run, nodes, context, "trace", (row) => {
    selected = row;
    if (row >= 0 && !here.has(row)) around(row);
    else if (row >= 0) mark();
    else if (focus < 0) around(measured());
    else mark();
  });
  context.onTheme(mark);

  function search(query: string): Found {
    const word = query.toLowerCase();
    const found: Found = { total: 0, hits: [] };
    for (let row = 0; row < nodes.rows; row++) {
      const name = nodes.name.text(row) ?? "";
      if (!name.toLowerCase().includes(word)) continue;
      if (found.total++ < HITS) found.hits.push({ label: name, detail: nodes.kind.text(row) ?? "", go: () => { choose(row); center(row); } });
    }
    return found;
  }

  return {
    shown: () => (layout !== null ? mark() : undefined),
    search,
    keys: [["Tab", "from node to node"], ["Enter", "select"], ["E", "open what is around a node"], ["C", "make it the center"],
      ["W S", "zoom in and out"], ["A D", "pan; so do the arrows"], ["0", "fit"]],
    picture() {
      if (layout === null) return null;
      const copy = picture.cloneNode(true) as SVGElement;
      const width = Math.ceil(layout.width);
      const height = Math.ceil(layout.height);
      for (const [name, value] of [["xmlns", SVG], ["width", width], ["height", height], ["viewBox", `0 0 ${width} ${height}`]]) copy.setAttribute(String(name), String(value));
      copy.querySelector(":scope > g")?.removeAttribute("transform");
      const style = (selector: string, rules: Record<string, string>) => {
        for (const element of copy.querySelectorAll(selector)) for (const [key, value] of Object.entries(rules)) element.setAttribute(key, value);
      };
      const fore = context.colour("fore");
      style("text", { fill: fore, "font-family": "sans-serif", "font-size": "11" });
      style(".body", { fill: context.colour("hover"), stroke: context.colour("soft") });
      style(".heat", { fill: context.colour("bar") });
      style("path", { fill: "none", stroke: context.colour("soft") });
      style(".arrow", { fill: context.colour("soft") });
      style(".edge-data path", { "stroke-dasharray": "5 3" });
      style(".more", { display: "none" });
      copy.insertBefore(svg("rect", { width, height, fill: context.colour("back") }), copy.firstChild);
      return new XMLSerializer().serializeToString(copy);
    },
  };
}

const view: View = {
  id: "trace",
  label: "Graph",
  order: 40,
  available: (doc) => doc.run !== null,
  mount(root, context) {
    const run = context.doc.run as Run;
    const table = run.tables.get("edges");
    if (run.nodes === null || table === undefined) {
      root.append(empty(whyNoGraph(run, "graph")));
      return {};
    }
    return mountRun(root, run, run.nodes, table, context);
  },
};
export default view;
