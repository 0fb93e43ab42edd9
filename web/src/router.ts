/*
 * router - the place one looks at as the address's fragment: `#VIEW?name=value&...`. `select` is shared
 * by all views; every view keeps its other parameters while another one is in front.
 */
export interface Place {
  view: string;
  values: Map<string, string>;
}

export function readPlace(): Place {
  const [view, rest] = decodeURI(location.hash.slice(1)).split(/\?(.*)/s);
  const values = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(rest ?? "")) values.set(name, value);
  return { view: view ?? "", values };
}

export class Router {
  private current = "";
  private readonly values = new Map<string, Map<string, string>>();
  selected: string | null = null;

  constructor(private readonly moved: () => void) {
    this.read();
    addEventListener("hashchange", () => {
      if (this.write() === location.hash) return;
      this.read();
      this.moved();
    });
  }

  get view(): string {
    return this.current;
  }

  private read(): void {
    let place: Place = { view: "", values: new Map() };
    try {
      place = readPlace();
    } catch {
      // A fragment that is no text of ours leads to the first view.
    }
    this.current = place.view;
    this.selected = place.values.get("select") ?? null;
    place.values.delete("select");
    this.values.set(this.current, place.values);
  }

  private write(): string {
    const values = new URLSearchParams([...(this.values.get(this.current) ?? [])]);
    if (this.selected !== null) values.set("select", this.selected);
    const text = values.toString();
    return "#" + this.current + (text === "" ? "" : "?" + text);
  }

  private commit(replace: boolean): void {
    const next = this.write();
    if (next === location.hash) return;
    // A page from a file may be refused to touch its history; the link is lost then, nothing else.
    try {
      if (replace) history.replaceState(null, "", next);
      else history.pushState(null, "", next);
    } catch {
      location.hash = next;
    }
  }

  get(view: string, name: string): string | null {
    return this.values.get(view)?.get(name) ?? null;
  }

  set(view: string, changes: Record<string, string | null>, replace = true): void {
    const values = this.values.get(view) ?? new Map<string, string>();
    this.values.set(view, values);
    for (const [name, value] of Object.entries(changes)) {
      if (value === null) values.delete(name);
      else values.set(name, value);
    }
    if (view === this.current) this.commit(replace);
  }

  go(view: string, replace = false): void {
    this.current = view;
    this.commit(replace);
  }

  select(id: string | null): void {
    this.selected = id;
    this.commit(true);
  }
}
