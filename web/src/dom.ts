/*
 * dom - elements made from data. Text only ever becomes a text node; attributes are set by name,
 * never parsed; positions and sizes go through the style object, which the page's policy allows.
 */
import { bytes, type Maybe, ms, type Num, show, known } from "./text";

export type Child = Node | string | number | null | undefined | false;
type Listener = (event: never) => void;
export interface Props {
  class?: string;
  on?: Record<string, Listener>;
  style?: Record<string, string>;
  [attribute: string]: unknown;
}

export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no element ${id}`);
  return element as T;
}

function dress(element: HTMLElement | SVGElement, props: Props): void {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value as Record<string, Listener>))
        element.addEventListener(event, listener as EventListener);
    } else if (name === "style") {
      for (const [key, rule] of Object.entries(value as Record<string, string>))
        element.style.setProperty(key, rule);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K, props: Props = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  dress(element, props);
  for (const child of children)
    if (child !== null && child !== undefined && child !== false)
      element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  return element;
}

/* In pieces, so that the page holds no address, not even this one. */
export const SVG = ["http:", "", "www.w3.org", "2000", "svg"].join("/");

export function svg(tag: string, props: Props = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS(SVG, tag) as SVGElement;
  dress(element, props);
  for (const child of children)
    if (child !== null && child !== undefined && child !== false)
      element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  return element;
}

/* A text of the data, in a box of its own so that its direction does not leak. */
export function text(value: unknown, limit?: number): HTMLElement {
  return h("span", { class: "data" }, show(value, limit));
}

export function empty(words: string): HTMLElement {
  return h("p", { class: "empty" }, words);
}

/* The exact figure stays at hand. */
export function figure(words: string, exact: Maybe<Num>, unit: string): HTMLElement {
  return h("span", { title: known(exact) ? `${exact} ${unit}` : undefined }, words);
}
export const time = (ns: Maybe<Num>): HTMLElement => figure(ms(ns), ns, "ns");
export const size = (amount: Maybe<Num>): HTMLElement => figure(bytes(amount), amount, "B");

export function pairs(rows: [string, unknown][]): HTMLElement {
  const list = h("dl");
  for (const [name, value] of rows)
    list.append(h("dt", {}, text(name)), h("dd", {}, value instanceof Node ? value : text(value, 400)));
  return list;
}

export function button(label: string, act: (event: MouseEvent) => void, props: Props = {}): HTMLButtonElement {
  return h("button", { type: "button", ...props, on: { click: act as Listener } }, label);
}

/* A word of status with a sign before it, so that colour is never the only one to tell. */
const signs: Record<string, [string, string]> = Object.assign(Object.create(null), {
  complete: ["\u2713", "good"], available: ["\u2713", "good"], bound: ["\u2713", "good"],
  present: ["\u2713", "good"], ok: ["\u2713", "good"], partial: ["\u25d0", "warn"], warning: ["!", "warn"],
  unavailable: ["\u25cb", "soft"], information: ["i", "soft"], unknown: ["?", "soft"],
});
export function status(word: unknown): HTMLElement {
  const [sign, kind] = signs[String(word).toLowerCase()] ?? ["\u2717", "bad"];
  return h("span", { class: `badge ${kind}` }, `${sign} ${show(word)}`);
}
