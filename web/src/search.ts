/* search - the box in the header: what the view in front finds, as a list to choose from. */
import { byId, h, text } from "./dom";
import { count } from "./text";
import type { Found, Hit } from "./view";

export function startSearch(find: (query: string) => Found): { focus(): void; refresh(): void } {
  const list = h("div", { id: "cg-hits", role: "listbox", "aria-label": "Search results", hidden: true });
  const note = h("span", { class: "soft small", role: "status" });
  const input = h("input", {
    type: "search", id: "cg-query", placeholder: "Search  /", "aria-label": "Search in this view", autocomplete: "off",
    role: "combobox", "aria-controls": "cg-hits", "aria-expanded": "false", "aria-autocomplete": "list", spellcheck: "false",
  });
  let hits: Hit[] = [];
  let at = -1;

  function close(): void {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function mark(next: number): void {
    if (hits.length === 0) return;
    at = (next + hits.length) % hits.length;
    for (const [index, element] of [...list.children].entries()) {
      element.setAttribute("aria-selected", String(index === at));
      if (index === at) element.scrollIntoView({ block: "nearest" });
    }
    input.setAttribute("aria-activedescendant", `cg-hit-${at}`);
  }

  function choose(index: number): void {
    const hit = hits[index];
    if (hit === undefined) return;
    at = index;
    close();
    hit.go();
  }

  function run(): void {
    const query = input.value.trim();
    at = -1;
    if (query === "") {
      hits = [];
      note.textContent = "";
      close();
      return;
    }
    const found = find(query);
    hits = found.hits;
    note.textContent = found.total === 0 ? "nothing found"
      : found.total === hits.length ? `${count(found.total)} found` : `shown ${count(hits.length)} of ${count(found.total)}`;
    list.replaceChildren(...hits.map((hit, index) => h("div", {
      role: "option", id: `cg-hit-${index}`, "aria-selected": "false",
      on: { mousedown: (event: MouseEvent) => { event.preventDefault(); choose(index); } },
    }, text(hit.label, 90), hit.detail ? h("span", { class: "soft" }, " ", text(hit.detail, 60)) : null)));
    list.hidden = hits.length === 0;
    input.setAttribute("aria-expanded", String(hits.length > 0));
    input.removeAttribute("aria-activedescendant");
  }

  input.addEventListener("input", run);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (list.hidden) run();
      mark(event.key === "ArrowDown" ? at + 1 : at < 0 ? -1 : at - 1);
    } else if (event.key === "Enter") {
      // Enter again goes to the next one.
      if (list.hidden && hits.length > 0) choose((at + 1) % hits.length);
      else choose(Math.max(0, at));
    } else if (event.key === "Escape") {
      if (list.hidden) input.blur();
      close();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  });
  byId("cg-search").append(input, note, list);
  return { focus: () => { input.focus(); input.select(); }, refresh: run };
}
