/* main - the page around the views: reads the data, makes the tabs, hands each view its context. */
import views from "cg:views";
import { type Doc, readDoc } from "./doc";
import { button, byId, h, text } from "./dom";
import { showHelp } from "./help";
import { Router } from "./router";
import { pngOf, save } from "./save";
import { startSearch } from "./search";
import { bytes, count, known, ms, show, shown } from "./text";
import { colour, onTheme, startTheme, toggleTheme } from "./theme";
import type { Context, Found, Mounted, View } from "./view";

const KEYS: [string, string][] = [
  ["/", "search in this view; Enter goes to the next hit"], ["?", "this help"], ["1 \u2026 9", "open a view"],
  ["t", "light or dark"], ["Escape", "close what is open, then deselect"],
];
const HITS = 50;

interface Shown {
  view: View;
  tab: HTMLElement;
  panel: HTMLElement;
  mounted: Mounted | null;
}

function ready(doc: Doc): void {
  const shown = new Map<string, Shown>();
  const listeners: ((id: string | null) => void)[] = [];
  const router = new Router(() => {
    const named = router.view;
    const was = current;
    open(shown.has(named) ? named : first, false, true);
    tellSelected();
    if (was === current) shown.get(current)?.mounted?.route?.();
  });
  let current = "";

  /* Tabs stand in the page's order; a view that the page does not name comes behind them. */
  for (const view of [...views].sort((a, b) => a.order - b.order || (a.id < b.id ? -1 : 1))) {
    if (!view.available(doc)) continue;
    const tab = document.getElementById(`tab-${view.id}`) ?? h("button", {
      type: "button", role: "tab", id: `tab-${view.id}`, "aria-controls": `view-${view.id}`,
    });
    const panel = document.getElementById(`view-${view.id}`) ?? h("section", {
      id: `view-${view.id}`, role: "tabpanel", "aria-labelledby": `tab-${view.id}`, tabindex: "0", hidden: true,
    });
    tab.textContent = view.label;
    shown.set(view.id, { view, tab, panel, mounted: null });
  }
  const names = [...shown.keys()];
  byId("cg-tabs").replaceChildren(...names.map((name) => (shown.get(name) as Shown).tab));
  byId("cg-views").replaceChildren(...names.map((name) => (shown.get(name) as Shown).panel));
  const first = names[0] ?? "";

  function tellSelected(): void {
    for (const listener of listeners) listener(router.selected);
  }

  function contextOf(id: string): Context {
    return {
      doc,
      route: {
        get: (name) => router.get(id, name),
        set: (values, replace) => router.set(id, values, replace),
      },
      get selected() {
        return router.selected;
      },
      select(next) {
        if (next === router.selected) return;
        router.select(next);
        tellSelected();
      },
      onSelect: (listener) => void listeners.push(listener),
      open(view, values) {
        if (values) router.set(view, values);
        open(view, true);
        shown.get(view)?.mounted?.route?.();
      },
      announce: (words) => (byId("cg-live").textContent = words),
      inspect,
      onTheme,
      colour,
      save,
    };
  }

  function inspect(title: string, content: Node[] | null): void {
    const pane = byId("cg-inspector");
    pane.hidden = content === null;
    if (content === null) return;
    pane.replaceChildren(h("div", { class: "tools" }, h("h2", {}, text(title, 120)),
      button("Close", () => { pane.hidden = true; }, { "aria-label": "Close the inspector" })), ...content);
  }

  function open(id: string, takesFocus: boolean, replace = false): void {
    const next = shown.get(id);
    if (next === undefined) return;
    if (current !== id) shown.get(current)?.mounted?.hidden?.();
    for (const { view, tab, panel } of shown.values()) {
      const isOpen = view.id === id;
      tab.setAttribute("aria-selected", String(isOpen));
      tab.tabIndex = isOpen ? 0 : -1;
      panel.hidden = !isOpen;
    }
    if (takesFocus) next.tab.focus();
    const changed = current !== id;
    current = id;
    router.go(id, replace || !changed);
    if (changed) byId("cg-inspector").hidden = true;
    if (next.mounted === null) next.mounted = next.view.mount(next.panel, contextOf(id)) ?? {};
    else if (changed) next.mounted.shown?.();
    for (const name of ["svg", "png"]) byId(`cg-${name}`).hidden = next.mounted.picture === undefined;
    search.refresh();
  }

  function find(query: string): Found {
    const own = shown.get(current)?.mounted?.search;
    if (own) return own(query);
    const nodes = doc.run?.nodes;
    const word = query.toLowerCase();
    const found: Found = { total: 0, hits: [] };
    for (let row = 0; nodes && row < nodes.rows; row++) {
      const name = nodes.name.text(row) ?? "";
      if (!name.toLowerCase().includes(word)) continue;
      if (found.total++ < HITS)
        found.hits.push({
          label: name, detail: nodes.kind.text(row) ?? "",
          go: () => contextOf(current).select(nodes.id.text(row)),
        });
    }
    return found;
  }

  byId("cg-tabs").addEventListener("click", (event) => {
    const tab = (event.target as Element).closest('[role="tab"]');
    if (tab) open(tab.id.slice(4), false);
  });
  byId("cg-tabs").addEventListener("keydown", (event) => {
    const at = names.indexOf(current);
    const to = { ArrowRight: (at + 1) % names.length, ArrowLeft: (at + names.length - 1) % names.length,
      Home: 0, End: names.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    open(names[to], true);
  });

  const mounted = (): Mounted => shown.get(current)?.mounted ?? {};
  const drawn = async (ending: string, type: string, made: (document: string) => string | Promise<Blob>): Promise<void> => {
    const name = `candle-graph-${current}.${ending}`;
    try {
      const document = mounted().picture?.() ?? null;
      if (document === null) throw new Error("nothing is drawn here");
      save(name, type, await made(document));
    } catch (error) {
      byId("cg-live").textContent = `There is no picture to save: ${show(error instanceof Error ? error.message : error)}.`;
    }
  };
  byId("cg-actions").prepend(
    button("SVG", () => void drawn("svg", "image/svg+xml", (document) => document),
      { id: "cg-svg", hidden: true, "aria-label": "Save the picture as SVG" }),
    button("PNG", () => void drawn("png", "image/png", pngOf),
      { id: "cg-png", hidden: true, "aria-label": "Save the picture as PNG" }),
    button("Print", () => print(), { id: "cg-print" }));
  const help = () => showHelp([["Everywhere", KEYS],
    ["Lists and trees", [["\u2191 \u2193 \u2190 \u2192", "move; open and close"], ["Home End", "first and last"], ["Enter", "select"]]],
    [shown.get(current)?.view.label ?? "", mounted().keys ?? []]]);
  byId("cg-help").addEventListener("click", help);
  const search = startSearch(find);

  document.addEventListener("keydown", (event) => {
    const on = event.target as Element;
    if (event.ctrlKey || event.metaKey || event.altKey || on.closest("input, select, textarea, dialog")) return;
    const number = Number(event.key);
    if (event.key === "/") search.focus();
    else if (event.key === "?") help();
    else if (event.key === "t") toggleTheme();
    else if (event.key === "Escape") {
      if (!byId("cg-inspector").hidden) byId("cg-inspector").hidden = true;
      else contextOf(current).select(null);
    } else if (number >= 1 && number <= names.length) open(names[number - 1], true);
    else return;
    event.preventDefault();
  });

  headline(doc);
  open(shown.has(router.view) ? router.view : first, false, true);
}

/* Of a page that has documents alone. */
function nameOfDocument(doc: Doc, parts: string[]): string {
  const cohorts = doc.islands.get("cg-comparison");
  const series = doc.islands.get("cg-series");
  const plan = doc.islands.get("cg-campaign");
  if (cohorts) {
    parts.push("two cohorts of runs", show(cohorts.verdict).replace(/_/g, " "));
    return cohorts.identity?.workload_id ?? "Comparison";
  }
  if (series) parts.push(`${count(series.inputs.length)} captures`);
  if (plan) parts.push(`${count(plan.published)} of ${count(plan.planned)} published`);
  return (series ?? plan)?.entrypoint ?? "";
}

/* What the header says. */
function headline(doc: Doc): void {
  const parts: string[] = [];
  const { run, model } = doc;
  let name = "";
  if (run) {
    const summary = run.payload.summary;
    name = summary.entrypoint;
    if (known(summary.outer_wall_time_ns)) parts.push("outer wall " + ms(summary.outer_wall_time_ns));
    if (known(summary.logical_peak_live_bytes)) parts.push("logical peak " + bytes(summary.logical_peak_live_bytes));
    parts.push(show(summary.phase), "capture " + run.health());
  }
  if (model) {
    name = name === "" ? (model.package ?? model.summary?.model_name ?? "") : name;
    parts.push(`${count(model.summary?.total_parameters)} parameters`);
  }
  if (name === "") name = nameOfDocument(doc, parts);
  /* Of a run the packed tables are whole; a model that is too large is cut, and every view of it with it. */
  const bounded = model?.bounded;
  if (bounded) {
    byId("cg-bounded").textContent = `The model is larger than a page holds (${bytes(bounded.limit_bytes)}): its lists show at most ` +
      `${count(bounded.row_limit)} rows. Cut: ` + bounded.lists.map((cut: { list: string; displayed: number; total: number }) =>
      `${cut.list} ${shown(cut.displayed, cut.total)}`).join(", ") + ". `candle-graph report` prints everything.";
    byId("cg-bounded").hidden = false;
  }
  byId("cg-title").replaceChildren(name === "" ? "Candle Graph" : text(name, 120));
  if (name !== "") document.title = `${show(name, 80)} \u00b7 Candle Graph`;
  byId("cg-headline").textContent = parts.join(" \u00b7 ");
}

startTheme();
readDoc().then(ready).catch((error: unknown) => {
  byId("main").prepend(h("p", { class: "note", role: "alert" },
    "This page could not read its data: " + show(error instanceof Error ? error.message : error, 400)));
  throw error;
});
