/*
 * table - rows as a table: sortable by its heads, only what is visible is in the document, a caption
 * that says how many rows there are and are shown, copied as tab separated values.
 */
import { button, type Child, h, text } from "./dom";
import { copy, tsvCell } from "./save";
import { count, type Num, shown } from "./text";

export interface TableColumn<T> {
  title: string;
  cell(row: T, at: number): Child;
  number?: boolean;
  /* What to sort by; NaN and null come last. Without it the head is no button. */
  key?(row: T): number | string | bigint | null;
  /* The cell for copying; without it the cell's text. */
  plain?(row: T): string;
}

export interface TableOptions<T> {
  caption: string;
  columns: TableColumn<T>[];
  rows: ArrayLike<T>;
  /* How many there are outside of this page. */
  total?: Num;
  /* Sorted at first: column and direction. */
  sort?: [number, "up" | "down"];
  /* A click or Enter on a row; `isSelected` marks rows. */
  open?(row: T): void;
  isSelected?(row: T): boolean;
  /* Text to filter by; gives the table an input. */
  filter?(row: T): string;
}

export interface TableHandle {
  element: HTMLElement;
  /* Draw the visible rows again: selection or theme changed. */
  refresh(): void;
  setRows(rows: ArrayLike<unknown>): void;
}

const HEIGHT = 26;
const SHORT = 60; /* up to that many rows are all in the document, at their natural height */
const MOST = 1000000; /* a browser's tallest element ends somewhat above */
const PRINTED = 500; /* rows on paper */

type Key = number | string | bigint | null;

function isLast(key: Key): boolean {
  return key === null || (typeof key === "number" && Number.isNaN(key));
}

function sorted<T>(rows: ArrayLike<T>, kept: Uint32Array<ArrayBuffer>, key: (row: T) => Key, down: boolean): Uint32Array<ArrayBuffer> {
  const keys: Key[] = new Array(kept.length);
  const order = new Uint32Array(kept.length);
  for (let i = 0; i < kept.length; i++) {
    keys[i] = key(rows[kept[i]]);
    order[i] = i;
  }
  const sign = down ? -1 : 1;
  order.sort((a, b) => {
    const x = keys[a];
    const y = keys[b];
    if (isLast(x) || isLast(y)) return isLast(x) === isLast(y) ? a - b : isLast(x) ? 1 : -1;
    return (x as number) < (y as number) ? -sign : (x as number) > (y as number) ? sign : a - b;
  });
  return order.map((i) => kept[i]);
}

function plainOf<T>(column: TableColumn<T>, row: T, at: number): string {
  if (column.plain) return column.plain(row);
  const cell = column.cell(row, at);
  return cell instanceof Node ? (cell.textContent ?? "") : cell === null || cell === undefined || cell === false ? "" : String(cell);
}

export function table<T>(options: TableOptions<T>): TableHandle {
  const { columns } = options;
  let rows = options.rows;
  let kept = new Uint32Array(0); /* rows that pass the filter */
  let order = kept; /* the same, sorted */
  let sort = options.sort ?? null;
  let top = -1;
  let word = "";
  let words = ""; /* of the caption */

  const body = h("tbody");
  const title = h("caption");
  const heads = columns.map((column, at) => {
    const label = column.key
      ? button(column.title, () => setSort(at), { class: "sort" })
      : column.title;
    return h("th", { scope: "col", class: column.number ? "number" : undefined }, label);
  });
  const grid = h("table", {}, title, h("thead", {}, h("tr", {}, ...heads)), body);
  const scroll = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": options.caption }, grid);
  const note = h("span", { class: "soft", role: "status" });
  const tools = h("div", { class: "tools small" });
  if (options.filter) {
    const input = h("input", { type: "search", "aria-label": `Filter: ${options.caption}`, placeholder: "Filter" });
    input.addEventListener("input", () => {
      word = input.value.toLowerCase();
      select();
    });
    tools.append(input);
  }
  tools.append(button("Copy", () => void copyAll(), { "aria-label": `Copy as tab separated values: ${options.caption}` }), note);
  const element = h("div", { class: "table" }, scroll, tools);

  async function copyAll(): Promise<void> {
    const lines = [columns.map((column) => tsvCell(column.title)).join("\t")];
    for (let i = 0; i < order.length; i++) {
      const row = rows[order[i]];
      lines.push(columns.map((column) => tsvCell(plainOf(column, row, order[i]))).join("\t"));
    }
    note.textContent = (await copy(lines.join("\n") + "\n")) ? `${count(order.length)} rows copied` : "The browser refused to copy.";
  }

  function setSort(at: number): void {
    const first = columns[at].number ? "down" : "up";
    sort = sort !== null && sort[0] === at ? [at, sort[1] === "up" ? "down" : "up"] : [at, first];
    arrange();
  }

  function select(): void {
    const filter = options.filter;
    if (word === "" || !filter) {
      kept = Uint32Array.from({ length: rows.length }, (_, i) => i);
    } else {
      const found: number[] = [];
      for (let i = 0; i < rows.length; i++) if (filter(rows[i]).toLowerCase().includes(word)) found.push(i);
      kept = Uint32Array.from(found);
    }
    arrange();
  }

  function arrange(): void {
    const by = sort === null ? undefined : columns[sort[0]].key;
    order = by && sort !== null ? sorted(rows, kept, by, sort[1] === "down") : kept;
    heads.forEach((head, at) => {
      if (columns[at].key)
        head.setAttribute("aria-sort", sort?.[0] !== at ? "none" : sort[1] === "up" ? "ascending" : "descending");
    });
    const here = Math.min(order.length, MOST);
    const all = options.total ?? rows.length;
    words = `${options.caption}: ${shown(here, word === "" ? all : order.length)}` +
      (word === "" ? "" : ` that match, of ${count(all)}`);
    title.textContent = words;
    grid.setAttribute("aria-rowcount", String(order.length + 1));
    scroll.classList.toggle("long", order.length > SHORT);
    scroll.scrollTop = 0;
    top = -1;
    draw();
  }

  function line(at: number, isFixed: boolean): HTMLTableRowElement {
    const row = rows[order[at]];
    const selected = options.isSelected?.(row) ?? false;
    const element = h("tr", {
      "aria-rowindex": at + 2,
      class: isFixed ? "fixed" : undefined,
      "aria-current": selected ? "true" : undefined,
    });
    columns.forEach((column, index) => {
      const value = column.cell(row, order[at]);
      const content = typeof value === "string" || typeof value === "number" ? text(value) : (value ?? text(null));
      const kind = column.number ? "number" : undefined;
      if (index === 0) {
        const inside = options.open ? h("button", { type: "button", class: "link", on: { click: () => options.open?.(row) } }, content) : content;
        element.append(h("th", { scope: "row", class: kind }, inside));
      } else {
        element.append(h("td", { class: kind }, content));
      }
    });
    return element;
  }

  function gap(height: number): HTMLTableRowElement {
    return h("tr", { "aria-hidden": "true", class: "gap" }, h("td", { colspan: columns.length, style: { height: `${height}px` } }));
  }

  function draw(): void {
    const all = Math.min(order.length, MOST);
    if (all <= SHORT) {
      if (top === 0) return;
      top = 0;
      body.replaceChildren(...Array.from({ length: all }, (_, at) => line(at, false)));
      return;
    }
    const height = scroll.clientHeight || 480;
    const first = Math.max(0, Math.floor(scroll.scrollTop / HEIGHT) - 10);
    if (first === top) return;
    top = first;
    const end = Math.min(all, first + Math.ceil(height / HEIGHT) + 20);
    const lines: HTMLTableRowElement[] = [gap(first * HEIGHT)];
    for (let at = first; at < end; at++) lines.push(line(at, true));
    lines.push(gap((all - end) * HEIGHT));
    body.replaceChildren(...lines);
  }

  scroll.addEventListener("scroll", () => draw(), { passive: true });
  // Paper does not scroll: the first rows of the order at hand, and the caption says how many.
  addEventListener("beforeprint", () => {
    if (!element.isConnected || order.length <= SHORT) return;
    const here = Math.min(order.length, PRINTED);
    body.replaceChildren(...Array.from({ length: here }, (_, at) => line(at, false)));
    title.textContent = `${words}; printed ${count(here)} of ${count(order.length)}`;
  });
  addEventListener("afterprint", () => {
    if (!element.isConnected || order.length <= SHORT) return;
    title.textContent = words;
    top = -1;
    draw();
  });
  select();
  return {
    element,
    refresh() {
      top = -1;
      draw();
    },
    setRows(next) {
      rows = next as ArrayLike<T>;
      select();
    },
  };
}
