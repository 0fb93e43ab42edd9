/*
 * Overview: what may be concluded and why. The page opens here, for a failed or an invalid capture as
 * well: then this is where the reason stands.
 */
import type { Json } from "../data";
import { empty, h, pairs, size, status, text, time } from "../dom";
import type { Doc } from "../doc";
import { table } from "../table";
import { bytes, count, known, show } from "../text";
import type { Run } from "../run";
import type { Context, View } from "../view";

/* Nested fields as `outer.inner`. */
function flatten(object: Json): [string, unknown][] {
  const out: [string, unknown][] = [];
  const stack: [string, Json][] = [["", object]];
  while (stack.length > 0) {
    const [name, value] = stack.pop() as [string, Json];
    if (Array.isArray(value)) {
      const isPlain = value.every((item) => typeof item !== "object");
      out.push([name, value.length === 0 ? "none" : !isPlain ? `${value.length} entries`
        : value.slice(0, 20).map((item) => show(item)).join(", ") + (value.length > 20 ? ` \u2026 (${value.length} in all)` : "")]);
    } else if (known(value) && typeof value === "object") {
      for (const key of Object.keys(value).reverse()) stack.push([name === "" ? key : `${name}.${key}`, value[key]]);
    } else {
      out.push([name, value]);
    }
  }
  return out;
}

const HEALTH: Record<string, string> = {
  complete: "The capture is whole and its records agree with each other: what stands below is derived from all of it.",
  failed: "The run ended before its measurement did. What was recorded until then is shown; no graph, no times and no costs are derived from it.",
  invalid: "The trace has errors: nothing may be concluded from times or memory. The issues below name what is wrong.",
};

function factValue(fact: Json): HTMLElement {
  const { kind, value } = fact.value;
  return kind === "duration_ns" ? time(value) : kind === "bytes" ? size(value)
    : kind === "count" ? h("span", {}, count(value)) : text(value);
}

function drawRun(root: HTMLElement, run: Run, context: Context): void {
  const evidence = run.payload.views.evidence;
  const word = run.health();
  const part = (title: string, ...content: Node[]) => root.append(h("h2", {}, title), ...content);
  const issues: Json[] = evidence.health.issues;

  part("Health", h("p", {}, status(word), " ", HEALTH[word]));
  if (known(evidence.health.failure_reason))
    root.append(h("p", {}, "Reason of the failure: ", text(evidence.health.failure_reason, 800)));
  root.append(issues.length === 0 ? empty("No issues.") : table<Json>({
    caption: "Health issues", rows: issues, total: run.whole("views.evidence.health.issues", issues),
    columns: [
      { title: "Severity", cell: (row) => status(row.severity), key: (row) => row.severity },
      { title: "Code", cell: (row) => row.code, key: (row) => row.code },
      { title: "Message", cell: (row) => text(row.message, 600) },
    ],
  }).element);

  part("What may be concluded", table<[string, Json]>({
    caption: "Capabilities", rows: Object.entries(evidence.capabilities),
    columns: [
      { title: "Capability", cell: (row) => row[0].replace(/_/g, " "), key: (row) => row[0] },
      { title: "Level", cell: (row) => status(row[1].level), key: (row) => row[1].level },
      { title: "Why", cell: (row) => text(row[1].reason, 400) },
      { title: "Source", cell: (row) => row[1].source },
    ],
  }).element);

  part("Findings", evidence.findings.length === 0 ? empty("No findings.") : table<Json>({
    caption: "Findings", rows: evidence.findings,
    columns: [
      { title: "Finding", cell: (row) => text(row.summary, 400) },
      { title: "Qualification", cell: (row) => status(row.qualification), key: (row) => row.qualification },
      { title: "Requires", cell: (row) => row.requires.join(", ") },
      { title: "Source", cell: (row) => row.source },
    ],
  }).element);

  part("Facts", evidence.facts.length === 0 ? empty("No facts.") : table<Json>({
    caption: "Facts", rows: evidence.facts,
    columns: [
      { title: "Fact", cell: (row) => row.label },
      { title: "Value", cell: factValue, number: true },
      { title: "Source", cell: (row) => row.source },
      { title: "Capability", cell: (row) => row.capability },
    ],
  }).element);

  const gaps: string[] = evidence.gaps;
  part("Gaps", gaps.length === 0 ? empty("No gaps.") : table<string>({
    caption: "What is not known", rows: gaps, total: run.whole("views.evidence.gaps", gaps),
    columns: [{ title: "Gap", cell: (row) => text(row, 800) }],
  }).element);

  const clocks: Json[] = evidence.timing.device_clocks;
  part("Clocks", clocks.length === 0
    ? empty("No device intervals were recorded: device time is unknown, not zero. Host times are times of the host alone.")
    : table<Json>({
      caption: "Device clocks, never on one axis with host time", rows: clocks,
      columns: [
        { title: "Device", cell: (row) => row.device },
        { title: "Clock", cell: (row) => row.clock_id },
        { title: "Intervals", cell: (row) => count(row.interval_count), number: true, key: (row) => BigInt(row.interval_count) },
        { title: "Busy", cell: (row) => time(row.busy_ns), number: true, key: (row) => BigInt(row.busy_ns) },
      ],
    }).element);

  part("Provenance", pairs(flatten(evidence.provenance)));

  const bounded = run.payload.bounded;
  if (bounded) {
    part("What this page leaves out", h("p", {}, `The island of JSON in this page is cut at ${bytes(bounded.limit_bytes)}. ` +
      "Views that read packed data are not concerned; `candle-graph import` prints everything."), table<Json>({
      caption: "Cut lists", rows: bounded.lists,
      columns: [
        { title: "List", cell: (row) => row.list },
        { title: "Here", cell: (row) => count(row.displayed), number: true },
        { title: "Of", cell: (row) => count(row.total), number: true },
      ],
    }).element);
  }
  void context;
}

function drawModel(root: HTMLElement, model: Json): void {
  const summary = model.summary;
  root.append(h("h2", {}, "Source"), pairs([
    ["Package", model.package],
    ["Model", summary.model_name],
    ["Entry points", summary.entrypoints.slice(0, 40).map((name: unknown) => show(name)).join(", ") +
      (summary.entrypoints.length > 40 ? ` \u2026 (shown 40 of ${summary.entrypoints.length})` : "")],
    ["Parameters", count(summary.total_parameters)],
    ["Given to an optimizer that was recognised", count(summary.trainable_parameters)],
    ...flatten(summary.findings_by_severity).map(([name, value]): [string, unknown] => [`Findings: ${name.toLowerCase()}`, value]),
    ...flatten(model.coverage).map(([name, value]): [string, unknown] => [`Coverage: ${name.replace(/_/g, " ")}`, value]),
  ]));
  root.append(h("h2", {}, "Diagnostics"), model.diagnostics.length === 0 ? empty("No errors and no warnings.") : table<Json>({
    caption: "Errors and warnings", rows: model.diagnostics,
    columns: [
      { title: "Severity", cell: (row) => status(row.severity), key: (row) => row.severity },
      { title: "Rule", cell: (row) => row.rule, key: (row) => row.rule },
      { title: "Message", cell: (row) => text(row.message, 600) },
      { title: "At", cell: (row) => text(typeof row.at === "object" && row.at !== null ? `${row.at.file}:${row.at.line}` : row.at) },
    ],
  }).element);
}

const view: View = {
  id: "evidence",
  label: "Overview",
  order: 10,
  available: (doc: Doc) => doc.run !== null || doc.model !== null,
  mount(root, context) {
    if (context.doc.run) drawRun(root, context.doc.run, context);
    if (context.doc.model) drawModel(root, context.doc.model);
  },
};
export default view;
