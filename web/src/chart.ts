/*
 * chart - small pictures in SVG: axes, steps, bands, dots. A picture is drawn for the width it has on
 * the screen, so that its words keep their size on a phone as on a wide screen. Colours are custom
 * properties of the page; where two things differ by colour they differ by pattern, shape or word
 * as well.
 */
import { h, SVG, svg } from "./dom";
import { show } from "./text";
import { colour } from "./theme";

export interface Scale {
  readonly min: number;
  readonly max: number;
  readonly ticks: number[];
  at(value: number): number;
  value(at: number): number;
}

function step(span: number, count: number, isBinary: boolean): number {
  const rough = span / Math.max(1, count);
  if (isBinary && span >= 2048) return 2 ** Math.ceil(Math.log2(rough));
  const power = 10 ** Math.floor(Math.log10(rough));
  for (const factor of [1, 2, 5]) if (factor * power >= rough) return factor * power;
  return 10 * power;
}

/* From `from` to `to` on the screen; `isBinary`: ticks at powers of two, for bytes. */
export function linear(min: number, max: number, from: number, to: number, count: number, isBinary = false): Scale {
  const least = Number.isFinite(min) ? min : 0;
  const most = Number.isFinite(max) && max > least ? max : least + 1;
  const ticks: number[] = [];
  const by = step(most - least, count, isBinary);
  for (let i = Math.ceil(least / by); i * by <= most && ticks.length < 200; i++) ticks.push(i * by);
  return {
    min: least, max: most, ticks,
    at: (value) => from + ((value - least) / (most - least)) * (to - from),
    value: (at) => least + ((at - from) / (to - from)) * (most - least),
  };
}

/* Of positive numbers, by powers of ten. */
export function logarithmic(min: number, max: number, from: number, to: number, count: number): Scale {
  // Nothing to show, and the least and the largest double, must give an axis as well.
  const low = Math.max(-323, Math.floor(Math.log10(min > 0 && min < Infinity ? min : 1)));
  const high = Math.min(308, Math.max(low + 1, Math.ceil(Math.log10(max > 0 && max < Infinity ? max : 1))));
  const by = Math.max(1, Math.ceil((high - low) / Math.max(1, count)));
  const ticks: number[] = [];
  for (let power = low; power <= high; power += by) ticks.push(10 ** power);
  return {
    min: 10 ** low, max: 10 ** high, ticks,
    at: (value) => from + ((Math.log10(value) - low) / (high - low)) * (to - from),
    value: (at) => 10 ** (low + ((at - from) / (to - from)) * (high - low)),
  };
}

/* The colours of series, in order; they go round. */
export const SERIES = 8;
export const seriesColour = (at: number): string => `var(--c${(at % SERIES) + 1})`;

export function picture(name: string, width: number, height: number, ...children: SVGElement[]): SVGElement {
  return svg("svg", {
    class: "chart", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": name,
  }, ...children);
}

export function line(x1: number, y1: number, x2: number, y2: number, stroke = "var(--line)", more: Record<string, unknown> = {}): SVGElement {
  return svg("line", { x1, y1, x2, y2, stroke, ...more });
}

export function label(x: number, y: number, words: string, anchor: "start" | "middle" | "end" = "start", more: Record<string, unknown> = {}): SVGElement {
  return svg("text", { x, y, "text-anchor": anchor, fill: "var(--fore)", "font-size": 12, ...more }, words);
}

let ruler: CanvasRenderingContext2D | null = null;

/* As much of the words as fits into `room` points; a name of wide letters is longer than it looks. */
export function fitting(words: string, room: number, font: string): string {
  ruler ??= h("canvas").getContext("2d");
  if (ruler === null) return words;
  ruler.font = font;
  if (ruler.measureText(words).width <= room) return words;
  const letters = [...words.slice(0, 400)];
  let low = 0;
  for (let high = letters.length; low < high;) {
    const middle = (low + high + 1) >> 1;
    if (ruler.measureText(letters.slice(0, middle).join("") + "\u2026").width <= room) low = middle;
    else high = middle - 1;
  }
  return letters.slice(0, low).join("") + "\u2026";
}

/* A name with its end, which tells more than its beginning; the cut is visible. */
export function ending(name: unknown, most: number): string {
  const words = show(name, 2000);
  return words.length <= most ? words : `\u2026${words.slice(1 - most)}`;
}

export interface Frame {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/* Lines and figures of both axes. A figure that would touch the one before it is left out. */
export function axes(frame: Frame, x: Scale | null, y: Scale | null, fx: (value: number) => string,
  fy: (value: number) => string): SVGElement[] {
  const out: SVGElement[] = [];
  if (y)
    for (const tick of y.ticks) {
      const at = Math.round(y.at(tick)) + 0.5;
      out.push(line(frame.left, at, frame.right, at), label(frame.left - 6, at + 4, fy(tick), "end", { fill: "var(--soft)" }));
    }
  if (x) {
    let free = frame.left - 20;
    for (const tick of x.ticks) {
      const at = Math.round(x.at(tick)) + 0.5;
      const words = fx(tick);
      const half = words.length * 3.4;
      out.push(line(at, frame.bottom, at, frame.bottom + 4, "var(--soft)"));
      if (at - half < free || at + half > frame.right + 15) continue;
      free = at + half + 8;
      out.push(label(at, frame.bottom + 17, words, "middle", { fill: "var(--soft)" }));
    }
  }
  out.push(line(frame.left, frame.bottom + 0.5, frame.right, frame.bottom + 0.5, "var(--soft)"));
  return out;
}

/*
 * Patterns that tell bands apart without their colours: plain, then hatched in four ways. Ids are
 * unique in the page by `prefix`.
 */
export function hatches(prefix: string, count: number): SVGElement {
  const strokes = ["", "M0 8L8 0M-2 2L2 -2M6 10L10 6", "M0 0L8 8M-2 6L2 10M6 -2L10 2", "M0 4H8", "M4 0V8",
    "M0 4H8M4 0V8", "M0 8L8 0M0 0L8 8", "M3 4a1 1 0 1 0 2 0a1 1 0 1 0 -2 0"];
  return svg("defs", {}, ...Array.from({ length: count }, (_, at) =>
    svg("pattern", { id: `${prefix}-${at}`, width: 8, height: 8, patternUnits: "userSpaceOnUse" },
      svg("rect", { width: 8, height: 8, fill: seriesColour(at), "fill-opacity": 0.75 }),
      strokes[at % strokes.length] === "" ? null
        : svg("path", { d: strokes[at % strokes.length], stroke: "var(--fore)", "stroke-opacity": 0.55, fill: "none" }))));
}

/* Five shapes for dots, so that colour is not the only one to tell. */
export function dot(shape: number, x: number, y: number, radius: number, fill: string): SVGElement {
  const r = radius;
  const paths = ["", `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`, `M${x} ${y - 1.3 * r}L${x + 1.3 * r} ${y}L${x} ${y + 1.3 * r}L${x - 1.3 * r} ${y}z`,
    `M${x} ${y - 1.2 * r}L${x + 1.2 * r} ${y + r}H${x - 1.2 * r}z`, `M${x} ${y + 1.2 * r}L${x + 1.2 * r} ${y - r}H${x - 1.2 * r}z`];
  return shape % paths.length === 0 ? svg("circle", { cx: x, cy: y, r, fill })
    : svg("path", { d: paths[shape % paths.length], fill });
}

/* Draws `into` now and whenever its width changes. */
export function onWidth(into: HTMLElement, draw: (width: number) => void): void {
  let last = 0;
  const again = (): void => {
    const width = Math.floor(into.clientWidth);
    if (width === 0 || width === last) return;
    last = width;
    draw(width);
  };
  new ResizeObserver(again).observe(into);
  again();
}

/* The picture as a document of its own: colours as they are on the screen now. */
export function pictureText(from: SVGElement | null): string | null {
  if (from === null) return null;
  const clone = from.cloneNode(true) as SVGElement;
  for (const element of [clone, ...clone.querySelectorAll("*")])
    for (const name of ["fill", "stroke"]) {
      const found = /^var\(--(\w+)\)$/.exec(element.getAttribute(name) ?? "");
      if (found) element.setAttribute(name, colour(found[1]));
    }
  clone.setAttribute("xmlns", SVG);
  clone.setAttribute("font-family", "sans-serif");
  clone.prepend(svg("rect", { x: -1, y: -1, width: "110%", height: "110%", fill: colour("back") }));
  return new XMLSerializer().serializeToString(clone);
}

export interface Key {
  sign: SVGElement;
  words: string;
}

/* What the signs of a picture mean, below it. */
export function legend(keys: Key[]): HTMLElement {
  return h("ul", { class: "legend" }, ...keys.map((key) =>
    h("li", {}, svg("svg", { width: 16, height: 16, viewBox: "0 0 16 16", "aria-hidden": "true" }, key.sign), " ", key.words)));
}
