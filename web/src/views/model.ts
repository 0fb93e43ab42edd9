/*
 * Model: the modules of every component as a tree with their parameters, and what a function does to
 * tensors, one function at a time, for training and for inference. Nothing of it was run.
 */
import type { Json } from "../data";
import { ending, label as words, legend, pictureText } from "../chart";
import type { Doc } from "../doc";
import { button, byId, empty, h, pairs, svg, text } from "../dom";
import { place } from "../graph/place";
import { gradient, groupBy, type Model, modelOf } from "../model";
import { table } from "../table";
import { count, known, show, shown } from "../text";
import { tree, type TreeHandle } from "../tree";
import type { Context, Found, Mounted, View } from "../view";

const NODES = 240; /* of a function, in one picture */
const CHOICES = 2000;

/* ---- the tree ---- */

interface Entry {
  row: Json; /* component or module */
  isComponent: boolean;
  parent: number;
  children: number[];
  own: number; /* parameters */
  below: number; /* and those of all modules below */
}

function entriesOf(model: Model): { entries: Entry[]; roots: number[] } {
  const views = model.data.views;
  const components: Json[] = views.architecture.nodes.filter((node: Json) => node.kind === "component");
  const ordered = components.slice().sort((a, b) => Number(a.nested === true) - Number(b.nested === true) || Number(b.parameters) - Number(a.parameters));
  const owned = new Map<string, Json>(views.architecture.nodes.filter((node: Json) => node.kind === "module").map((node: Json) => [node.id, node]));
  const entries: Entry[] = [];
  const index = new Map<string, number>();
  const add = (row: Json, isComponent: boolean, own: number): void => {
    index.set(row.id, entries.length);
    entries.push({ row, isComponent, parent: -1, children: [], own, below: own });
  };
  for (const row of ordered) add(row, true, 0);
  for (const row of views.structure.modules) add(row, false, Number(owned.get(row.id)?.parameters ?? 0));
  entries.forEach((entry, at) => {
    if (entry.isComponent) return;
    const above = index.get(entry.row.parent ?? "") ?? index.get(entry.row.component_id ?? "") ?? -1;
    if (above < 0 || above === at) return;
    entry.parent = above;
    entries[above].children.push(at);
  });
  /* Parents come before children or after, so sums go from the deepest up. */
  const order: number[] = [];
  const stack = entries.map((_, at) => at).filter((at) => entries[at].parent < 0);
  while (stack.length > 0) {
    const at = stack.pop() as number;
    order.push(at);
    stack.push(...entries[at].children);
  }
  for (let i = order.length - 1; i >= 0; i--) {
    const entry = entries[order[i]];
    if (entry.parent >= 0) entries[entry.parent].below += entry.below;
  }
  return { entries, roots: entries.map((_, at) => at).filter((at) => entries[at].parent < 0) };
}

/* A component by its own name first: the path before it is the same for many. */
function componentName(path: string): string {
  const at = path.lastIndexOf("::");
  return at < 0 ? path : `${path.slice(at + 2)} (${path.slice(0, at)})`;
}
const nameOf = (entry: Entry): string => entry.isComponent ? componentName(entry.row.qualified_name) : (known(entry.row.field) ? `${entry.row.field}: ` : "") + entry.row.type_name;

/* ---- data flow ---- */

interface Flow {
  phase: "dataflow_train" | "dataflow_infer";
  function: Json;
}

const COLOURS: Record<string, string> = Object.assign(Object.create(null), {
  Trainable: "var(--good)", Differentiable: "var(--mark)", Severed: "var(--bad)", LayoutDependent: "var(--warn)", Frozen: "var(--soft)", Unknown: "var(--soft)",
});

class FlowPicture {
  readonly element = h("div", { class: "flow" });
  drawn: SVGElement | null = null;
  private scale = 1;
  private chosen: string | null = null;
  private shapes = new Map<string, SVGElement>();
  private readonly box = h("div", { class: "flow-box", tabindex: "0", role: "region", "aria-label": "Data flow" });
  private readonly note = h("p", { class: "soft", role: "status" });

  constructor(private readonly choose: (id: string) => void) {
    const tools = h("div", { class: "tools small" }, button("\u2212", () => this.zoom(0.8), { "aria-label": "Smaller" }), button("+", () => this.zoom(1.25), { "aria-label": "Larger" }),
      button("Fit", () => this.fit()), button("1:1", () => this.zoom(1 / this.scale)));
    this.box.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const step = 80;
      const act = new Map<string, () => void>([["w", () => this.zoom(1.25)], ["s", () => this.zoom(0.8)], ["a", () => this.box.scrollBy(-step, 0)], ["d", () => this.box.scrollBy(step, 0)], ["f", () => this.fit()]]).get(event.key);
      if (!act) return;
      act();
      event.preventDefault();
      event.stopPropagation();
    });
    this.element.append(tools, this.box, this.note);
  }

  zoom(by: number): void {
    if (!this.drawn) return;
    this.scale = Math.max(0.1, Math.min(4, this.scale * by));
    const [, , width, height] = (this.drawn.getAttribute("viewBox") as string).split(" ").map(Number);
    this.drawn.setAttribute("width", String(Math.round(width * this.scale)));
    this.drawn.setAttribute("height", String(Math.round(height * this.scale)));
  }

  /* Not smaller than `least`, so that words can be read. */
  fit(least = 0.1): void {
    if (!this.drawn) return;
    const [, , width, height] = (this.drawn.getAttribute("viewBox") as string).split(" ").map(Number);
    const room = Math.min((this.box.clientWidth - 4) / width, Math.max(240, window.innerHeight * 0.6) / height, 1);
    this.scale = 1;
    this.zoom(Math.max(least, room));
  }

  mark(id: string | null): void {
    if (this.chosen !== null) this.shapes.get(this.chosen)?.classList.remove("chosen");
    this.chosen = id;
    const shape = id === null ? undefined : this.shapes.get(id);
    shape?.classList.add("chosen");
    shape?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  async draw(label: string, nodes: Json[], edges: Json[]): Promise<void> {
    const kept = nodes.slice(0, NODES);
    const index = new Map<string, number>(kept.map((node, at) => [node.id, at]));
    const links = edges.filter((edge) => index.has(edge.from) && index.has(edge.to));
    const caption = (node: Json): string => ending(node.kind === "operation" ? node.short_label : node.label, 26);
    const sizes = kept.map((node) => Math.max(56, caption(node).length * 7.1 + 20));
    const unique = new Map<string, [number, number]>();
    for (const edge of links) unique.set(`${index.get(edge.from)} ${index.get(edge.to)}`, [index.get(edge.from) as number, index.get(edge.to) as number]);
    this.note.textContent = "Laying out\u2026";
    const { answer, isPlain } = await place({ nodes: kept.map((_, id) => ({ id, width: sizes[id], height: 28 })), edges: [...unique.values()] });
    const states = new Map<string, string>(links.map((edge) => [`${index.get(edge.from)} ${index.get(edge.to)}`, edge.grad_state]));
    const parts: SVGElement[] = [svg("defs", {}, ...["Severed", "LayoutDependent", "other"].map((state) =>
      svg("marker", { id: `cg-arrow-${state}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" },
        svg("path", { d: "M0 0L8 4L0 8z", fill: COLOURS[state] ?? "var(--soft)" }))))];
    for (const edge of answer.edges) {
      const state = states.get(`${edge.from} ${edge.to}`) ?? "Unknown";
      const isCut = state === "Severed";
      const d = edge.points.map((point, at) => `${at === 0 ? "M" : "L"}${point.x.toFixed(1)} ${point.y.toFixed(1)}`).join("");
      parts.push(svg("path", { d, fill: "none", stroke: isCut || state === "LayoutDependent" ? COLOURS[state] : "var(--soft)", "stroke-width": isCut ? 2.5 : 1.2,
        "stroke-dasharray": isCut ? "6 4" : state === "LayoutDependent" ? "2 3" : undefined, "marker-end": `url(#cg-arrow-${isCut || state === "LayoutDependent" ? state : "other"})` }));
      if (isCut) {
        const middle = edge.points[Math.floor(edge.points.length / 2)];
        parts.push(words(middle.x, middle.y - 5, "\u2717 cut", "middle", { fill: "var(--bad)", "font-weight": 600 }));
      }
    }
    this.shapes = new Map();
    for (const { id, x, y } of answer.nodes) {
      const node = kept[id];
      const isOperation = node.kind === "operation";
      const shape = svg("g", { class: "flow-node", on: { click: () => this.choose(node.id) } },
        svg("rect", { x: x - sizes[id] / 2, y: y - 14, width: sizes[id], height: 28, rx: isOperation ? 3 : 14, fill: "var(--back)",
          stroke: isOperation ? "var(--fore)" : COLOURS[node.grad_state] ?? "var(--soft)", "stroke-width": isOperation ? 1.2 : 1.6 }),
        words(x, y + 4, caption(node), "middle"),
        svg("title", {}, `${show(node.qualified_name ?? node.label, 200)}${isOperation ? "" : `: ${show(node.role)}, ${show(node.grad_state)}`}`));
      this.shapes.set(node.id, shape);
      parts.push(shape);
    }
    const width = Math.max(120, Math.ceil(answer.width));
    const height = Math.max(60, Math.ceil(answer.height));
    this.drawn = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
      "aria-label": `Data flow of ${show(label, 120)}: ${kept.length} nodes, ${links.length} edges` }, ...parts);
    this.box.replaceChildren(this.drawn);
    this.note.textContent = `Nodes: ${shown(kept.length, nodes.length)}; edges: ${shown(links.length, edges.length)}.` +
      (isPlain ? " The layout took too long; a plain one stands in." : "");
    this.scale = 1;
    this.fit(0.75);
    this.mark(this.chosen);
  }
}

function drawFlow(root: HTMLElement, model: Model, context: Context): { choose(id: string): boolean; picture(): SVGElement | null; list: Flow[] } {
  const phases = (["dataflow_train", "dataflow_infer"] as const).map((name) => ({ name, flow: model.data.views[name], word: name === "dataflow_train" ? "training" : "inference" }));
  const list: Flow[] = phases.flatMap(({ name, flow }) => (flow.functions as Json[]).map((row) => ({ phase: name, function: row })));
  root.append(h("h2", {}, "Data flow"));
  if (list.length === 0) {
    root.append(empty("No function computes anything that was understood."));
    return { choose: () => false, picture: () => null, list };
  }
  const inside = new Map(phases.map(({ name, flow }) => [name, groupBy(flow.nodes, "function")] as const));
  const edgesOf = new Map<string, Json[]>();
  const owner = new Map<string, string>();
  for (const { name, flow } of phases) {
    for (const node of flow.nodes) owner.set(node.id, `${name} ${node.function}`);
    for (const edge of flow.edges) {
      const key = owner.get(edge.label === "in" ? edge.to : edge.from) ?? "";
      const here = edgesOf.get(key);
      if (here) here.push(edge);
      else edgesOf.set(key, [edge]);
    }
  }
  const phase = h("select", { "aria-label": "Phase" }, ...phases.filter(({ flow }) => flow.functions.length > 0).map(({ name, word, flow }) => h("option", { value: name }, `${word} (${flow.functions.length} functions)`)));
  const filter = h("input", { type: "search", placeholder: "Filter functions", "aria-label": "Filter functions" });
  const select = h("select", { "aria-label": "Function" });
  const picture = new FlowPicture((id) => inspect(id));
  const tables = h("div");
  let here: Json[] = [];
  let current: Json | null = null;

  function inspect(id: string): void {
    const key = owner.get(id) ?? "";
    const node = here.find((each) => each.id === id);
    const edges = edgesOf.get(key) ?? [];
    if (!node) return;
    picture.mark(id);
    const near = (title: string, ids: string[]): Node | null => ids.length === 0 ? null : h("p", {}, `${title}: `, ...ids.slice(0, 20).flatMap((other) =>
      [button(show(model.named(other), 60), () => inspect(other), { class: "link data" }), " "]), ids.length > 20 ? shown(20, ids.length) : "");
    const from = edges.filter((edge) => edge.to === id).map((edge) => edge.from);
    const to = edges.filter((edge) => edge.from === id).map((edge) => edge.to);
    context.inspect(node.qualified_name ?? node.label, [pairs(node.kind === "operation" ? [
      ["Kind", "operation"], ["Gradient", text(node.gradient_rule)], ["Type", node.dtype_rule], ["Source", node.source], ["Time", known(node.avg_duration_ms) ? `${node.avg_duration_ms} ms a call, from a run` : null],
    ] : [
      ["Kind", "tensor"], ["Role", node.role], ["Shape", Array.isArray(node.shape) ? `(${node.shape.join(", ")})` : node.shape], ["Type", node.dtype], ["Gradient", gradient(node.grad_state)], ["Repeated", node.repeat_group],
    ]), ...[near("Comes from", from), near("Goes to", to)].filter((part): part is Node => part !== null)]);
  }

  function open(): void {
    const flows = model.data.views[phase.value].functions as Json[];
    current = flows.find((row) => row.id === select.value) ?? null;
    tables.replaceChildren();
    if (!current) {
      tables.append(empty("No function of that name."));
      return;
    }
    const row = current;
    here = inside.get(phase.value as "dataflow_train")?.get(row.id) ?? [];
    const edges = edgesOf.get(`${phase.value} ${row.id}`) ?? [];
    if (here.length === 0) {
      tables.append(empty(`This function is not in this page; \`candle-graph query ${phase.value === "dataflow_train" ? "graph-train" : "graph-infer"} --select NAME\` shows it.`));
      return;
    }
    const operations = here.filter((node) => node.kind === "operation");
    const tensors = here.filter((node) => node.kind !== "operation");
    const ends = (id: string, isIn: boolean): string => edges.filter((edge) => (isIn ? edge.to : edge.from) === id).map((edge) => model.named(isIn ? edge.from : edge.to)).join(", ");
    void picture.draw(row.label, here, edges);
    tables.append(table<Json>({
      caption: `Operations of ${show(row.label, 120)}`, rows: operations, total: row.operations, open: (node) => inspect(node.id), filter: (node) => `${node.qualified_name} ${node.label}`,
      columns: [
        { title: "Operation", cell: (node) => text(node.qualified_name || node.label, 160), key: (node) => node.qualified_name },
        { title: "Takes", cell: (node) => text(ends(node.id, true), 200) }, { title: "Makes", cell: (node) => text(ends(node.id, false), 120) },
        { title: "Gradient", cell: (node) => (String(node.gradient_rule).includes("Severs") ? h("span", { class: "bad" }, `\u2717 ${show(node.gradient_rule)}`) : text(node.gradient_rule)), key: (node) => node.gradient_rule },
        { title: "Type", cell: (node) => node.dtype_rule }, { title: "Source", cell: (node) => text(node.source) },
      ],
    }).element, table<Json>({
      caption: `Tensors of ${show(row.label, 120)}`, rows: tensors, total: row.tensors, open: (node) => inspect(node.id), filter: (node) => `${node.label} ${node.role}`,
      columns: [
        { title: "Tensor", cell: (node) => text(node.label, 160), key: (node) => node.label }, { title: "Role", cell: (node) => node.role, key: (node) => node.role },
        { title: "Shape", cell: (node) => text(Array.isArray(node.shape) ? `(${node.shape.join(", ")})` : node.shape, 160) },
        { title: "Type", cell: (node) => node.dtype, key: (node) => node.dtype ?? "" }, { title: "Gradient", cell: (node) => gradient(node.grad_state), key: (node) => node.grad_state },
      ],
    }).element);
  }

  function fill(wanted?: string): void {
    const flows = model.data.views[phase.value].functions as Json[];
    const word = filter.value.toLowerCase();
    const found = flows.filter((row) => row.label.toLowerCase().includes(word));
    const first = found.find((row) => row.id === wanted) ?? found.find((row) => row.is_entrypoint && inside.get(phase.value as "dataflow_train")?.has(row.id)) ?? found[0];
    const offered = found.slice(0, CHOICES);
    if (first && !offered.includes(first)) offered.push(first);
    select.replaceChildren(...offered.map((row) => h("option", { value: row.id }, `${show(row.label, 100)} (${row.operations} operations)`)),
      ...(found.length > CHOICES ? [h("option", { disabled: true }, `\u2026 ${shown(CHOICES, found.length)}: use the filter`)] : []));
    if (first) select.value = first.id;
    open();
  }

  phase.addEventListener("change", () => fill());
  filter.addEventListener("input", () => fill());
  select.addEventListener("change", () => {
    context.route.set({ phase: phase.value, function: select.value, about: null }, true);
    open();
  });
  root.append(h("p", { class: "soft" }, "One function at a time: boxes are operations, rounded ones tensors; an edge marked \u2717 is where a gradient ends."),
    h("div", { class: "tools" }, phase, filter, select), picture.element, legend([
      { sign: svg("rect", { x: 1, y: 3, width: 14, height: 10, rx: 2, fill: "none", stroke: "var(--fore)" }), words: "operation" },
      { sign: svg("rect", { x: 1, y: 3, width: 14, height: 10, rx: 5, fill: "none", stroke: "var(--good)", "stroke-width": 2 }), words: "tensor; its line has the colour of its gradient state" },
      { sign: svg("path", { d: "M0 8H16", stroke: "var(--bad)", "stroke-width": 2.5, "stroke-dasharray": "4 2" }), words: "gradient ends here" },
    ]), tables);
  const named = context.route.get("phase");
  if (named === "dataflow_train" || named === "dataflow_infer") phase.value = named;
  fill(context.route.get("function") ?? undefined);
  return {
    list,
    picture: () => picture.drawn,
    /* Show the function an id belongs to, or is. */
    choose(id) {
      const of = owner.get(id);
      const flow = of ? list.find((each) => `${each.phase} ${each.function.id}` === of) : list.find((each) => each.function.id === id);
      if (!flow) return false;
      phase.value = flow.phase;
      filter.value = "";
      fill(flow.function.id);
      if (of) inspect(id);
      return true;
    },
  };
}

/* ---- the view ---- */

const PARAMETERS = [
  { title: "Key", cell: (row: Json) => text(row.key, 200), key: (row: Json) => row.key },
  { title: "Shape", cell: (row: Json) => text(Array.isArray(row.shape) ? `(${row.shape.join(", ")})` : row.symbolic_shape, 200) },
  { title: "Certainty", cell: (row: Json) => text(known(row.condition) ? `${row.certainty}: ${row.condition}` : row.certainty, 200), key: (row: Json) => row.certainty ?? "" },
  { title: "Made by", cell: (row: Json) => text(row.param_kind), key: (row: Json) => row.param_kind ?? "" },
  { title: "Gradient", cell: (row: Json) => gradient(row.grad_state), key: (row: Json) => row.grad_state },
  { title: "Type", cell: (row: Json) => row.dtype },
  { title: "Role", cell: (row: Json) => row.role, key: (row: Json) => row.role },
  { title: "Source", cell: (row: Json) => text(row.source) },
];

const view: View = {
  id: "model",
  label: "Model",
  order: 80,
  available: (doc: Doc) => doc.model !== null,
  mount(root, context): Mounted {
    const model = modelOf(context.doc.model as Json);
    const { entries, roots } = entriesOf(model);
    const parametersOf = groupBy(model.data.views.structure.parameters, "module_id");
    const side = byId("cg-sidebar");
    const legendBox = byId("cg-legend");
    const details = h("div");
    let modules: TreeHandle | null = null;

    function show_(at: number): void {
      const entry = entries[at];
      const parameters: Json[] = [];
      const stack = [at];
      while (stack.length > 0) {
        const each = entries[stack.pop() as number];
        parameters.push(...(parametersOf.get(each.row.id) ?? []));
        stack.push(...each.children.slice().reverse());
      }
      const row = entry.row;
      details.replaceChildren(h("h2", {}, text(nameOf(entry), 200)), pairs([
        ["Kind", entry.isComponent ? "component" : "module"], ["Parameters", entry.own === entry.below ? count(entry.below) : `${count(entry.own)} of its own, ${count(entry.below)} with all below`],
        ...(entry.isComponent ? [["Modules", count(row.modules)]] : [["Prefix", known(row.prefix) && row.prefix !== "" ? row.prefix : "(root)"], ["Builder", row.builder_root], ["Repeated", row.repeat], ["Confidence", row.confidence]]) as [string, unknown][],
        ["Source", row.source],
      ]), parameters.length === 0 ? empty(entry.below > 0 ? `Its ${count(entry.below)} parameters are not in this page; \`candle-graph query parameters\` lists them.` : "No parameters of its own.") : table<Json>({
        caption: "Parameters", rows: parameters, total: Math.max(entry.below, parameters.length), columns: PARAMETERS, filter: (each) => `${each.key} ${each.param_kind ?? ""}`,
      }).element);
    }

    root.append(details);
    if (entries.length === 0) details.append(h("h2", {}, "Modules"), empty("No component was found: nothing in this crate makes a module from a VarBuilder."));
    else {
      const made = tree({
        name: "Modules",
        source: { roots, children: (node) => entries[node].children, parent: (node) => entries[node].parent, label: (node) => nameOf(entries[node]) },
        nodes: entries.map((_, at) => at),
        columns: [{ title: "Parameters", cell: (node) => count(entries[node].below) }],
        select: (node) => {
          show_(node);
          context.route.set({ module: entries[node].row.id, about: null }, true);
        },
      });
      const filter = h("input", { type: "search", placeholder: "Filter modules", "aria-label": "Filter modules" });
      filter.addEventListener("input", () => void made.filter(filter.value));
      const listed = entries.filter((entry) => !entry.isComponent).length;
      const total = model.whole("views.structure.modules", model.data.views.structure.modules);
      (side.querySelector("[data-module-tree]") as HTMLElement).replaceChildren(h("div", { class: "tools" }, filter), h("p", { class: "soft small" }, `Modules: ${shown(listed, total)}`), made.element);
      modules = made;
    }
    const flow = drawFlow(root, model, context);
    const stages: Json[] = model.data.views.pipeline.nodes;
    if (stages.length > 0)
      root.append(h("h2", {}, "Pipeline"), h("p", { class: "soft" }, "Guessed from names."), table<Json>({
        caption: "Stages", rows: stages, total: model.whole("views.pipeline.nodes", stages),
        columns: [
          { title: "Stage", cell: (row) => text(row.label, 120) }, { title: "Order", cell: (row) => count(row.order), number: true, key: (row) => Number(row.order) },
          { title: "Kind", cell: (row) => row.stage_kind }, { title: "Dispatch", cell: (row) => text(row.dispatch) }, { title: "Source", cell: (row) => text(row.source) },
        ],
      }).element);

    function go(id: string): void {
      const parameter = model.data.views.structure.parameters.find((row: Json) => row.id === id);
      const at = entries.findIndex((entry) => entry.row.id === (parameter ? parameter.module_id : id));
      if (at >= 0) {
        modules?.reveal(at);
        show_(at);
      } else {
        flow.choose(id);
      }
    }

    function route(): void {
      const id = context.route.get("about") ?? context.route.get("parameter") ?? context.route.get("module");
      if (id !== null) go(id);
      else if (entries.length > 0) show_(roots[0]);
    }

    const front = (isFront: boolean): void => {
      side.hidden = !isFront || modules === null;
      legendBox.hidden = !isFront;
    };
    front(true);
    if (modules && entries.length <= 400) modules.openTo(4);
    route();
    return {
      route,
      shown: () => front(true),
      hidden: () => front(false),
      keys: [["W S", "larger and smaller, on the data flow"], ["A D", "left and right, on the data flow"], ["F", "fit the data flow"]],
      ...(flow.list.length > 0 ? { picture: () => pictureText(flow.picture()) } : {}),
      search(query): Found {
        const word = query.toLowerCase();
        const found: Found = { total: 0, hits: [] };
        const add = (label: string, detail: string, act: () => void): void => {
          if (!label.toLowerCase().includes(word)) return;
          if (found.total++ < 50) found.hits.push({ label, detail, go: act });
        };
        entries.forEach((entry) => add(nameOf(entry), entry.isComponent ? "component" : `module ${entry.row.prefix ?? ""}`, () => go(entry.row.id)));
        for (const row of model.data.views.structure.parameters) add(row.key, "parameter", () => go(row.id));
        for (const each of flow.list) add(each.function.label, each.phase === "dataflow_train" ? "function, training" : "function, inference", () => void flow.choose(each.function.id));
        return found;
      },
    };
  },
};
export default view;
