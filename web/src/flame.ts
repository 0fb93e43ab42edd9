/*
 * flame - bars over one clock: rows of bars that do not overlap, zoomed and scrolled. Only what is in
 * sight is drawn, and bars that are narrower than a pixel are drawn together, so that the cost of a
 * frame depends on the size of the window and not on how much was recorded.
 */
import { h, svg } from "./dom";
import { duration } from "./text";

export interface Bars {
  start: Float64Array;
  length: Float64Array;
  /* Row of each bar, from 0; -1: not shown. Bars of one row must not overlap. */
  row: Int32Array;
  rows: number;
  /* Bars by start, when somebody knows. */
  order?: Uint32Array;
}

export interface ChartOptions {
  name: string;
  bars: Bars;
  /* First rows of groups with what they are called. */
  groups: { row: number; label: string }[];
  label(bar: number): string;
  /* Equal keys get equal colours. */
  tint(bar: number): number;
  select(bar: number): void;
  /* The range in sight changed by hand. */
  moved(from: number, to: number): void;
  colour(name: string): string;
  announce(words: string): void;
}

interface Painter {
  rect(x: number, y: number, width: number, height: number, fill: string, alpha: number): void;
  frame(x: number, y: number, width: number, height: number, stroke: string): void;
  text(words: string, x: number, y: number, fill: string, room: number): void;
}

const ROW = 19;
const AXIS = 22;
const TINTS = 12;

/* Bars by row, then by start: the order a row is drawn in. */
class Order {
  readonly bars: Uint32Array;
  readonly ends: Uint32Array; /* by row: end of its stretch */
  readonly finish: Float64Array; /* by place: where the bar ends */
  readonly begin: Float64Array;

  constructor(bars: Bars, least: number) {
    const sizes = new Uint32Array(bars.rows + 1);
    const kept = (bar: number) => bars.row[bar] >= 0 && bars.length[bar] >= least;
    let count = 0;
    for (let bar = 0; bar < bars.row.length; bar++)
      if (kept(bar)) {
        sizes[bars.row[bar] + 1]++;
        count++;
      }
    for (let row = 0; row < bars.rows; row++) sizes[row + 1] += sizes[row];
    this.ends = sizes.slice(1);
    this.bars = new Uint32Array(count);
    const at = sizes.slice(0, bars.rows);
    const known = bars.order;
    const all = known ? known.length : bars.row.length;
    for (let i = 0; i < all; i++) {
      const bar = known ? known[i] : i;
      if (kept(bar)) this.bars[at[bars.row[bar]]++] = bar;
    }
    for (let row = 0, from = 0; row < bars.rows; from = this.ends[row++]) {
      const part = this.bars.subarray(from, this.ends[row]);
      let sorted = true;
      for (let i = 1; i < part.length && sorted; i++) sorted = bars.start[part[i - 1]] <= bars.start[part[i]];
      if (!sorted) part.sort((a, b) => bars.start[a] - bars.start[b] || a - b);
    }
    this.begin = new Float64Array(count);
    this.finish = new Float64Array(count);
    for (let i = 0; i < count; i++) {
      this.begin[i] = bars.start[this.bars[i]];
      this.finish[i] = this.begin[i] + bars.length[this.bars[i]];
    }
  }
  from(row: number): number {
    return row === 0 ? 0 : this.ends[row - 1];
  }
  /* First place of a row whose bar ends behind `time`. */
  seek(low: number, high: number, time: number): number {
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.finish[middle] > time) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

export class Chart {
  readonly element: HTMLElement;
  readonly count: number;
  shown: number;
  private readonly canvas = h("canvas", { "aria-hidden": "true" });
  private readonly map = h("canvas", { class: "minimap", "aria-hidden": "true" });
  private readonly room = h("div", { class: "flame-room" });
  private readonly scroll: HTMLElement;
  private order: Order;
  private readonly end: number;
  private from = 0;
  private to: number;
  private selected = -1;
  private marks: Uint8Array | null = null;
  private markSums: Uint32Array | null = null;
  private pending = false;
  private least = 0;
  private profile: Float64Array | null = null;
  private width = 0;
  private height = 0;

  constructor(private readonly options: ChartOptions) {
    const { bars } = options;
    let end = 0;
    for (let bar = 0; bar < bars.row.length; bar++) {
      const finish = bars.start[bar] + bars.length[bar];
      if (bars.row[bar] >= 0 && finish > end) end = finish;
    }
    this.end = end > 0 ? end : 1;
    this.to = this.end;
    this.order = new Order(bars, 0);
    this.count = this.shown = this.order.bars.length;
    this.scroll = h("div", { class: "flame-scroll" }, h("div", { class: "flame-stick" }, this.canvas), this.room);
    this.element = h("div", { class: "flame", tabindex: "0", role: "application", "aria-roledescription": "timeline",
      "aria-label": `${options.name}. Arrow keys select, W and S zoom, A and D pan.` }, this.map, this.scroll);
    this.room.style.setProperty("height", `${AXIS + bars.rows * ROW}px`);
    this.scroll.style.setProperty("height", `${Math.min(AXIS + bars.rows * ROW + 2, Math.max(220, Math.round(innerHeight * 0.62)))}px`);
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.scroll);
  }

  get range(): [number, number] {
    return [this.from, this.to];
  }
  get whole(): number {
    return this.end;
  }

  /* Bars shorter than `least` nanoseconds are left out. */
  filter(least: number): void {
    if (least === this.least) return;
    this.least = least;
    this.order = new Order(this.options.bars, least);
    this.shown = this.order.bars.length;
    this.profile = null;
    this.mark(this.marks);
  }

  /* Bars with a 1 stay bright, others fade; null: all are bright. */
  mark(marks: Uint8Array | null): void {
    this.marks = marks;
    this.markSums = null;
    if (marks !== null) {
      const sums = new Uint32Array(this.order.bars.length + 1);
      for (let at = 0; at < this.order.bars.length; at++) sums[at + 1] = sums[at] + marks[this.order.bars[at]];
      this.markSums = sums;
    }
    this.redraw();
  }

  select(bar: number, reveals: boolean): void {
    this.selected = bar;
    if (bar >= 0 && reveals) this.reveal(bar);
    this.redraw();
  }

  private reveal(bar: number): void {
    const { start, length, row } = this.options.bars;
    const begin = start[bar];
    const finish = begin + length[bar];
    const span = this.to - this.from;
    if (finish < this.from || begin > this.to || length[bar] < span / 2000 || length[bar] > span * 4) {
      const wide = Math.max(length[bar] * 6, 20);
      this.look((begin + finish) / 2 - wide / 2, (begin + finish) / 2 + wide / 2);
    }
    const y = row[bar] * ROW;
    if (y < this.scroll.scrollTop || y + ROW + AXIS > this.scroll.scrollTop + this.scroll.clientHeight)
      this.scroll.scrollTop = Math.max(0, y - this.scroll.clientHeight / 3);
  }

  look(from: number, to: number): void {
    const least = Math.min(this.end, 1);
    const span = Math.min(this.end, Math.max(least, to - from));
    this.from = Math.max(0, Math.min(this.end - span, from));
    this.to = this.from + span;
    this.redraw();
  }
  zoom(factor: number, around = (this.from + this.to) / 2): void {
    const span = (this.to - this.from) * factor;
    const part = (around - this.from) / (this.to - this.from);
    this.look(around - span * part, around + span * (1 - part));
    this.options.moved(this.from, this.to);
  }
  pan(part: number): void {
    const by = (this.to - this.from) * part;
    this.look(this.from + by, this.to + by);
    this.options.moved(this.from, this.to);
  }

  redraw(): void {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.draw();
    });
  }

  private resize(): void {
    const ratio = devicePixelRatio || 1;
    this.width = this.scroll.clientWidth;
    this.height = this.scroll.clientHeight;
    for (const [canvas, height] of [[this.canvas, this.height], [this.map, 34]] as const) {
      canvas.width = Math.round(this.width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.setProperty("width", `${this.width}px`);
      canvas.style.setProperty("height", `${height}px`);
      canvas.getContext("2d")?.setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    this.profile = null;
    this.draw();
  }

  private x(time: number): number {
    return ((time - this.from) / (this.to - this.from)) * this.width;
  }

  private draw(): void {
    const context = this.canvas.getContext("2d");
    if (context === null || this.width === 0) return;
    context.clearRect(0, 0, this.width, this.height);
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    this.paint({
      rect(x, y, width, height, fill, alpha) {
        context.globalAlpha = alpha;
        context.fillStyle = fill;
        context.fillRect(x, y, width, height);
      },
      frame(x, y, width, height, stroke) {
        context.globalAlpha = 1;
        context.strokeStyle = stroke;
        context.lineWidth = 2;
        context.strokeRect(x, y, width, height);
      },
      text(words, x, y, fill, space) {
        context.globalAlpha = 1;
        context.fillStyle = fill;
        let shownWords = words;
        if (context.measureText(words).width > space) {
          const fits = Math.max(0, Math.floor((words.length * space) / context.measureText(words).width) - 1);
          shownWords = fits > 0 ? words.slice(0, fits) + "\u2026" : "";
        }
        if (shownWords !== "") context.fillText(shownWords, x, y);
      },
    });
    context.globalAlpha = 1;
    this.drawMap();
    performance.mark("cg:drawn");
  }

  private paint(to: Painter): void {
    const { bars, groups, label, tint, colour } = this.options;
    const dark = document.documentElement.dataset.theme === "dark";
    const tints = Array.from({ length: TINTS }, (_, i) => `hsl(${(i * 360) / TINTS + 12} ${dark ? "45% 62%" : "60% 74%"})`);
    const many = colour("bar");
    const ink = "#15181b";
    const top = this.scroll.scrollTop;
    const first = Math.max(0, Math.floor(top / ROW));
    const last = Math.min(bars.rows - 1, Math.floor((top + this.height - AXIS) / ROW) + 1);
    const pixel = (this.to - this.from) / this.width;
    const labels: [string, number, number, number][] = [];
    for (let row = first; row <= last; row++) {
      const y = AXIS + row * ROW - top;
      const end = this.order.ends[row];
      let at = this.order.seek(this.order.from(row), end, this.from);
      while (at < end && this.order.begin[at] < this.to) {
        const bar = this.order.bars[at];
        const x = this.x(this.order.begin[at]);
        const right = this.x(this.order.finish[at]);
        if (right - x >= 2) {
          const left = Math.max(-1, x);
          const width = Math.min(this.width + 1, right) - left;
          const isBright = this.marks === null || this.marks[bar] === 1;
          to.rect(left, y, Math.max(1, width - 1), ROW - 2, tints[tint(bar) % TINTS], isBright ? 1 : 0.25);
          if (width > 28) labels.push([label(bar), Math.max(0, left) + 4, y + ROW / 2 - 1, width - 8 - (left < 0 ? left : 0)]);
          at++;
          continue;
        }
        // Everything that ends within the next two pixels, at once.
        const next = this.order.seek(at + 1, end, this.order.begin[at] + 2 * pixel);
        const last = this.x(this.order.finish[next - 1]);
        const bright = this.markSums === null || this.markSums[next] > this.markSums[at];
        to.rect(x, y, Math.max(1, last - x), ROW - 2, next - at > 1 ? many : tints[tint(bar) % TINTS], bright ? 1 : 0.25);
        at = next;
      }
    }
    for (const [words, x, y, room] of labels) to.text(words, x, y, ink, room);
    if (this.selected >= 0 && bars.row[this.selected] >= 0) {
      const x = this.x(bars.start[this.selected]);
      const right = this.x(bars.start[this.selected] + bars.length[this.selected]);
      const y = AXIS + bars.row[this.selected] * ROW - top;
      if (y > AXIS - ROW) to.frame(Math.max(-4, x), y, Math.max(3, Math.min(this.width + 4, right) - Math.max(-4, x)), ROW - 2, colour("fore"));
    }
    this.paintAxis(to);
    for (const group of groups) {
      const y = AXIS + group.row * ROW - top;
      if (group.row > 0 && y >= AXIS) to.rect(0, y - 1, this.width, 1, colour("soft"), 1);
      if (groups.length > 1 && y >= AXIS - 4 && y < this.height) {
        const room = Math.min(6.6 * group.label.length + 12, this.width / 2);
        to.rect(this.width - room, y, room, ROW - 2, colour("back"), 0.85);
        to.text(group.label, this.width - room + 6, y + ROW / 2 - 1, colour("fore"), room);
      }
    }
  }

  private paintAxis(to: Painter): void {
    const { colour } = this.options;
    to.rect(0, 0, this.width, AXIS - 2, colour("back"), 1);
    const wanted = ((this.to - this.from) * 110) / this.width;
    const power = 10 ** Math.floor(Math.log10(wanted));
    const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= wanted) ?? wanted;
    for (let time = Math.ceil(this.from / step) * step; time <= this.to; time += step) {
      const x = this.x(time);
      to.rect(x, 0, 1, AXIS - 2, colour("line"), 1);
      to.text(duration(Math.round(time * 1000) / 1000, step), x + 4, AXIS / 2 - 1, colour("soft"), 100);
    }
    to.rect(0, AXIS - 2, this.width, 1, colour("line"), 1);
  }

  /* How many rows are in use at each place, drawn once; the window over it every time. */
  private drawMap(): void {
    const context = this.map.getContext("2d");
    const { bars, colour } = this.options;
    if (context === null || this.width < 1) return;
    if (this.profile === null || this.profile.length !== Math.ceil(this.width)) {
      const profile = new Float64Array(Math.ceil(this.width));
      for (const bar of this.order.bars) {
        const left = Math.floor((bars.start[bar] / this.end) * this.width);
        const right = Math.min(profile.length - 1, Math.floor(((bars.start[bar] + bars.length[bar]) / this.end) * this.width));
        // A bar that reaches over the whole says nothing of a place.
        for (let x = left; x <= right; x++) if (bars.row[bar] + 1 > profile[x]) profile[x] = bars.row[bar] + 1;
      }
      this.profile = profile;
    }
    const height = 34;
    context.clearRect(0, 0, this.width, height);
    context.fillStyle = colour("bar");
    for (let x = 0; x < this.profile.length; x++) {
      const part = (this.profile[x] / bars.rows) * (height - 4);
      context.fillRect(x, height - part, 1, part);
    }
    const left = (this.from / this.end) * this.width;
    const right = (this.to / this.end) * this.width;
    context.globalAlpha = 0.5;
    context.fillStyle = colour("back");
    context.fillRect(0, 0, left, height);
    context.fillRect(right, 0, this.width - right, height);
    context.globalAlpha = 1;
    context.strokeStyle = colour("mark");
    context.lineWidth = 2;
    context.strokeRect(left + 1, 1, Math.max(3, right - left - 2), height - 2);
  }

  private barAt(x: number, y: number): number {
    const row = Math.floor((y - AXIS + this.scroll.scrollTop) / ROW);
    if (y < AXIS || row < 0 || row >= this.options.bars.rows) return -1;
    const pixel = (this.to - this.from) / this.width;
    const time = this.from + x * pixel;
    const end = this.order.ends[row];
    const at = this.order.seek(this.order.from(row), end, time - 2 * pixel);
    return at < end && this.order.begin[at] <= time + 2 * pixel ? this.order.bars[at] : -1;
  }

  private listen(): void {
    const { canvas, scroll } = this;
    let drag: { x: number; y: number; from: number; to: number; top: number; moved: boolean } | null = null;
    scroll.addEventListener("scroll", () => this.redraw(), { passive: true });
    // What is printed is what stands there when the event is over: the next frame is too late.
    for (const event of ["beforeprint", "afterprint"]) addEventListener(event, () => this.width > 0 && this.draw());
    scroll.addEventListener("wheel", (event) => {
      if (event.ctrlKey || event.metaKey) {
        const box = canvas.getBoundingClientRect();
        this.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.01),
          this.from + ((event.clientX - box.left) / this.width) * (this.to - this.from));
      } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        this.pan((event.deltaX || event.deltaY) / this.width);
      } else {
        return;
      }
      event.preventDefault();
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      drag = { x: event.clientX, y: event.clientY, from: this.from, to: this.to, top: scroll.scrollTop, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const box = canvas.getBoundingClientRect();
      if (drag === null) {
        const bar = this.barAt(event.clientX - box.left, event.clientY - box.top);
        canvas.title = bar < 0 ? "" : `${this.options.label(bar)}\n${duration(this.options.bars.length[bar])}`;
        canvas.style.setProperty("cursor", bar < 0 ? "grab" : "pointer");
        return;
      }
      const dx = event.clientX - drag.x;
      if (Math.abs(dx) + Math.abs(event.clientY - drag.y) > 3) drag.moved = true;
      if (!drag.moved) return;
      const by = (-dx / this.width) * (drag.to - drag.from);
      this.look(drag.from + by, drag.to + by);
      scroll.scrollTop = drag.top - (event.clientY - drag.y);
    });
    canvas.addEventListener("pointerup", (event) => {
      const box = canvas.getBoundingClientRect();
      if (drag !== null && !drag.moved) {
        const bar = this.barAt(event.clientX - box.left, event.clientY - box.top);
        if (bar >= 0) this.options.select(bar);
      } else if (drag !== null) {
        this.options.moved(this.from, this.to);
      }
      drag = null;
    });
    canvas.addEventListener("dblclick", (event) => {
      const box = canvas.getBoundingClientRect();
      const bar = this.barAt(event.clientX - box.left, event.clientY - box.top);
      if (bar >= 0) this.fit(bar);
    });
    const moveMap = (event: PointerEvent) => {
      if ((event.buttons & 1) === 0) return;
      const box = this.map.getBoundingClientRect();
      const middle = ((event.clientX - box.left) / this.width) * this.end;
      const half = (this.to - this.from) / 2;
      this.look(middle - half, middle + half);
      this.options.moved(this.from, this.to);
    };
    this.map.addEventListener("pointerdown", moveMap);
    this.map.addEventListener("pointermove", moveMap);
    this.element.addEventListener("keydown", (event) => this.key(event));
  }

  fit(bar: number): void {
    const { start, length } = this.options.bars;
    const margin = Math.max(length[bar] * 0.05, 0.5);
    this.look(start[bar] - margin, start[bar] + length[bar] + margin);
    this.options.moved(this.from, this.to);
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { selected } = this;
    const go = (bar: number) => bar >= 0 && this.options.select(bar);
    switch (event.key) {
      case "w": case "W": case "+": this.zoom(0.6); break;
      case "s": case "S": case "-": this.zoom(1 / 0.6); break;
      case "a": case "A": this.pan(-0.2); break;
      case "d": case "D": this.pan(0.2); break;
      case "0": this.look(0, this.end); this.options.moved(this.from, this.to); break;
      case "f": case "F": if (selected >= 0) this.fit(selected); break;
      case "ArrowRight": if (selected < 0) this.pan(0.1); else go(this.beside(1)); break;
      case "ArrowLeft": if (selected < 0) this.pan(-0.1); else go(this.beside(-1)); break;
      case "ArrowUp": if (selected < 0) this.scroll.scrollTop -= 3 * ROW; else go(this.across(-1)); break;
      case "ArrowDown": if (selected < 0) go(this.first()); else go(this.across(1)); break;
      case "Enter": if (selected < 0) go(this.first()); else this.fit(selected); break;
      default: return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  private first(): number {
    const at = this.order.seek(0, this.order.ends[0] ?? 0, this.from);
    return this.order.bars[at] ?? -1;
  }
  private place(): number {
    const row = this.options.bars.row[this.selected];
    const end = this.order.ends[row];
    let at = this.order.seek(this.order.from(row), end, this.options.bars.start[this.selected] - 1);
    while (at < end && this.order.bars[at] !== this.selected) at++;
    return at < end ? at : -1;
  }
  private beside(by: number): number {
    const row = this.options.bars.row[this.selected];
    const at = this.place() + by;
    return at >= this.order.from(row) && at < this.order.ends[row] ? this.order.bars[at] : -1;
  }
  /* The bar above or below that shares time with the selected one. */
  private across(by: number): number {
    const { bars } = this.options;
    const row = bars.row[this.selected] + by;
    if (row < 0 || row >= bars.rows) return -1;
    const at = this.order.seek(this.order.from(row), this.order.ends[row], bars.start[this.selected]);
    return at < this.order.ends[row] && this.order.begin[at] <= bars.start[this.selected] + bars.length[this.selected]
      ? this.order.bars[at] : -1;
  }

  /* The part in sight, as SVG elements of their own. */
  picture(): { width: number; height: number; element: SVGElement } {
    const group = svg("g");
    this.paint({
      rect: (x, y, width, height, fill, alpha) => group.append(svg("rect", { x: x.toFixed(2), y, width: width.toFixed(2), height, fill, opacity: alpha })),
      frame: (x, y, width, height, stroke) => group.append(svg("rect", { x, y, width, height, fill: "none", stroke, "stroke-width": 2 })),
      text: (words, x, y, fill, room) => {
        const fits = Math.floor(room / 6.4);
        if (fits > 1) group.append(svg("text", { x: x.toFixed(2), y, fill, "font-size": 12, "font-family": "sans-serif", "dominant-baseline": "middle" },
          words.length > fits ? words.slice(0, fits - 1) + "\u2026" : words));
      },
    });
    return { width: this.width, height: this.height, element: group };
  }
}
