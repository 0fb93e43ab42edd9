/*
 * The page of one run. It reads the island `cg-payload` (candle-graph/viewer/5) and shows five
 * views of it, with the means of common.js.
 */
(function () {
  const {
    DASH, byId, data, cuts, whole, show, known, ms, bytes, shape, yesNo,
    make, text, empty, time, size, pairs, list, table, tabs, startTheme,
  } = cg;
  const views = data.views;
  const gradientWord = (state) => state.replace("_", "-");
  /* A tensor takes no time of its own; the zeros of its row are not measurements. */
  const timeOf = (row, ns) => row.kind === "tensor" ? null : ns;

  function status(word) {
    const signs = new Map([["complete", "\u2713"], ["available", "\u2713"], ["bound", "\u2713"],
      ["partial", "\u25d0"], ["warning", "!"], ["unavailable", "\u25cb"]]);
    const kinds = new Map([["complete", "good"], ["available", "good"], ["bound", "good"],
      ["partial", "warn"], ["warning", "warn"], ["unavailable", "soft"]]);
    return make("span", "badge " + (kinds.get(word) || "bad"),
      (signs.get(word) || "\u2717") + " " + show(word));
  }

  /* ---- evidence ---- */

  function flatten(object, prefix, out) {
    for (const [key, value] of Object.entries(object)) {
      const name = prefix === "" ? key : prefix + "." + key;
      if (Array.isArray(value) && value.every((item) => typeof item !== "object"))
        out.push([name, value.length === 0 ? "none" : value.slice(0, 20).map((v) => show(v)).join(", ") +
          (value.length > 20 ? " \u2026 (" + value.length + " in all)" : "")]);
      else if (Array.isArray(value))
        out.push([name, value.length + " entries"]);
      else if (known(value) && typeof value === "object")
        flatten(value, name, out);
      else
        out.push([name, value]);
    }
    return out;
  }

  function healthWord() {
    if (!data.summary.structurally_valid) return "invalid";
    return data.summary.capture_complete ? "complete" : "failed";
  }

  function factValue(value) {
    if (value.kind === "duration_ns") return time(value.value);
    if (value.kind === "bytes") return size(value.value);
    return text(value.value);
  }

  function drawEvidence(into) {
    const evidence = views.evidence;
    const issues = evidence.health.issues;

    into.append(make("h2", "", "Health"), make("p", "", status(healthWord())));
    if (issues.length === 0)
      into.append(empty("No issues."));
    else
      into.append(table("Health issues", [
        ["Severity", (row) => status(row.severity)],
        ["Code", (row) => row.code],
        ["Message", (row) => text(row.message, 600)],
      ], issues, 100, whole("views.evidence.health.issues", issues)));

    into.append(make("h2", "", "What may be concluded"), table("Capabilities", [
      ["Capability", (row) => row[0].replace(/_/g, " ")],
      ["Level", (row) => status(row[1].level)],
      ["Source", (row) => row[1].source],
      ["Reason", (row) => text(row[1].reason, 400)],
    ], Object.entries(evidence.capabilities), 50));

    into.append(make("h2", "", "Findings"));
    if (evidence.findings.length === 0)
      into.append(empty("No findings."));
    else
      into.append(table("Findings", [
        ["Finding", (row) => text(row.summary, 400)],
        ["Qualification", (row) => status(row.qualification)],
        ["Requires", (row) => row.requires.join(", ")],
        ["Source", (row) => row.source],
      ], evidence.findings, 50));

    into.append(make("h2", "", "Facts"));
    if (evidence.facts.length === 0)
      into.append(empty("No facts."));
    else
      into.append(table("Facts", [
        ["Fact", (row) => row.label],
        ["Value", (row) => factValue(row.value)],
        ["Source", (row) => row.source],
        ["Capability", (row) => row.capability],
      ], evidence.facts, 50));

    into.append(make("h2", "", "Gaps"));
    into.append(evidence.gaps.length === 0 ? empty("No gaps.") : list(evidence.gaps.slice(0, 100)));
    if (Math.min(100, evidence.gaps.length) < Number(whole("views.evidence.gaps", evidence.gaps)))
      into.append(empty("showing " + Math.min(100, evidence.gaps.length) + " of " +
        whole("views.evidence.gaps", evidence.gaps)));

    into.append(make("h2", "", "Gradients"));
    if (data.gradients.length === 0)
      into.append(empty("No gradients were recorded."));
    else
      into.append(table("Gradients", [
        ["Parameter", (row) => row.key],
        ["Root", (row) => row.root],
        ["State", (row) => make("span", row.state === "present" ? "good" : "bad",
          (row.state === "present" ? "\u2713 " : "\u2717 ") + gradientWord(row.state))],
        ["Norm", (row) => row.norm, true],
      ], data.gradients, 250, whole("gradients", data.gradients)));

    into.append(make("h2", "", "Tensor checkpoints"));
    if (evidence.tensors.length === 0)
      into.append(empty("No tensors to show."));
    else
      into.append(table("Tensors", [
        ["Tensor", (row) => row.label || row.tensor_id],
        ["Shape", (row) => shape(row.shape)],
        ["Type", (row) => row.dtype],
        ["Device", (row) => row.device],
        ["Category", (row) => row.category],
        ["Span", (row) => row.span_id],
      ], evidence.tensors, 100, whole("views.evidence.tensors", evidence.tensors)));

    into.append(make("h2", "", "Tensor statistics"));
    if (evidence.tensor_stats.length === 0)
      into.append(empty("No tensor statistics were recorded."));
    else
      into.append(table("Tensor statistics", [
        ["Label", (row) => row.label],
        ["Elements", (row) => row.elements, true],
        ["Not finite", (row) => make("span", Number(row.non_finite) > 0 ? "bad" : "",
          (Number(row.non_finite) > 0 ? "\u2717 " : "") + row.non_finite), true],
        ["RMS", (row) => row.rms, true],
        ["Largest", (row) => row.abs_max, true],
        ["Mean", (row) => row.mean, true],
        ["Span", (row) => row.span_id],
      ], evidence.tensor_stats, 100, whole("views.evidence.tensor_stats", evidence.tensor_stats)));

    into.append(make("h2", "", "Device clocks"));
    if (evidence.timing.device_clocks.length === 0)
      into.append(empty("No device intervals were recorded: device time is unknown, not zero."));
    else
      into.append(table("Device clocks (never on one axis with host time)", [
        ["Device", (row) => row.device],
        ["Clock", (row) => row.clock_id],
        ["Intervals", (row) => row.interval_count, true],
        ["Busy", (row) => time(row.busy_ns), true],
      ], evidence.timing.device_clocks, 100));

    into.append(make("h2", "", "Provenance"), table("What the run says of itself", [
      ["Field", (row) => row[0]],
      ["Value", (row) => text(row[1], 400)],
    ], flatten(evidence.provenance, "", []), 100));
  }

  /* ---- selection and inspector ---- */

  const nodes = views.trace.nodes;
  const nodeOf = new Map(nodes.map((node) => [node.id, node]));
  let selected = null;
  let onSelect = () => {};

  function select(id) {
    if (!nodeOf.has(id)) return;
    selected = id;
    drawInspector();
    onSelect();
  }

  function drawEdges(into, title, end, other) {
    const edges = views.trace.edges.filter((edge) => edge[end] === selected);
    if (edges.length === 0) return;
    into.append(make("h3", "", title), table(title, [
      ["Node", (edge) => jump(edge[other])],
      ["Kind", (edge) => edge.kind],
      ["Label", (edge) => known(edge.label) ? text(edge.label) : time(edge.host_duration_ns)],
    ], edges, 50));
  }

  function jump(id) {
    const node = nodeOf.get(id);
    const button = make("button", "link data", show(node ? node.label : id));
    button.type = "button";
    button.addEventListener("click", () => select(id));
    return button;
  }

  function drawInspector() {
    const into = byId("cg-inspector");
    const node = nodeOf.get(selected);
    const peak = views.memory.logical && views.memory.logical.peak;

    into.replaceChildren(make("h2", "", "Inspector"));
    if (!node) {
      into.append(empty(nodes.length === 0 ? "Nothing to inspect." : "Select a node."));
      return;
    }
    into.append(make("p", "", text(node.label, 2000)), pairs([
      ["Kind", node.kind], ["Id", node.id],
      ["Host self", time(timeOf(node, node.host_self_time_ns))],
      ["Host total", time(timeOf(node, node.host_total_time_ns))],
      ["Start", time(timeOf(node, node.start_ns))],
      ["Shape", shape(node.shape)], ["Type", node.dtype], ["Device", node.device],
      ["Dense footprint", size(node.dense_bytes)], ["Allocated", size(node.allocated_bytes)],
      ["Peak live", size(node.peak_live_bytes)],
      ["Peak live, transients netted", size(node.peak_live_bytes_net)],
      ["Retained", size(node.residual_bytes)],
    ]));
    for (const row of node.device_timings)
      into.append(make("p", "", "Busy on ", text(row.device), ", clock ", text(row.clock_id), ": ", time(row.busy_ns)));
    const stats = views.evidence.tensor_stats.filter((row) => row.span_id === selected);
    if (stats.length > 0)
      into.append(table("Tensor statistics", [
        ["Label", (row) => row.label], ["RMS", (row) => row.rms, true],
        ["Not finite", (row) => row.non_finite, true],
      ], stats, 50));
    const held = peak ? peak.live_allocations.filter((row) => row.allocation_span_id === selected) : [];
    if (held.length > 0)
      into.append(make("h3", "", "Held at the logical peak"), storages("Storages allocated here", held));
    drawEdges(into, "Comes from", "to", "from");
    drawEdges(into, "Goes to", "from", "to");
  }

  /* ---- trace: a tree with bars on the host clock ---- */

  const ROW = 24;
  const isSpan = (node) => node.kind !== "op" && node.kind !== "tensor";

  function drawTrace(into) {
    if (nodes.length === 0) {
      into.append(empty("There is no derived graph: the capture failed or the trace is structurally invalid. See Evidence."));
      return;
    }

    const filter = make("input");
    const order = make("select", "", make("option", "", "by host time"), make("option", "", "by start"));
    const detail = make("input");
    const count = make("span", "soft");
    const tree = make("div", "tree");
    const room = make("div", "room");
    const folded = new Set();
    const matching = new Set();
    let children, roots, rows = [], from = 0, span = 1, active = 0;

    filter.type = "search";
    filter.placeholder = "Filter by name";
    filter.setAttribute("aria-label", "Filter by name");
    order.setAttribute("aria-label", "Order of siblings");
    detail.type = "checkbox";
    tree.tabIndex = 0;
    tree.setAttribute("role", "tree");
    tree.setAttribute("aria-label", "Spans");
    into.append(make("div", "tools", filter, make("label", "", "Order ", order),
      make("label", "", detail, " operations and tensors"), count),
    make("div", "row head", make("span", "", "Name"), make("span", "number", "Self"),
      make("span", "number", "Total"), make("span", "number", "Memory"), make("span", "", "Host clock")), tree);
    tree.append(room);

    let first = Infinity, last = 0;
    for (const node of nodes) {
      if (node.kind === "tensor") continue;
      first = Math.min(first, Number(node.start_ns));
      last = Math.max(last, Number(node.start_ns) + Number(node.host_total_time_ns));
    }
    from = first;
    span = Math.max(1, last - first);

    /* Who stands below whom; a node whose parent is not here stands at the top. */
    function arrange() {
      const shown = nodes.filter((node) => detail.checked || isSpan(node));
      const here = new Set(shown.map((node) => node.id));
      const key = order.selectedIndex === 0 ? (node) => -Number(node.host_total_time_ns)
        : (node) => Number(node.start_ns);
      const put = (list) => list.sort((a, b) => key(a) - key(b));
      children = new Map();
      roots = [];
      for (const node of shown) {
        if (!known(node.parent_id) || !here.has(node.parent_id)) roots.push(node);
        else if (children.has(node.parent_id)) children.get(node.parent_id).push(node);
        else children.set(node.parent_id, [node]);
      }
      put(roots);
      children.forEach(put);
      const spans = nodes.filter(isSpan).length;
      count.textContent = spans + " spans, " + (nodes.length - spans) + " operations and tensors, " +
        views.trace.edges.length + " edges" + (cuts.has("views.trace.nodes")
        ? "; showing " + nodes.length + " of " + cuts.get("views.trace.nodes") + " nodes" : "");
    }

    /* A match keeps all its ancestors. */
    function match() {
      const word = filter.value.toLowerCase();
      matching.clear();
      if (word === "") return;
      for (const node of nodes) {
        if (!node.label.toLowerCase().includes(word)) continue;
        for (let at = node; at && !matching.has(at.id); at = nodeOf.get(at.parent_id))
          matching.add(at.id);
      }
    }

    function list() {
      const filtering = filter.value !== "";
      const stack = roots.map((node) => [node, 1]).reverse();
      rows = [];
      while (stack.length > 0) {
        const [node, level] = stack.pop();
        if (filtering && !matching.has(node.id)) continue;
        const below = children.get(node.id);
        const open = filtering || !folded.has(node.id);
        rows.push({ node, level, below: below ? below.length : 0, open });
        if (below && open)
          for (let i = below.length - 1; i >= 0; i--) stack.push([below[i], level + 1]);
      }
      room.style.height = rows.length * ROW + "px";
      active = Math.min(active, Math.max(0, rows.length - 1));
      draw();
    }

    function drawRow(index) {
      const { node, level, below, open } = rows[index];
      const fold = make("span", "fold", below === 0 ? "" : open ? "\u25be" : "\u25b8");
      const name = make("span", "", fold, text(node.short_label, 120));
      const lane = make("span", "lane");
      const row = make("div", "row", name, make("span", "number", ms(timeOf(node, node.host_self_time_ns))),
        make("span", "number", ms(timeOf(node, node.host_total_time_ns))),
        make("span", "number", bytes(known(node.peak_live_bytes) ? node.peak_live_bytes : node.allocated_bytes)), lane);
      name.style.paddingLeft = Math.min(level - 1, 40) * 14 + "px";
      name.title = show(node.label, 400);
      if (node.kind !== "tensor") {
        const bar = make("i");
        bar.style.left = 100 * (Number(node.start_ns) - from) / span + "%";
        bar.style.width = 100 * Number(node.host_total_time_ns) / span + "%";
        lane.append(bar);
      }
      row.style.top = index * ROW + "px";
      row.id = "cg-row-" + index;
      row.setAttribute("role", "treeitem");
      row.setAttribute("aria-level", level);
      row.setAttribute("aria-selected", String(node.id === selected));
      row.setAttribute("aria-label", show(node.label, 200) + ", " + node.kind + ", total " +
        ms(node.host_total_time_ns) + ", self " + ms(node.host_self_time_ns));
      if (below > 0) row.setAttribute("aria-expanded", String(open));
      row.addEventListener("click", (event) => {
        active = index;
        if (event.target === fold) toggle(index, !open);
        else select(node.id);
      });
      return row;
    }

    /* Only what can be seen, and a little around it. */
    function draw() {
      const top = Math.max(0, Math.floor(tree.scrollTop / ROW) - 10);
      const end = Math.min(rows.length, top + Math.ceil((tree.clientHeight || 600) / ROW) + 20);
      const drawn = [];
      for (let i = top; i < end; i++) drawn.push(drawRow(i));
      room.replaceChildren(...drawn);
      if (active >= top && active < end) tree.setAttribute("aria-activedescendant", "cg-row-" + active);
      else tree.removeAttribute("aria-activedescendant");
    }

    function toggle(index, open) {
      const id = rows[index].node.id;
      if (open) folded.delete(id);
      else folded.add(id);
      list();
    }

    function go(index) {
      if (rows.length === 0) return;
      active = Math.max(0, Math.min(rows.length - 1, index));
      if (active * ROW < tree.scrollTop) tree.scrollTop = active * ROW;
      else if ((active + 1) * ROW > tree.scrollTop + tree.clientHeight)
        tree.scrollTop = (active + 1) * ROW - tree.clientHeight;
      select(rows[active].node.id);
    }

    function parentOf(index) {
      let at = index - 1;
      while (at >= 0 && rows[at].level >= rows[index].level) at--;
      return at < 0 ? index : at;
    }

    const keys = {
      ArrowDown: () => go(active + 1),
      ArrowUp: () => go(active - 1),
      Home: () => go(0),
      End: () => go(rows.length - 1),
      PageDown: () => go(active + 20),
      PageUp: () => go(active - 20),
      ArrowRight: () => rows[active].below > 0 && !rows[active].open ? toggle(active, true) : go(active + 1),
      ArrowLeft: () => rows[active].below > 0 && rows[active].open ? toggle(active, false) : go(parentOf(active)),
      Enter: () => go(active),
      " ": () => go(active),
    };
    tree.addEventListener("keydown", (event) => {
      if (!Object.prototype.hasOwnProperty.call(keys, event.key) || rows.length === 0) return;
      event.preventDefault();
      keys[event.key]();
    });
    tree.addEventListener("scroll", draw);
    window.addEventListener("resize", draw);
    filter.addEventListener("input", () => { match(); tree.scrollTop = 0; list(); });
    order.addEventListener("change", () => { arrange(); list(); });
    detail.addEventListener("change", () => { arrange(); match(); list(); });
    onSelect = draw;
    arrange();
    if (nodes.length > 500)
      for (const node of nodes)
        if (known(node.parent_id)) folded.add(node.id);
    list();
    redraw.set("trace", draw);
  }

  /* ---- span costs ---- */

  function drawCosts(into) {
    const items = views.span_costs.items;
    if (items.length === 0) {
      into.append(empty("There is no derived graph: the capture failed or the trace is structurally invalid. See Evidence."));
      return;
    }
    into.append(table("Nodes by host total time", [
      ["Name", (row) => jump(row.id)],
      ["Kind", (row) => row.kind],
      ["Self", (row) => time(timeOf(row, row.host_self_time_ns)), true],
      ["Total", (row) => time(timeOf(row, row.host_total_time_ns)), true],
      ["Device busy", (row) => make("span", "", ...row.device_timings.map((timing) =>
        make("div", "", text(timing.device), " / ", text(timing.clock_id), ": ", time(timing.busy_ns))),
      row.device_timings.length === 0 ? DASH : "")],
      ["Memory", (row) => size(known(row.peak_live_bytes) ? row.peak_live_bytes : row.allocated_bytes), true],
    ], items, 250, whole("views.span_costs.items", items)));
  }

  /* ---- memory ---- */

  function storages(title, rows, total) {
    const sorted = rows.slice().sort((a, b) => Number(b.bytes) - Number(a.bytes));
    return table(title, [
      ["Tensors", (row) => row.tensor_ids.map((id) => show(id, 60)).join(", ")],
      ["Operation", (row) => row.op_name],
      ["Size", (row) => size(row.bytes), true],
      ["Shape", (row) => shape(row.shape)],
      ["Type", (row) => row.dtype],
      ["Category", (row) => row.category],
      ["Device", (row) => row.device],
    ], sorted, 50, total);
  }

  /* Steps: a level holds until the next event. One column of the chart shows its highest level. */
  function drawChart(chart, points, peak) {
    const svg = chart.namespaceURI;
    const first = Number(points[0].timestamp_ns);
    const last = Number(points[points.length - 1].timestamp_ns);
    const wide = Math.max(1, last - first);
    let most = 1;
    for (const point of points) most = Math.max(most, Number(point.live_bytes));
    const x = (ns) => Math.round(1000 * (Number(ns) - first) / wide);
    const y = (level) => (232 - 224 * Number(level) / most).toFixed(1);
    const steps = ["M0 232"];
    for (let at = 0; at < points.length;) {
      const column = x(points[at].timestamp_ns);
      let top = 0, level = 0;
      for (; at < points.length && x(points[at].timestamp_ns) === column; at++) {
        level = Number(points[at].live_bytes);
        top = Math.max(top, level);
      }
      steps.push("H" + column + "V" + y(top) + "V" + y(level));
    }
    steps.push("H1000");
    const path = document.createElementNS(svg, "path");
    path.setAttribute("d", steps.join(""));
    chart.replaceChildren(path);
    if (peak) {
      const line = document.createElementNS(svg, "line");
      const at = x(peak.timestamp_ns);
      line.setAttribute("x1", at);
      line.setAttribute("x2", at);
      line.setAttribute("y1", 0);
      line.setAttribute("y2", 240);
      chart.append(line);
    }
    chart.setAttribute("aria-label", "Live bytes over host time, in steps, from " + ms(first) +
      " to " + ms(last) + ", highest " + bytes(most));
    chart.removeAttribute("hidden");
  }

  function drawMemory(into) {
    const chart = byId("cg-memory-chart");
    const logical = views.memory.logical;
    const physical = views.memory.physical;

    into.prepend(make("h2", "", "Logical storage"));
    if (!logical) {
      into.append(empty("No storage events were recorded: logical memory is unknown, not zero."));
    } else {
      const peak = logical.peak;
      into.insertBefore(pairs([
        ["Logical peak", peak ? size(peak.live_bytes) : DASH],
        ["at", peak ? time(peak.timestamp_ns) : DASH],
        ["Allocations", logical.storage_allocation_count],
        ["Matched frees", logical.matched_storage_free_count],
        ["Allocated in all", size(logical.total_allocated_bytes)],
      ]), chart);
      if (logical.timeline.length > 0) drawChart(chart, logical.timeline, peak);
      if (peak) {
        into.append(table("At the peak, by category", [
          ["Category", (row) => row[0]], ["Live", (row) => size(row[1]), true],
        ], Object.entries(peak.live_bytes_by_category), 50));
        into.append(storages("Storages at the peak", peak.live_allocations,
          whole("views.memory.logical.peak.live_allocations", peak.live_allocations)));
      }
      into.append(table("Devices", [
        ["Device", (row) => row.device],
        ["Allocations", (row) => row.storage_allocation_count, true],
        ["Matched frees", (row) => row.matched_storage_free_count, true],
        ["Allocated", (row) => size(row.total_allocated_bytes), true],
        ["Peak", (row) => size(row.peak_live_bytes), true],
      ], logical.by_device, 100));
      into.append(table("Points of the time line", [
        ["Host time", (row) => time(row.timestamp_ns), true],
        ["Live", (row) => size(row.live_bytes), true],
        ["By category", (row) => Object.entries(row.live_bytes_by_category)
          .map(([name, level]) => name + " " + bytes(level)).join(", ")],
      ], logical.timeline, 100, whole("views.memory.logical.timeline", logical.timeline)));
    }

    into.append(make("h2", "", "Physical memory"));
    if (!physical)
      into.append(empty("No samples of device memory were recorded: physical memory is unknown, not zero."));
    else
      into.append(table("Devices", [
        ["Device", (row) => row.device],
        ["Samples", (row) => row.sample_count, true],
        ["Most used", (row) => size(row.peak_used_bytes), true],
        ["Most reserved", (row) => size(row.peak_reserved_bytes), true],
        ["Least free", (row) => size(row.minimum_free_bytes), true],
        ["Capacity", (row) => size(row.maximum_observed_capacity_bytes), true],
      ], physical.by_device, 100));
  }

  /* ---- GPU ---- */

  function gpuTable(title, rows, columns) {
    return rows.length === 0 ? empty(title + ": none.") : table(title, columns, rows, 250);
  }

  function timelineColumns() {
    return [
      ["Name", (row) => row.name], ["Label", (row) => row.semantic_key],
      ["Device", (row) => row.device], ["Context", (row) => row.context], ["Stream", (row) => row.stream],
      ["Correlation", (row) => row.correlation_id],
      ["Start (GPU clock)", (row) => time(row.start_ns), true], ["Duration", (row) => time(row.duration_ns), true],
      ["Projected start", (row) => time(row.projected_start_ns), true],
      ["Projected duration", (row) => time(row.projected_duration_ns), true],
      ["Operations", (row) => row.gpu_operations, true],
    ];
  }

  function drawGpu(into) {
    const gpu = views.gpu;
    const levels = ["invalid", "unavailable", "partial"];
    const worst = levels.find((level) => gpu.correlation_capability.level === level ||
      gpu.provenance_capability.level === level) || gpu.status;

    into.append(make("h2", "", "GPU evidence"), make("p", "", status(worst)), pairs([
      ["Status", status(gpu.status)],
      ["Correlation", status(gpu.correlation_capability.level)], ["Why", gpu.correlation_capability.reason],
      ["Provenance", status(gpu.provenance_capability.level)], ["Why", gpu.provenance_capability.reason],
    ]));
    if (gpu.status !== "available") {
      into.append(make("p", "note", "Not available: ", text(gpu.reason || "no Nsight evidence", 400)));
      if (gpu.diagnostics.length + gpu.provenance.diagnostics.length > 0)
        into.append(make("h3", "", "Diagnostics"), list(gpu.diagnostics.concat(gpu.provenance.diagnostics).slice(0, 100)));
      return;
    }
    const artifacts = (gpu.raw_report ? [gpu.raw_report] : []).concat(gpu.source_csv);
    into.append(gpuTable("Artifacts", artifacts, [
      ["File", (row) => row.path], ["Size", (row) => size(row.size_bytes), true], ["SHA-256", (row) => row.sha256],
    ]));
    into.append(make("h3", "", "Coverage"), pairs(Object.entries(gpu.coverage).map(([name, value]) => [name.replace(/_/g, " "), yesNo(value)])));
    into.append(make("h3", "", "Correlation"), pairs([
      ["Binding", status(gpu.provenance.binding)], ["Mode", gpu.correlation.mode],
      ["Clock aligned", yesNo(gpu.correlation.clock_aligned)], ["Complete", yesNo(gpu.correlation.complete)],
      ["Reason", gpu.correlation.reason],
    ].concat(Object.entries(gpu.correlation.ledger).filter((entry) => entry[0] !== "duplicates")
      .map(([name, labels]) => [name.replace(/_/g, " "), labels.length === 0 ? "none" : labels.slice(0, 50).map((label) => show(label, 80)).join(", ") +
        (labels.length > 50 ? " \u2026 (" + labels.length + " in all)" : "")]))));
    into.append(gpuTable("Limits", Object.entries(gpu.limits), [
      ["File", (row) => row[0]], ["Rows", (row) => row[1].total_rows, true],
      ["Kept", (row) => row[1].displayed_rows, true], ["Cut", (row) => yesNo(row[1].truncated)],
    ]));
    const notes = gpu.diagnostics.concat(gpu.provenance.diagnostics);
    into.append(make("h3", "", "Diagnostics"), notes.length === 0 ? empty("None.") : list(notes.slice(0, 250)));
    into.append(make("h3", "", "Measured on the GPU's clock, never added to host time"));
    into.append(gpuTable("Phase attribution", gpu.phase_attribution, [
      ["Label", (row) => row.semantic_key], ["Busy", (row) => time(row.gpu_busy_ns), true],
      ["Operations", (row) => row.gpu_operation_count, true],
      ["Projected start", (row) => time(row.projected_start_ns), true],
      ["Projected duration", (row) => time(row.projected_duration_ns), true],
      ["Joined by", (row) => row.join_keys.join(", ")],
    ]));
    into.append(gpuTable("Projected ranges", gpu.nvtx_ranges, timelineColumns()));
    for (const [title, rows] of [["Kernels", gpu.kernels], ["Runtime calls", gpu.runtime_calls], ["Memory operations", gpu.memory_operations]])
      into.append(gpuTable(title, rows, [
        ["Name", (row) => row.name], ["Total", (row) => time(row.total_ns), true], ["Count", (row) => row.count, true],
        ["Average", (row) => time(row.average_ns), true], ["Least", (row) => time(row.minimum_ns), true],
        ["Most", (row) => time(row.maximum_ns), true],
      ]));
    into.append(gpuTable("GPU timeline", gpu.gpu_timeline, timelineColumns()));
  }

  /* ---- the page around the views ---- */

  const drawers = new Map([["evidence", drawEvidence], ["trace", drawTrace], ["span_costs", drawCosts],
    ["memory", drawMemory], ["gpu", drawGpu]]);
  const redraw = new Map();

  function opened(name, isFirst) {
    byId("cg-inspector").hidden = name !== "trace" && name !== "span_costs";
    if (!isFirst && redraw.has(name)) redraw.get(name)();
  }

  function start() {
    const summary = data.summary;
    const parts = [];

    byId("cg-title").replaceChildren(text(summary.entrypoint, 120));
    if (known(summary.outer_wall_time_ns)) parts.push("outer wall " + ms(summary.outer_wall_time_ns));
    if (known(summary.logical_peak_live_bytes)) parts.push("logical peak " + bytes(summary.logical_peak_live_bytes));
    parts.push(show(summary.phase), "capture " + healthWord());
    byId("cg-headline").textContent = parts.join(" \u00b7 ");
    if (data.bounded) {
      byId("cg-bounded").textContent = "This run is larger than a page holds (" + bytes(data.bounded.limit_bytes) +
        "): lists show at most " + data.bounded.row_limit + " rows, the largest first where that has a meaning. " +
        "`candle-graph import` prints everything. Cut: " + data.bounded.lists.map((cut) =>
        cut.list + " " + cut.displayed + " of " + cut.total).join(", ") + ".";
      byId("cg-bounded").hidden = false;
    }
    startTheme();
    drawInspector();
    tabs(drawers, opened)(drawers.has(data.default_view) ? data.default_view : "evidence", false);
  }

  start();
})();
