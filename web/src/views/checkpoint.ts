/* Checkpoint: why a file and the model do not fit, every key once. */
import type { Json } from "../data";
import type { Doc } from "../doc";
import { empty, h, pairs, status, text } from "../dom";
import { modelOf } from "../model";
import { table } from "../table";
import { count, known, shown } from "../text";
import type { Found, Mounted, View } from "../view";

const KEYS = 20;

function keys(list: string[]): HTMLElement {
  return h("div", {}, ...list.slice(0, KEYS).map((key) => h("div", {}, text(key, 200))), list.length > KEYS ? h("div", { class: "soft" }, shown(KEYS, list.length)) : null);
}

const axes = (value: unknown): string => (Array.isArray(value) ? `(${value.join(", ")})` : String(value ?? "\u2014"));

const view: View = {
  id: "checkpoint",
  label: "Checkpoint",
  order: 87,
  available: (doc: Doc) => known(doc.model?.checkpoint),
  mount(root, context): Mounted {
    const model = modelOf(context.doc.model as Json);
    const report = model.data.checkpoint;
    const fits = report.diagnosis.length === 0 && report.missing_certain.length === 0 && report.unclaimed.length === 0;
    const list = (title: string, path: string, rows: string[]): void => {
      root.append(rows.length === 0 ? empty(`${title}: none.`) : table<string>({
        caption: title, rows, total: model.whole(path, rows), filter: (row) => row, columns: [{ title: "Key", cell: (row) => text(row, 300), key: (row) => row }],
      }).element);
    };
    root.append(h("h2", {}, "Model and file"), h("p", { class: "lead" }, fits ? h("span", { class: "badge good" }, "\u2713 They fit") : h("span", { class: "badge bad" }, "\u2717 They do not fit")), pairs([
      ["Component", report.component], ["Root", report.root], ["Parameters matched", count(report.matched)],
      ["Tensors of the file", count(report.checkpoint_tensors)], ["Tensors matched", count(report.matched_tensors)],
      ["Shapes the code leaves open", count(report.shapes_open ?? 0)],
      ["Types", Object.entries(report.dtype_summary).map(([name, amount]) => `${name} ${String(amount)}`).join(", ")],
    ]), h("h2", {}, "Diagnosis"));
    root.append(report.diagnosis.length === 0 ? empty("Nothing to explain.") : table<Json>({
      caption: "Why", rows: report.diagnosis, total: model.whole("checkpoint.diagnosis", report.diagnosis),
      columns: [
        { title: "Cause", cell: (row) => status(row.code), key: (row) => row.code },
        { title: "Explanation", cell: (row) => text(row.explanation, 1000) },
        { title: "Model asks for", cell: (row) => keys(row.keys) },
        { title: "File has", cell: (row) => keys(row.file_keys) },
      ],
    }).element);
    root.append(h("h2", {}, "Keys"));
    list("Missing in the file", "checkpoint.missing_certain", report.missing_certain);
    list("Missing, if the code gets there", "checkpoint.missing_conditional", report.missing_conditional);
    list("In the file, asked for by nobody", "checkpoint.unclaimed", report.unclaimed);
    if (report.shape_mismatches.length > 0)
      root.append(table<Json>({
        caption: "Shapes that cannot be equal", rows: report.shape_mismatches, total: model.whole("checkpoint.shape_mismatches", report.shape_mismatches),
        columns: [
          { title: "Key", cell: (row) => text(row.key, 200), key: (row) => row.key },
          { title: "Model", cell: (row) => text(axes(row.model_shape)) }, { title: "File", cell: (row) => text(axes(row.file_shape)) },
        ],
      }).element);
    if (report.shards)
      root.append(table<Json>({
        caption: "Shards", rows: report.shards, total: model.whole("checkpoint.shards", report.shards),
        columns: [
          { title: "File", cell: (row) => text(row.file, 200) }, { title: "There", cell: (row) => (row.present ? "\u2713 yes" : "\u2717 no") },
          { title: "Tensors", cell: (row) => count(row.tensors), number: true, key: (row) => Number(row.tensors) },
        ],
      }).element);
    return {
      search(query): Found {
        const word = query.toLowerCase();
        const all: [string, string][] = [...report.missing_certain.map((key: string) => [key, "missing"]), ...report.missing_conditional.map((key: string) => [key, "missing, perhaps"]), ...report.unclaimed.map((key: string) => [key, "in the file only"]),
          ...report.shape_mismatches.map((row: Json) => [row.key, `another shape: model ${axes(row.model_shape)}, file ${axes(row.file_shape)}`])];
        const found = all.filter(([key]) => key.toLowerCase().includes(word));
        return { total: found.length, hits: found.slice(0, 50).map(([label, detail]) => ({ label, detail, go: () => context.inspect(label, [h("p", {}, detail)]) })) };
      },
    };
  },
};
export default view;
