/*
 * The page of a model. It reads the island `cg-payload` (candle-graph/viewer/1) and shows what the
 * source of a crate says as tables, with the means of common.js. A graph is shown one function at a
 * time, a structure one component at a time, so that a large crate is no heavier than a small one.
 */
(function () {
  const { DASH, byId, data, whole, show, known, bytes, make, text, empty, pairs, list, table, tabs, startTheme } = cg;
  const views = data.views;
  const words = (value) => Array.isArray(value) ? "(" + value.join(", ") + ")" : value;
  const certain = new Map([["Error", "bad"], ["Warning", "warn"], ["Information", "soft"]]);

  function severity(word) {
    return make("span", "badge " + (certain.get(word) || "bad"),
      (word === "Error" ? "\u2717 " : word === "Warning" ? "! " : "i ") + show(word));
  }

  function gradient(word) {
    const kinds = new Map([["Severed", "bad"], ["LayoutDependent", "warn"], ["Unknown", "soft"]]);
    return make("span", kinds.get(word) || "", show(word));
  }

  function group(rows, key) {
    const groups = new Map();
    for (const row of rows) {
      if (!groups.has(row[key])) groups.set(row[key], []);
      groups.get(row[key]).push(row);
    }
    return groups;
  }

  function button(label, act) {
    const element = make("button", "link data", show(label));
    element.type = "button";
    element.addEventListener("click", act);
    return element;
  }

  /*
   * A list to choose from with a filter before it; `draw` is called with what is chosen, at first
   * with `first`.
   */
  function chooser(into, title, rows, label, draw, first) {
    const filter = make("input");
    const select = make("select");
    const room = make("div");
    const most = 2000;
    let here = [];

    function fill() {
      const word = filter.value.toLowerCase();
      const found = rows.filter((row) => label(row).toLowerCase().includes(word));
      here = found.slice(0, most);
      select.replaceChildren(...here.map((row) => make("option", "", show(label(row), 120))));
      if (found.length > most)
        select.append(make("option", "", "\u2026 " + (found.length - most) + " more: use the filter"));
      open();
    }

    function open() {
      const row = here[select.selectedIndex];
      room.replaceChildren();
      if (row) draw(room, row);
      else room.append(empty("Nothing of that name."));
    }

    filter.type = "search";
    filter.placeholder = "Filter by name";
    filter.setAttribute("aria-label", "Filter: " + title);
    select.setAttribute("aria-label", title);
    filter.addEventListener("input", fill);
    select.addEventListener("change", open);
    function go(row) {
      filter.value = "";
      fill();
      select.selectedIndex = Math.max(0, here.indexOf(row));
      open();
    }

    into.append(make("div", "tools", filter, make("label", "", title + " ", select)), room);
    go(first);
    return go;
  }

  /* ---- what hangs together ---- */

  const nodes = views.architecture.nodes;
  const components = nodes.filter((node) => node.kind === "component");
  const moduleNodes = new Map(nodes.filter((node) => node.kind === "module").map((node) => [node.id, node]));
  const nameOf = new Map();
  for (const node of nodes) nameOf.set(node.id, node.qualified_name || node.label);
  for (const flow of [views.dataflow_train, views.dataflow_infer]) {
    for (const row of flow.functions) nameOf.set(row.id, row.label);
    for (const row of flow.nodes) nameOf.set(row.id, row.label);
  }
  for (const row of views.structure.parameters) nameOf.set(row.id, row.key);
  const named = (id) => nameOf.has(id) ? nameOf.get(id) : id;
  const parametersOf = group(views.structure.parameters, "module_id");

  const modulesOf = group(views.structure.modules, "component_id");

  /* ---- summary ---- */

  function drawSummary(into) {
    const summary = data.summary;
    const cargo = data.cargo;
    const found = summary.findings_by_severity;
    const rows = [["Package", data.package]];

    if (cargo) {
      rows.push(["Version", cargo.package_version]);
      for (const [name, version] of Object.entries(cargo.candle_packages)) rows.push([name, version]);
      rows.push(["Features", cargo.active_features.length === 0 ? "none" : cargo.active_features.join(", ")]);
      if (known(cargo.selected_target)) rows.push(["Target", cargo.selected_target]);
    }
    into.append(make("h2", "", "Crate"), pairs(rows), make("h2", "", "Findings"),
      Object.keys(found).length === 0 ? empty("No findings.")
        : pairs(["Error", "Warning", "Information"].filter((word) => known(found[word])).map((word) => [word, found[word]])));
    into.append(table("Components", [
      ["Component", (row) => button(row.qualified_name, () => openComponent(row))],
      ["Modules", (row) => row.modules, true],
      ["Parameters", (row) => row.parameters, true],
      ["Part of another", (row) => row.nested === true ? "yes" : DASH],
      ["Source", (row) => row.source],
    ], components.slice().sort((a, b) => (a.nested === true) - (b.nested === true)), 100, data.coverage.components));
    into.append(table("Views", [
      ["View", (row) => row[0].replace("_", " ")],
      ["Nodes", (row) => row[1].nodes, true], ["Edges", (row) => row[1].edges, true],
      ["Functions", (row) => row[1].functions, true], ["What it is", (row) => text(row[1].description, 400)],
    ], Object.entries(summary.views), 10));
    into.append(make("h2", "", "Entrypoints"), summary.entrypoints.length === 0 ? empty("None.")
      : table("Functions that are entered from outside", [["Function", (row) => row]],
        summary.entrypoints, 50, whole("summary.entrypoints", summary.entrypoints)));
    into.append(make("h2", "", "Coverage"), table("How much is known", [
      ["What", (row) => row[0].replace(/_/g, " ")], ["How many", (row) => row[1], true],
    ], Object.entries(data.coverage), 50));
    if (data.runtime)
      into.append(make("h2", "", "Run"), table("What a run added", [
        ["What", (row) => row[0].replace(/_/g, " ")], ["Value", (row) => row[1]],
      ], Object.entries(data.runtime).filter((row) => typeof row[1] !== "object"), 50));
  }

  /* ---- findings ---- */

  function place(row) {
    const at = row.location;
    return at ? at.file + ":" + at.line + ":" + at.column : row.source;
  }

  function drawFindings(into) {
    const items = views.findings.items;
    const order = ["Error", "Warning", "Information"];

    if (items.length === 0) {
      into.append(empty("No findings."));
      return;
    }
    into.append(table("Findings", [
      ["Severity", (row) => severity(row.severity)],
      ["Code", (row) => row.rule],
      ["Place", (row) => text(place(row), 300)],
      ["What", (row) => {
        const box = make("div", "", make("div", "", text(row.message, 1000)));
        if (known(row.help)) box.append(make("div", "soft", "help: ", text(row.help, 1000)));
        if (row.related.length > 0)
          box.append(make("div", "soft", "about: ", text(row.related.slice(0, 10).map(named).join(", ") +
            (row.related.length > 10 ? " and " + (row.related.length - 10) + " more" : ""), 600)));
        return box;
      }],
      ["Confidence", (row) => row.confidence],
      ["Function", (row) => row.function],
    ], items.slice().sort((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity)), 250,
    whole("views.findings.items", items)));
  }

  /* ---- checkpoint ---- */

  function keys(title, rows, path) {
    if (rows.length === 0) return empty(title + ": none.");
    return table(title, [["Key", (row) => text(row, 300)]], rows, 100, whole(path, rows));
  }

  function drawCheckpoint(into) {
    const report = data.checkpoint;

    into.append(make("h2", "", "Model and file"), pairs([
      ["Component", report.component], ["Root", report.root],
      ["Parameters matched", report.matched], ["Tensors of the file", report.checkpoint_tensors],
      ["Tensors matched", report.matched_tensors],
      ["Types", Object.entries(report.dtype_summary).map((row) => row[0] + " " + row[1]).join(", ")],
    ]));
    into.append(make("h2", "", "Diagnosis"));
    if (report.diagnosis.length === 0)
      into.append(empty("Model and file fit."));
    else
      into.append(table("Diagnosis", [
        ["Code", (row) => row.code],
        ["Why", (row) => text(row.explanation, 1000)],
        ["Model asks for", (row) => list(row.keys.slice(0, 20).concat(row.keys.length > 20 ? ["\u2026 " + row.keys.length + " in all"] : []))],
        ["File has", (row) => list(row.file_keys.slice(0, 20).concat(row.file_keys.length > 20 ? ["\u2026 " + row.file_keys.length + " in all"] : []))],
      ], report.diagnosis, 100, whole("checkpoint.diagnosis", report.diagnosis)));
    into.append(keys("Missing in the file", report.missing_certain, "checkpoint.missing_certain"));
    into.append(keys("Missing, if the code gets there", report.missing_conditional, "checkpoint.missing_conditional"));
    into.append(keys("In the file, asked for by nobody", report.unclaimed, "checkpoint.unclaimed"));
    if (report.shape_mismatches.length > 0)
      into.append(table("Shapes that cannot be equal", [
        ["Key", (row) => row.key], ["Model", (row) => words(row.model_shape)], ["File", (row) => words(row.file_shape)],
      ], report.shape_mismatches, 100, whole("checkpoint.shape_mismatches", report.shape_mismatches)));
    if (report.shards)
      into.append(table("Shards", [
        ["File", (row) => row.file], ["There", (row) => row.present ? "yes" : "no"], ["Tensors", (row) => row.tensors, true],
      ], report.shards, 100, whole("checkpoint.shards", report.shards)));
  }

  /* ---- architecture: the modules of one component ---- */

  let openComponent = () => {};

  /* Depth first; a module whose parent is not here stands at the top. */
  function moduleTree(rows) {
    const here = new Set(rows.map((row) => row.id));
    const children = new Map();
    const stack = [];
    const out = [];
    for (const row of rows) {
      if (!known(row.parent) || !here.has(row.parent)) stack.push([row, 0]);
      else if (children.has(row.parent)) children.get(row.parent).push(row);
      else children.set(row.parent, [row]);
    }
    for (const below of children.values()) below.reverse();
    stack.reverse();
    while (stack.length > 0) {
      const [row, level] = stack.pop();
      out.push([row, level]);
      for (const child of children.get(row.id) || []) stack.push([child, level + 1]);
    }
    return out;
  }

  function moduleName(row, level) {
    const name = make("span", "", text((known(row.field) ? row.field + ": " : "") + row.type_name, 200));
    name.style.paddingLeft = Math.min(level, 40) * 16 + "px";
    name.title = show(row.id, 400);
    return name;
  }

  function drawComponent(into, component) {
    const modules = modulesOf.get(component.id) || [];
    const parameters = [];
    const tree = moduleTree(modules);

    for (const [row] of tree)
      for (const parameter of parametersOf.get(row.id) || []) parameters.push(parameter);
    into.append(make("h2", "", text(component.qualified_name, 300)), pairs([
      ["Source", component.source], ["Modules", component.modules], ["Parameters", component.parameters],
    ]));
    if (tree.length > 0)
      into.append(table("Modules", [
        ["Module", (row) => moduleName(row[0], row[1])],
        ["Prefix", (row) => row[0].prefix],
        ["Repeated", (row) => row[0].repeat],
        ["Parameters", (row) => moduleNodes.has(row[0].id) ? moduleNodes.get(row[0].id).parameters : null, true],
        ["Builder", (row) => row[0].builder_root],
        ["Confidence", (row) => row[0].confidence],
        ["Source", (row) => row[0].source],
      ], tree, 250, component.modules));
    if (parameters.length === 0 && component.parameters > 0)
      into.append(empty("Its " + component.parameters + " parameters are not in this page; " +
        "`candle-graph query parameters` lists them."));
    if (parameters.length > 0)
      into.append(table("Parameters", [
        ["Key", (row) => text(row.key, 300)],
        ["Shape", (row) => text(row.symbolic_shape, 300)],
        ["Certainty", (row) => known(row.condition) ? text(row.certainty + ": " + row.condition, 300) : row.certainty],
        ["In the checkpoint", (row) => Array.isArray(row.shape) ? words(row.shape) + " " + (row.dtype || "") : DASH],
        ["Builder", (row) => row.builder_root],
        ["Role", (row) => row.role],
        ["Gradient", (row) => gradient(row.grad_state)],
        ["Made by", (row) => row.param_kind],
        ["Source", (row) => row.source],
      ], parameters, 250, component.parameters));
  }

  function drawArchitecture(into) {
    if (components.length === 0) {
      into.append(empty("No component was found: nothing in this crate makes a module from a VarBuilder."));
      return;
    }
    const first = components.slice().sort((a, b) => (a.nested === true) - (b.nested === true) || b.parameters - a.parameters);
    const go = chooser(into, "Component", first, (row) => row.qualified_name, drawComponent, first[0]);
    const edges = views.architecture.edges.filter((edge) => edge.from.startsWith("component:") && edge.to.startsWith("component:"));

    openComponent = (row) => { open("architecture", true); go(row); };
    if (edges.length > 0)
      into.append(make("h2", "", "What holds what"), table("Edges between components", [
        ["From", (row) => named(row.from)], ["To", (row) => named(row.to)], ["Kind", (row) => row.kind],
        ["Confidence", (row) => row.confidence], ["Source", (row) => row.source],
      ], edges, 100));
  }

  /* ---- data flow: one function at a time ---- */

  function drawFlow(name) {
    const flow = views[name];
    const label = (row) => row.label + " (" + row.operations + " operations)";
    let ready = null;

    /* Made when the view is first looked at. */
    function prepare() {
      const ends = new Map();
      for (const edge of flow.edges) {
        const at = edge.label === "in" ? edge.to : edge.from;
        if (!ends.has(at)) ends.set(at, { in: [], out: [], state: edge.grad_state });
        ends.get(at)[edge.label === "in" ? "in" : "out"].push(edge.label === "in" ? edge.from : edge.to);
      }
      ready = { ends, nodes: group(flow.nodes, "function") };
    }

    function drawFunction(into, row) {
      const here = ready.nodes.get(row.id) || [];
      const operations = here.filter((node) => node.kind === "operation");
      const tensors = here.filter((node) => node.kind !== "operation");
      const ends = (node) => ready.ends.get(node.id) || { in: [], out: [], state: "Unknown" };

      if (here.length === 0) {
        into.append(empty("This function is not in this page; `candle-graph query " +
          (name === "dataflow_train" ? "graph-train" : "graph-infer") + " --select NAME` shows it."));
        return;
      }
      into.append(table("Operations of " + show(row.label), [
        ["Operation", (node) => text(node.qualified_name || node.label, 200)],
        ["Takes", (node) => text(ends(node).in.map(named).join(", "), 300)],
        ["Makes", (node) => text(ends(node).out.map(named).join(", "), 200)],
        ["Gradient", (node) => gradient(ends(node).state)],
        ["Type", (node) => node.dtype_rule],
        ["Source", (node) => node.source],
      ], operations, 250, row.operations));
      into.append(table("Tensors of " + show(row.label), [
        ["Tensor", (node) => text(node.label, 200)],
        ["Role", (node) => node.role],
        ["Shape", (node) => text(words(node.shape), 200)],
        ["Type", (node) => node.dtype],
        ["Gradient", (node) => gradient(node.grad_state)],
      ], tensors, 250, row.tensors));
    }

    return (into) => {
      if (flow.functions.length === 0) {
        into.append(empty("No function of this phase computes anything that was understood."));
        return;
      }
      prepare();
      chooser(into, "Function", flow.functions, label, drawFunction,
        flow.functions.find((row) => ready.nodes.has(row.id)));
    };
  }

  /* ---- pipeline ---- */

  function drawPipeline(into) {
    const stages = views.pipeline.nodes;
    const before = group(views.pipeline.edges, "to");

    for (const row of stages) nameOf.set(row.id, row.label);
    if (stages.length === 0) {
      into.append(empty("No stages: they are guessed from names, with `--heuristic-architecture`."));
      return;
    }
    into.append(table("Stages", [
      ["Order", (row) => row.order, true], ["Stage", (row) => row.label], ["Kind", (row) => row.stage_kind],
      ["After", (row) => text(Array.from(new Set((before.get(row.id) || []).map((edge) => named(edge.from)))).join(", "), 300)],
      ["Dispatch", (row) => row.dispatch], ["Source", (row) => row.source],
    ], stages, 100, whole("views.pipeline.nodes", stages)));
  }

  /* ---- start ---- */

  const drawers = new Map([["summary", drawSummary], ["findings", drawFindings]]);
  if (data.checkpoint) {
    byId("tab-checkpoint").hidden = false;
    drawers.set("checkpoint", drawCheckpoint);
  }
  drawers.set("architecture", drawArchitecture);
  drawers.set("dataflow_train", drawFlow("dataflow_train"));
  drawers.set("dataflow_infer", drawFlow("dataflow_infer"));
  drawers.set("pipeline", drawPipeline);

  const open = tabs(drawers, (name) => {
    byId("cg-legend").hidden = !name.startsWith("dataflow") && name !== "architecture";
  });

  function start() {
    const summary = data.summary;
    const parts = [summary.views.architecture.nodes - data.coverage.modules + " components",
      summary.total_parameters + " parameters", data.coverage.operations + " operations",
      (summary.findings_by_severity.Error || 0) + " errors, " + (summary.findings_by_severity.Warning || 0) + " warnings"];

    byId("cg-title").replaceChildren(text(summary.model_name, 120));
    byId("cg-headline").textContent = parts.join(" \u00b7 ");
    if (data.bounded) {
      byId("cg-bounded").textContent = "This crate is larger than a page holds (" + bytes(data.bounded.limit_bytes) +
        "): components that are not part of another come first, and of functions the small ones. " +
        "`candle-graph report` prints everything. Cut: " + data.bounded.lists.map((cut) =>
        cut.list + " " + cut.displayed + " of " + cut.total).join(", ") + ".";
      byId("cg-bounded").hidden = false;
    }
    startTheme();
    /* A click in the summary may come before the view was looked at. */
    openComponent = (row) => { open("architecture", true); openComponent(row); };
    open("summary", false);
  }

  start();
})();
