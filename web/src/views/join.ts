/*
 * Join: what the source declares beside what its runs recorded. First what never ran, what never
 * learned and why, and what went non-finite and where it was foreseen; then every fact with the run,
 * the record and the rule by which it was tied to the source. Neither plane is taken for the other.
 */
import type { Json } from "../data";
import type { Doc } from "../doc";
import { button, empty, h, pairs, size, text, time } from "../dom";
import { excerpt, excerptsOf, type Excerpts, placeOf } from "../model";
import { table } from "../table";
import { count, known, show, shown } from "../text";
import type { Context, Found, Mounted, View } from "../view";
import { figures } from "./tensors";

const WORTH: Record<string, string> = Object.assign(Object.create(null), {
  full: "\u2713 full", diagnostic: "! for diagnosis only", nothing: "\u2717 nothing",
});
const worth = (word: unknown): HTMLElement => h("span", { class: word === "full" ? "good" : word === "diagnostic" ? "warn" : "bad" }, WORTH[String(word)] ?? show(word));
const plain = (word: unknown): string => show(word).replace(/_/g, " ");
const runsOf = (row: Json): string => row.runs.map((run: Json) => `#${run}`).join(", ");

/* A list of the document with how long it is outside of this page. */
interface Part {
  rows: Json[];
  total: number | string;
}
const part = (list: Json): Part => ({ rows: list?.rows ?? [], total: list?.total ?? 0 });

function link(context: Context, id: string | null, name: string): HTMLElement {
  return known(id) && context.doc.model ? button(show(name, 120), () => context.open("model", { about: id }), { class: "link data" }) : text(name, 200);
}

function findingLink(context: Context, id: string | null): HTMLElement | null {
  return known(id) && context.doc.model ? button("the finding", () => context.open("findings", { finding: id }), { class: "link" }) : null;
}

/* ---- summary ---- */

function drawSummary(root: HTMLElement, data: Json): void {
  const summary = data.summary;
  const gradients = summary.gradients;
  const items = ["components", "modules", "functions", "operations", "parameters", "tensors"].map((name) => ({ name, ...summary[name] }));
  const lead: [boolean, string][] = [
    [Number(data.declared_not_executed.total) > 0, `${count(data.declared_not_executed.total)} declared parts never ran`],
    [Number(gradients.never_learned) > 0, `${count(gradients.never_learned)} of ${count(gradients.observed)} parameters with a gradient never learned, ${count(gradients.explained)} explained by the source`],
    [Number(data.non_finite.total) > 0, `${count(data.non_finite.total)} labels or gradients went non-finite; ${count(summary.hazards_exercised)} of ${count(summary.hazards)} hazards were exercised`],
  ];
  root.append(h("h2", {}, "The source beside its runs"), h("ul", { class: "lead-list" }, ...lead.map(([bad, words]) =>
    h("li", {}, h("span", { class: `badge ${bad ? "warn" : "good"}` }, bad ? "!" : "\u2713"), ` ${words}.`))));
  if (summary.cannot_tell.length > 0)
    root.append(h("p", { class: "note" }, "What these runs cannot tell: ", ...summary.cannot_tell.slice(0, 20).map((words: string, at: number) => h("span", {}, at > 0 ? "; " : "", text(words, 300))),
      summary.cannot_tell.length > 20 ? ` (${shown(20, summary.cannot_tell.length)})` : ""));
  root.append(table<Json>({
    caption: "Declared and observed", rows: items,
    columns: [
      { title: "What", cell: (row) => row.name },
      { title: "Declared", cell: (row) => count(row.declared), number: true, key: (row) => Number(row.declared) },
      { title: "Observed", cell: (row) => count(row.observed), number: true, key: (row) => Number(row.observed) },
    ],
  }).element, table<Json>({
    caption: "Runs", rows: data.runs,
    columns: [
      { title: "Run", cell: (row) => h("span", {}, `#${row.run} `, text(row.run_id, 80)) },
      { title: "Worth", cell: (row) => worth(row.worth), key: (row) => row.worth },
      { title: "Why", cell: (row) => text(row.reason, 300) },
      { title: "Phase", cell: (row) => row.phase }, { title: "Step", cell: (row) => count(row.capture_step), number: true, key: (row) => Number(row.capture_step) },
      { title: "Entry point", cell: (row) => text(row.entrypoint, 120) },
      { title: "Gradients of", cell: (row) => text(row.roots.map((each: Json) => `${each.root} \u2192 ${each.component ?? "no component"} (${each.matched} of ${each.keys} keys)`).join("; "), 300) },
      { title: "From", cell: (row) => text(`${row.input} ${row.path}`, 200) },
    ],
  }).element);
}

/* ---- what does not meet ---- */

function drawAbsent(root: HTMLElement, data: Json, context: Context): void {
  const { rows, total } = part(data.declared_not_executed);
  root.append(h("h2", {}, "Never ran"));
  if (rows.length === 0) {
    root.append(empty("Of everything that was declared, nothing can be said not to have run."));
    return;
  }
  root.append(table<Json>({
    caption: "Declared, not executed", rows, total, filter: (row) => `${row.kind} ${row.name} ${row.explanation}`,
    columns: [
      { title: "Name", cell: (row) => link(context, row.id, row.name), key: (row) => row.name, plain: (row) => row.name },
      { title: "Kind", cell: (row) => row.kind, key: (row) => row.kind },
      { title: "How it is known", cell: (row) => text(row.explanation, 400) },
      { title: "Basis", cell: (row) => plain(row.basis), key: (row) => row.basis },
      { title: "Place", cell: (row) => text(placeOf(row)) },
      { title: "Runs", cell: runsOf },
      { title: "Foreseen", cell: (row) => findingLink(context, row.finding_id) ?? "\u2014" },
    ],
  }).element);
}

function drawReason(reason: Json, excerpts: Excerpts, context: Context): HTMLElement {
  const lines = excerpts.get(reason.finding_id);
  return h("div", {}, h("p", {}, text(reason.message, 600), " ", findingLink(context, reason.finding_id)),
    h("p", { class: "soft" }, `${show(reason.code)}, ${show(reason.confidence)}, tied by ${plain(reason.tie)}`, known(reason.location) ? " at " : "", known(reason.location) ? text(placeOf(reason)) : "",
      known(reason.condition) ? `; condition: ${plain(reason.condition)}` : ""),
    lines ? excerpt(lines.lines, Number(lines.first_line), Number(reason.location?.line)) : null,
    known(reason.help) ? h("p", {}, h("strong", {}, "What to do: "), text(reason.help, 600)) : null);
}

function statesOf(states: Json): HTMLElement {
  const words = [["present", "\u2713"], ["missing", "\u25cb"], ["zero", "0"], ["non_finite", "\u2717"]].filter(([name]) => Number(states[name]) > 0)
    .map(([name, sign]) => `${sign} ${name === "non_finite" ? "not finite" : name} ${count(states[name])}\u00d7`);
  return h("span", {}, words.join(", ") || "\u2014");
}

function drawStarved(root: HTMLElement, data: Json, excerpts: Excerpts, context: Context): void {
  const explained = part(data.gradient_missing_explained);
  const unexplained = part(data.gradient_missing_unexplained);
  root.append(h("h2", {}, "Never learned"));
  if (explained.rows.length === 0 && unexplained.rows.length === 0) {
    root.append(empty(Number(data.summary.gradients.observed) === 0 ? "No run recorded gradients: what learns is unknown." : "Every parameter whose gradient was recorded got one."));
    return;
  }
  /* Parameters with the same reasons stand together: one cut starves many. */
  const groups = new Map<string, { reasons: Json[]; rows: Json[] }>();
  for (const row of explained.rows) {
    const key = row.explained_by.map((reason: Json) => reason.finding_id).join("\n");
    const here = groups.get(key);
    if (here) here.rows.push(row);
    else groups.set(key, { reasons: row.explained_by, rows: [row] });
  }
  const columns = [
    { title: "Parameter", cell: (row: Json) => link(context, row.id, row.key), key: (row: Json) => row.key, plain: (row: Json) => row.key },
    { title: "Gradients", cell: (row: Json) => statesOf(row.states) },
    { title: "Module", cell: (row: Json) => text([row.module, row.module_type].filter(known).join(": "), 160) },
    { title: "Worth", cell: (row: Json) => worth(row.worth) }, { title: "Runs", cell: runsOf }, { title: "Place", cell: (row: Json) => text(placeOf(row)) },
  ];
  for (const { reasons, rows } of [...groups.values()].sort((a, b) => b.rows.length - a.rows.length).slice(0, 50))
    root.append(h("h3", {}, `${count(rows.length)} ${rows.length === 1 ? "parameter" : "parameters"}, explained`), ...reasons.slice(0, 4).map((reason) => drawReason(reason, excerpts, context)),
      reasons.length > 4 ? h("p", { class: "soft" }, `Reasons: ${shown(4, reasons.length)}.`) : "", table<Json>({ caption: `Parameters starved by ${show(reasons[0]?.operation ?? reasons[0]?.code ?? "an unknown cause", 60)} at ${show(placeOf(reasons[0] ?? {}), 60)}`, rows, columns }).element);
  if (groups.size > 50) root.append(h("p", { class: "soft" }, `Groups of one reason: ${shown(50, groups.size)}.`));
  if (explained.rows.length > 0) root.append(h("p", { class: "soft" }, `Explained parameters in this page: ${shown(explained.rows.length, explained.total)}.`));
  if (unexplained.rows.length > 0)
    root.append(h("h3", {}, "Not explained by the source"), table<Json>({ caption: "Parameters without a gradient, and nobody knows why", rows: unexplained.rows, total: unexplained.total, columns, filter: (row) => row.key }).element);
}

function drawNumbers(root: HTMLElement, data: Json, excerpts: Excerpts, context: Context): void {
  const broken = part(data.non_finite);
  const hazards = part(data.hazard_exercised);
  root.append(h("h2", {}, "Went non-finite"));
  if (broken.rows.length === 0) root.append(empty("Every number that was recorded is finite."));
  else
    root.append(table<Json>({
      caption: "Labels and gradients that were not finite", rows: broken.rows, total: broken.total, filter: (row) => `${row.label} ${row.span ?? ""} ${row.operation ?? ""}`,
      columns: [
        { title: "Label", cell: (row) => link(context, row.id, row.label), key: (row) => row.label, plain: (row) => row.label },
        { title: "Part", cell: (row) => h("span", { class: row.part === "origin" ? "bad" : "" }, `${row.part === "origin" ? "\u2717 " : ""}${plain(row.part)}`), key: (row) => row.part },
        { title: "Not finite", cell: (row) => `${count(row.non_finite)} of ${count(row.elements)}`, number: true, key: (row) => Number(row.non_finite) },
        { title: "Operation", cell: (row) => text(row.operation, 120) },
        { title: "Span", cell: (row) => text(row.span) }, { title: "Run", cell: (row) => h("span", {}, `#${row.run} `, text(row.run_id, 60)) },
        { title: "Worth", cell: (row) => worth(row.worth) }, { title: "Foreseen", cell: (row) => findingLink(context, row.finding_id) ?? "no" },
      ],
    }).element);
  if (hazards.rows.length === 0) return;
  root.append(h("h3", {}, "Hazards of the source that a run exercised"), h("p", { class: "soft" }, `Hazards: ${shown(Math.min(40, hazards.rows.length), hazards.total)}.`));
  for (const [number, row] of hazards.rows.slice(0, 40).entries()) {
    const lines = excerpts.get(row.finding_id);
    root.append(h("div", { class: "finding" }, h("p", {}, h("span", { class: `badge ${row.verdict === "shown" ? "bad" : "warn"}` }, row.verdict === "shown" ? "\u2717 shown" : "! consistent"),
      " ", text(row.message, 600), " ", findingLink(context, row.finding_id)), lines ? excerpt(lines.lines, Number(lines.first_line), Number(row.location?.line)) : null,
    known(row.help) ? h("p", {}, h("strong", {}, "What to do: "), text(row.help, 600)) : null,
    table<Json>({
      caption: `Hazard ${number + 1} is shown by`, rows: row.shown_by, total: row.shown_count,
      columns: [
        { title: "Label", cell: (one) => text(one.label, 160) }, { title: "Not finite", cell: (one) => `${count(one.non_finite)} of ${count(one.elements)}`, number: true },
        { title: "Span", cell: (one) => text(one.span) }, { title: "Run", cell: (one) => h("span", {}, `#${one.run} `, text(one.run_id, 60)) },
        { title: "Tied by", cell: (one) => plain(one.rule) }, { title: "Worth", cell: (one) => worth(one.worth) },
      ],
    }).element));
  }
}

function drawStrangers(root: HTMLElement, data: Json): void {
  const strangers = part(data.executed_not_declared);
  const doubts = part(data.ambiguous);
  root.append(h("h2", {}, "Ran, but is not declared"));
  root.append(strangers.rows.length === 0 ? empty("Every record has its place in the source.") : table<Json>({
    caption: "Records without a place in the source", rows: strangers.rows, total: strangers.total, filter: (row) => `${row.record} ${row.name}`,
    columns: [
      { title: "Name", cell: (row) => text(row.name, 200), key: (row) => row.name }, { title: "Record", cell: (row) => plain(row.record), key: (row) => row.record },
      { title: "Count", cell: (row) => count(row.count), number: true, key: (row) => Number(row.count) }, { title: "Runs", cell: runsOf }, { title: "Inside", cell: (row) => text(row.inside, 160) },
    ],
  }).element);
  if (doubts.rows.length > 0)
    root.append(h("h3", {}, "Could be several"), table<Json>({
      caption: "Records that several declarations fit", rows: doubts.rows, total: doubts.total, filter: (row) => row.name,
      columns: [
        { title: "Name", cell: (row) => text(row.name, 200), key: (row) => row.name }, { title: "Record", cell: (row) => plain(row.record) },
        { title: "Rule", cell: (row) => plain(row.rule) }, { title: "Candidates", cell: (row) => text(row.candidates.join(", ") + (Number(row.candidate_count) > row.candidates.length ? ` (${shown(row.candidates.length, row.candidate_count)})` : ""), 400) },
        { title: "Count", cell: (row) => count(row.count), number: true, key: (row) => Number(row.count) }, { title: "Runs", cell: runsOf },
      ],
    }).element);
}

/* ---- facts ---- */

function inspectRow(context: Context, row: Json): void {
  const facts: Node[] = row.observed.map((fact: Json) => h("div", {}, h("h3", {}, `Run #${fact.provenance.run}: ${plain(fact.provenance.record)}`), pairs([
    ["Count", count(fact.count)],
    ...(known(fact.host_total_ns) ? [["Host total", time(fact.host_total_ns)]] : []), ...(known(fact.host_self_ns) ? [["Host self", time(fact.host_self_ns)]] : []),
    ...(known(fact.device_ns) ? [["Device", time(fact.device_ns)]] : []), ...(known(fact.allocated_bytes) ? [["Allocated", size(fact.allocated_bytes)]] : []),
    ...(known(fact.dense_bytes) ? [["Dense", size(fact.dense_bytes)]] : []), ...(fact.dtypes ? [["Types", fact.dtypes.join(", ")]] : []), ...(fact.devices ? [["Devices", fact.devices.join(", ")]] : []),
    ...(fact.shapes ? [["Shapes", fact.shapes.map((each: Json) => `[${each.shape.join(", ")}] ${each.count}\u00d7`).join(", ")]] : []),
    ...(fact.gradient ? [["Gradients", statesOf(fact.gradient)]] : []),
    ...(fact.values ? [["Values", `largest ${figures(fact.values.abs_max)}, RMS up to ${figures(fact.values.rms_max)}, not finite ${fact.values.non_finite} of ${fact.values.elements}`]] : []),
    ["Provenance", h("span", {}, text(fact.provenance.run_id, 80), `, tied by ${plain(fact.provenance.rule)} to `, text(fact.provenance.names.join(", "), 300),
      Number(fact.provenance.name_count) > fact.provenance.names.length ? ` (${shown(fact.provenance.names.length, fact.provenance.name_count)})` : "", "; worth ", worth(fact.provenance.worth))],
  ] as [string, unknown][])));
  context.inspect(row.name, [h("p", {}, `${row.kind} `, link(context, row.id, row.name), " ", text(placeOf(row))), ...facts]);
}

function sum(row: Json, key: string): bigint | null {
  let total: bigint | null = null;
  for (const fact of row.observed) if (known(fact[key])) total = (total ?? 0n) + BigInt(fact[key]);
  return total;
}

function drawFacts(root: HTMLElement, data: Json, context: Context): void {
  const { rows, total } = part(data.rows);
  root.append(h("h2", {}, "What was observed of what is declared"));
  if (rows.length === 0) {
    root.append(empty("No record of these runs could be tied to the source."));
    return;
  }
  const states = (row: Json): HTMLElement => {
    const all = { present: 0, missing: 0, zero: 0, non_finite: 0 } as Record<string, number>;
    let has = false;
    for (const fact of row.observed) if (fact.gradient) for (const name of Object.keys(all)) { has = true; all[name] += Number(fact.gradient[name]); }
    return has ? statesOf(all) : h("span", {}, "\u2014");
  };
  root.append(table<Json>({
    caption: "Facts by declaration; open one for its provenance", rows, total, filter: (row) => `${row.kind} ${row.name} ${row.component ?? ""}`, open: (row) => inspectRow(context, row),
    columns: [
      { title: "Name", cell: (row) => text(row.name, 160), key: (row) => row.name }, { title: "Kind", cell: (row) => row.kind, key: (row) => row.kind },
      { title: "Records", cell: (row) => count(sum(row, "count")), number: true, key: (row) => sum(row, "count") },
      { title: "Host total", cell: (row) => time(sum(row, "host_total_ns")), number: true, key: (row) => sum(row, "host_total_ns") },
      { title: "Allocated", cell: (row) => size(sum(row, "allocated_bytes")), number: true, key: (row) => sum(row, "allocated_bytes") },
      { title: "Gradients", cell: states },
      { title: "Tied by", cell: (row) => text([...new Set(row.observed.map((fact: Json) => plain(fact.provenance.rule)))].join(", "), 160) },
      { title: "Runs", cell: (row) => [...new Set(row.observed.map((fact: Json) => `#${fact.provenance.run}`))].join(", ") },
      { title: "Place", cell: (row) => text(placeOf(row)) },
    ],
  }).element);
}

const view: View = {
  id: "join",
  label: "Join",
  order: 12,
  available: (doc: Doc) => doc.islands.has("cg-join"),
  mount(root, context): Mounted {
    const data = context.doc.islands.get("cg-join") as Json;
    const excerpts = excerptsOf(context.doc.islands.get("cg-sources"));
    if (context.doc.run && data.runs.length > 1)
      root.append(h("p", { class: "note" }, `The other views of this page show run #0; runs in them: ${shown(1, data.runs.length)}.`));
    drawSummary(root, data);
    drawAbsent(root, data, context);
    drawStarved(root, data, excerpts, context);
    drawNumbers(root, data, excerpts, context);
    drawStrangers(root, data);
    drawFacts(root, data, context);
    return {
      search(query): Found {
        const word = query.toLowerCase();
        const found: Found = { total: 0, hits: [] };
        const add = (label: string, detail: string, go: () => void): void => {
          if (!label.toLowerCase().includes(word)) return;
          if (found.total++ < 50) found.hits.push({ label, detail, go });
        };
        for (const row of part(data.declared_not_executed).rows) add(row.name, `${row.kind}, never ran`, () => context.inspect(row.name, [h("p", {}, text(row.explanation, 600))]));
        for (const row of [...part(data.gradient_missing_explained).rows, ...part(data.gradient_missing_unexplained).rows])
          add(row.key, "never learned", () => context.inspect(row.key, [h("p", {}, statesOf(row.states)), ...row.explained_by.slice(0, 4).map((reason: Json) => drawReason(reason, excerpts, context))]));
        for (const row of part(data.rows).rows) add(row.name, `${row.kind}, observed`, () => inspectRow(context, row));
        return found;
      },
    };
  },
};
export default view;
