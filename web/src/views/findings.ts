/* Findings: what is wrong in the source, where, in which lines, and what to do; worst first. */
import type { Json } from "../data";
import type { Doc } from "../doc";
import { button, empty, h, text } from "../dom";
import { excerpt, excerptsOf, modelOf, placeOf, severity } from "../model";
import { count, known, show, shown } from "../text";
import type { Context, Found, Mounted, View } from "../view";

const STEP = 50;
const ORDER = ["Error", "Warning", "Information"];

const view: View = {
  id: "findings",
  label: "Findings",
  order: 85,
  available: (doc: Doc) => doc.model !== null,
  mount(root, context: Context): Mounted {
    const model = modelOf(context.doc.model as Json);
    const items: Json[] = [...model.data.views.findings.items].sort((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity));
    const sources = context.doc.islands.get("cg-sources");
    const excerpts = excerptsOf(sources);
    const total = model.whole("views.findings.items", items);
    if (items.length === 0) {
      root.append(empty("Nothing was found that is wrong with these models. What the source does not tell is not judged."));
      return {};
    }
    const rules = new Map<string, number>();
    for (const row of items) rules.set(row.rule, (rules.get(row.rule) ?? 0) + 1);
    const level = h("select", { "aria-label": "Severity" }, h("option", { value: "" }, "every severity"), ...ORDER.filter((word) => items.some((row) => row.severity === word)).map((word) => h("option", { value: word }, word)));
    const rule = h("select", { "aria-label": "Code" }, h("option", { value: "" }, "every code"), ...[...rules].map(([name, amount]) => h("option", { value: name }, `${show(name, 80)} (${amount})`)));
    const note = h("p", { class: "soft", role: "status" });
    const list = h("div", { class: "findings" });
    const more = button("", () => grow());
    let kept = items;
    let here = 0;

    function article(row: Json): HTMLElement {
      const lines = excerpts.get(row.id);
      const related: string[] = row.related;
      const isChosen = context.route.get("finding") === row.id;
      return h("article", { class: isChosen ? "finding chosen" : "finding", "aria-current": isChosen ? "true" : undefined },
        h("h2", {}, severity(row.severity), " ", text(row.rule, 80), " ", h("span", { class: "soft" }, "at "), text(placeOf(row) || "no single place", 200)),
        h("p", {}, text(row.message, 1200)),
        lines ? excerpt(lines.lines, Number(lines.first_line), Number(row.location?.line)) : null,
        !lines && known(row.location) ? h("p", { class: "soft" }, sources ? "Its lines are not in this page." : "The page was made of a document, without the sources: no lines to show.") : null,
        known(row.help) ? h("p", {}, h("strong", {}, "What to do: "), text(row.help, 1200)) : null,
        h("p", { class: "soft" }, `Certainty: ${show(row.confidence)}`, known(row.function) ? " \u00b7 in " : "", known(row.function) ? text(row.function, 200) : "",
          related.length > 0 ? ` \u00b7 about ${shown(Math.min(12, related.length), related.length)}: ` : "",
          ...related.slice(0, 12).flatMap((id) => [button(show(model.named(id), 80), () => context.open("model", { about: id }), { class: "link data" }), " "])));
    }

    function grow(): void {
      const end = Math.min(kept.length, here + STEP);
      for (; here < end; here++) list.append(article(kept[here]));
      note.textContent = `Findings: ${shown(here, kept.length === items.length ? total : kept.length)}` +
        (kept.length === items.length ? "" : ` that match, of ${count(total)}`) + (sources && Number(sources.total) > sources.excerpts.length ? `; lines of source: ${shown(sources.excerpts.length, sources.total)}` : "");
      more.textContent = `Show ${Math.min(STEP, kept.length - here)} more`;
      more.hidden = here >= kept.length;
    }

    function select(): void {
      kept = items.filter((row) => (level.value === "" || row.severity === level.value) && (rule.value === "" || row.rule === rule.value));
      here = 0;
      list.replaceChildren();
      grow();
    }

    /* The finding that the fragment names comes first, whatever the filters say. */
    function route(): void {
      const id = context.route.get("finding");
      const chosen = items.find((row) => row.id === id);
      if (!chosen) {
        select();
        return;
      }
      level.value = rule.value = "";
      kept = [chosen, ...items.filter((row) => row !== chosen)];
      here = 0;
      list.replaceChildren();
      grow();
      list.firstElementChild?.scrollIntoView({ block: "nearest" });
    }

    level.addEventListener("change", select);
    rule.addEventListener("change", select);
    root.append(h("div", { class: "tools" }, level, rule), note, list, more);
    route();
    return {
      route,
      search(query): Found {
        const word = query.toLowerCase();
        const found = items.filter((row) => `${row.rule} ${row.message} ${placeOf(row)} ${row.function ?? ""}`.toLowerCase().includes(word));
        return {
          total: found.length,
          hits: found.slice(0, 50).map((row) => ({
            label: row.message, detail: `${row.rule} ${placeOf(row)}`,
            go: () => { context.route.set({ finding: row.id }); route(); },
          })),
        };
      },
    };
  },
};
export default view;
