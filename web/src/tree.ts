/*
 * tree - a tree of numbered nodes with columns beside it. Only visible rows are in the document, so
 * that a million nodes are no heavier than a hundred. Keyboard as in any tree: up, down, left, right,
 * Home, End, Enter; the focus stays on the tree, which names its active row. A filter keeps what
 * matches together with the way down to it.
 */
import { type Child, h, text } from "./dom";
import { count } from "./text";

export interface TreeSource {
  roots: ArrayLike<number>;
  /* In the order to show them. */
  children(node: number): ArrayLike<number>;
  parent(node: number): number;
  label(node: number): string;
}

export interface TreeOptions {
  name: string;
  source: TreeSource;
  columns?: { title: string; cell(node: number): Child }[];
  /* All that a filter has to look through. */
  nodes: ArrayLike<number>;
  select(node: number): void;
}

export interface TreeHandle {
  element: HTMLElement;
  /* Mark a node, open the way to it and scroll there; -1: none. */
  reveal(node: number): void;
  /* Show only what matches; the empty text shows all. How many match. */
  filter(word: string): number;
  openTo(depth: number): void;
}

const HEIGHT = 26;
let serial = 0;

export function tree(options: TreeOptions): TreeHandle {
  const { source } = options;
  const id = `cg-tree-${++serial}`;
  const open = new Set<number>();
  let passes: Set<number> | null = null; /* matches and the way to them */
  let visible: { node: number; level: number; at: number; of: number }[] = [];
  let active = -1; /* index into visible */
  let selected = -1;

  const room = h("div", { class: "room", role: "none" });
  const box = h("div", {
    class: "tree", role: "tree", tabindex: "0", "aria-label": options.name, id,
  });
  const head = h("div", { class: "row head", "aria-hidden": "true" },
    h("span", {}, options.name), ...(options.columns ?? []).map((column) => h("span", { class: "number", title: column.title }, column.title)));
  box.append(head, room);
  const note = h("p", { class: "soft small", role: "status" });
  const element = h("div", { class: "tree-box" }, box, note);
  element.style.setProperty("--columns", String(options.columns?.length ?? 0));

  function childrenOf(node: number): ArrayLike<number> {
    const all = source.children(node);
    const kept = passes;
    return kept === null ? all : Array.from(all).filter((child) => kept.has(child));
  }

  function list(): void {
    const keep = visible[active]?.node ?? -1;
    const out: typeof visible = [];
    const stack: { of: ArrayLike<number>; at: number; level: number }[] = [];
    const kept = passes;
    const roots = kept === null ? source.roots : Array.from(source.roots).filter((root) => kept.has(root));
    stack.push({ of: roots, at: 0, level: 1 });
    while (stack.length > 0) {
      const top = stack[stack.length - 1];
      if (top.at >= top.of.length) {
        stack.pop();
        continue;
      }
      const node = top.of[top.at++];
      out.push({ node, level: top.level, at: top.at, of: top.of.length });
      if (open.has(node) || kept !== null) {
        const below = childrenOf(node);
        if (below.length > 0) stack.push({ of: below, at: 0, level: top.level + 1 });
      }
    }
    visible = out;
    active = keep < 0 ? (out.length > 0 ? 0 : -1) : out.findIndex((row) => row.node === keep);
    if (active < 0 && out.length > 0) active = 0;
    room.style.setProperty("height", `${out.length * HEIGHT}px`);
    draw();
  }

  function draw(): void {
    const first = Math.max(0, Math.floor(box.scrollTop / HEIGHT) - 8);
    const end = Math.min(visible.length, first + Math.ceil((box.clientHeight || 480) / HEIGHT) + 16);
    const rows: HTMLElement[] = [];
    for (let at = first; at < end; at++) rows.push(rowAt(at));
    // The active row stays in the document, or the name that the tree points to would be gone.
    if (active >= 0 && (active < first || active >= end)) rows.push(rowAt(active));
    room.replaceChildren(...rows);
    if (active >= 0) box.setAttribute("aria-activedescendant", `${id}-${visible[active].node}`);
    else box.removeAttribute("aria-activedescendant");
  }

  function rowAt(at: number): HTMLElement {
    const { node, level, at: place, of } = visible[at];
    const has = childrenOf(node).length > 0;
    const isOpen = has && (open.has(node) || passes !== null);
    const label = source.label(node);
    return h("div", {
      class: `row${at === active ? " active" : ""}`, role: "treeitem", id: `${id}-${node}`, "aria-level": level,
      "aria-setsize": of, "aria-posinset": place, "aria-expanded": has ? String(isOpen) : undefined,
      "aria-selected": String(node === selected), style: { top: `${at * HEIGHT}px` },
      on: {
        click: (event: MouseEvent) => {
          active = at;
          if (has && (event.target as Element).classList.contains("fold")) toggle(node);
          else choose(at);
        },
        dblclick: () => has && toggle(node),
      },
    },
    h("span", { class: "name", title: label.length > 40 ? text(label, 400).textContent : undefined,
      style: { "padding-left": `${Math.min(level - 1, 24) * 14}px` } },
    h("span", { class: "fold", "aria-hidden": "true" }, has ? (isOpen ? "\u25be" : "\u25b8") : ""), text(label)),
    ...(options.columns ?? []).map((column) => h("span", { class: "number" }, column.cell(node))));
  }

  function toggle(node: number): void {
    if (!open.delete(node)) open.add(node);
    list();
  }

  function choose(at: number): void {
    active = at;
    selected = visible[at].node;
    draw();
    options.select(selected);
  }

  function move(to: number): void {
    if (visible.length === 0) return;
    active = Math.max(0, Math.min(visible.length - 1, to));
    show();
    draw();
  }

  function show(): void {
    const y = active * HEIGHT;
    if (y < box.scrollTop) box.scrollTop = y;
    else if (y + 2 * HEIGHT > box.scrollTop + box.clientHeight) box.scrollTop = y + 2 * HEIGHT - box.clientHeight;
  }

  box.addEventListener("scroll", () => draw(), { passive: true });
  box.addEventListener("keydown", (event) => {
    const row = visible[active];
    if (row === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const has = childrenOf(row.node).length > 0;
    const page = Math.max(1, Math.floor(box.clientHeight / HEIGHT) - 1);
    if (event.key === "ArrowDown") move(active + 1);
    else if (event.key === "ArrowUp") move(active - 1);
    else if (event.key === "Home") move(0);
    else if (event.key === "End") move(visible.length - 1);
    else if (event.key === "PageDown") move(active + page);
    else if (event.key === "PageUp") move(active - page);
    else if (event.key === "ArrowRight") {
      if (has && !open.has(row.node) && passes === null) toggle(row.node);
      else if (has) move(active + 1);
    } else if (event.key === "ArrowLeft") {
      if (has && open.has(row.node) && passes === null) toggle(row.node);
      else move(Math.max(0, visible.findIndex((other) => other.node === source.parent(row.node))));
    } else if (event.key === "Enter" || event.key === " ") choose(active);
    else return;
    event.preventDefault();
  });

  list();
  return {
    element,
    reveal(node) {
      selected = node;
      if (node < 0) {
        draw();
        return;
      }
      for (let above = source.parent(node); above >= 0; above = source.parent(above)) open.add(above);
      list();
      const at = visible.findIndex((row) => row.node === node);
      if (at >= 0) {
        active = at;
        const y = at * HEIGHT;
        if (y < box.scrollTop || y + 2 * HEIGHT > box.scrollTop + box.clientHeight) box.scrollTop = Math.max(0, y - box.clientHeight / 3);
      }
      draw();
    },
    filter(word) {
      const wanted = word.trim().toLowerCase();
      let matches = 0;
      passes = wanted === "" ? null : new Set();
      if (passes !== null) {
        for (let i = 0; i < options.nodes.length; i++) {
          const node = options.nodes[i];
          if (!source.label(node).toLowerCase().includes(wanted)) continue;
          matches++;
          for (let above = node; above >= 0 && !passes.has(above); above = source.parent(above)) passes.add(above);
        }
        note.textContent = `${count(matches)} of ${count(options.nodes.length)} match`;
      } else {
        note.textContent = "";
      }
      box.scrollTop = 0;
      list();
      return matches;
    },
    openTo(depth) {
      const stack = Array.from(source.roots, (node) => ({ node, depth: 1 }));
      while (stack.length > 0) {
        const { node, depth: at } = stack.pop() as { node: number; depth: number };
        if (at >= depth) continue;
        open.add(node);
        const below = source.children(node);
        for (let i = 0; i < below.length; i++) stack.push({ node: below[i], depth: at + 1 });
      }
      list();
    },
  };
}
