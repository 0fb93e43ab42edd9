/*
 * text - values as words. Everything that comes from the data passes through show() before it
 * reaches the screen: control, zero-width and direction characters are made visible, long texts
 * are shortened visibly. What is unknown is an em dash, never zero.
 */

/* A number of the island: a text of digits when a double cannot hold it. */
export type Num = number | string | bigint;
export type Maybe<T> = T | null | undefined;

export const DASH = "\u2014";
const hidden =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

export function known<T>(value: Maybe<T>): value is T {
  return value !== null && value !== undefined;
}

export function show(value: unknown, limit = 160): string {
  let text = value === null || value === undefined || value === "" ? DASH : String(value);
  if (text.length > limit) {
    const half = Math.floor(limit / 2);
    text = `${text.slice(0, half)} \u2026 (${text.length - 2 * half} more) \u2026 ${text.slice(-half)}`;
  }
  return text.replace(hidden, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

/* Digits in groups of three, exact at any size. */
export function count(value: Maybe<Num>): string {
  if (!known(value)) return DASH;
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}

/* Nanoseconds as milliseconds, as tables show them; what would be lost there, as microseconds. */
export function ms(value: Maybe<Num>): string {
  if (!known(value)) return DASH;
  const amount = Number(value) / 1e6;
  if (Number.isNaN(amount)) return DASH;
  return amount > 0 && amount < 0.1 ? `${(amount * 1e3).toFixed(2)} \u00b5s` : `${amount.toFixed(2)} ms`;
}

/* Nanoseconds in the unit that suits, as axes and labels show them; fine enough to tell marks `step` apart. */
export function duration(ns: number, step?: number): string {
  if (Number.isNaN(ns)) return DASH;
  const size = Math.abs(ns);
  const [unit, scale] = size >= 1e9 ? ["s", 1e9] : size >= 1e6 ? ["ms", 1e6] : size >= 1e3 ? ["\u00b5s", 1e3] : ["ns", 1];
  const amount = ns / (scale as number);
  const digits = step === undefined ? 0 : Math.min(12, Math.max(0, Math.ceil(-Math.log10(step / (scale as number)) - 1e-9)));
  return `${step === undefined ? +amount.toPrecision(4) : +amount.toFixed(digits)} ${unit}`;
}

export function bytes(value: Maybe<Num>): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  if (!known(value)) return DASH;
  let amount = Number(value);
  let unit = 0;
  if (Number.isNaN(amount)) return DASH;
  while (Math.abs(amount) >= 1024 && unit < units.length - 1) {
    amount /= 1024;
    unit++;
  }
  return unit === 0 ? `${amount} B` : `${amount.toFixed(2)} ${units[unit]}`;
}

export function percent(part: number, whole: number): string {
  return whole > 0 && !Number.isNaN(part) ? ((100 * part) / whole).toFixed(1) + " %" : DASH;
}

export function shape(axes: Maybe<unknown[]>): string {
  return known(axes) ? "[" + axes.map((axis) => show(axis, 40)).join(", ") + "]" : DASH;
}

export function shown(here: Num, total: Num): string {
  return String(here) === String(total) ? `all ${count(total)}` : `shown ${count(here)} of ${count(total)}`;
}
