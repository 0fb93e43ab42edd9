/*
 * view - the contract between the page and its views.
 *
 * A view is a file src/views/NAME.ts whose default export is a View. Nothing else is edited to add
 * one: build.mjs lists the folder. `available` decides by the data whether there is a tab at all; a
 * view that applies but has nothing to show stays and says why (an honest empty state).
 *
 * The page calls `mount` once, when the view is first opened, with the section `view-ID` that is
 * visible by then, so that sizes can be measured. Afterwards it calls the functions of what mount
 * returned, all of them optional:
 *
 *   shown()      the view is in front again; redraw when selection, theme or size changed meanwhile
 *   hidden()     another view comes in front; stop animations
 *   route()      the fragment's parameters of this view changed from outside: read context.route
 *   search(q)    what the search box finds here; without it nodes of the run are searched by name
 *   keys         rows for the help: [keys, what they do]; the view handles them itself, on its root
 *   picture()    what is drawn, as an SVG document, from which SVG and PNG are saved; null: nothing
 *                is drawn now; absent: the view never has a picture
 *
 * Rules. Data reach the document as text only: h(), text(), show() of dom.ts and text.ts; never
 * markup, never an attribute that is code. Long lists go through table() or tree(), which draw what
 * is visible; every cap is said in words (shown()). No meaning by colour alone. Numbers that may
 * exceed 2^53 come from Whole.exact() or as texts of digits from the island: format them, compare
 * them with BigInt, do not calculate with them as doubles except to draw. Planes and clocks are
 * never put on one axis.
 */
import type { Doc } from "./doc";

export interface Hit {
  label: string;
  detail?: string;
  go(): void;
}

export interface Found {
  total: number;
  hits: Hit[]; /* the first ones; the box says how many there are */
}

export interface Mounted {
  shown?(): void;
  hidden?(): void;
  route?(): void;
  search?(query: string): Found;
  keys?: [string, string][];
  picture?(): string | null;
}

/* The view's own parameters behind `#ID?`. Set to null to remove one; `replace` keeps the history. */
export interface Route {
  get(name: string): string | null;
  set(values: Record<string, string | null>, replace?: boolean): void;
}

export interface Context {
  readonly doc: Doc;
  readonly route: Route;
  /*
   * What is selected, across views and in the fragment: the id of a node of the run, or a static id
   * of the model; null is nothing. `from` is told to listeners so that a view can tell its own.
   */
  readonly selected: string | null;
  select(id: string | null): void;
  onSelect(listener: (id: string | null) => void): void;
  /* Open another view; `values` become its parameters. */
  open(view: string, values?: Record<string, string>): void;
  /* Said to a screen reader. */
  announce(words: string): void;
  /* The pane on the right: what is known of the selected thing. null closes it. */
  inspect(title: string, content: Node[] | null): void;
  onTheme(listener: () => void): void;
  /* A colour of the theme for canvases: `fore`, `back`, `soft`, `line`, `mark`, `bar`, `good`, `warn`, `bad`. */
  colour(name: string): string;
  /* Hand out a file. */
  save(name: string, type: string, content: string | Blob): void;
}

export interface View {
  id: string;
  label: string;
  order: number; /* among the tabs; ten apart */
  available(doc: Doc): boolean;
  mount(root: HTMLElement, context: Context): Mounted | void;
}
