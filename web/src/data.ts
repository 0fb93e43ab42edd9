/*
 * data - what the page was given: islands of JSON, and tables packed into columns.
 *
 * Integers beyond 2^53 stay exact: in JSON they become texts of digits, in a column they are held
 * as two halves of 32 bits. A packed island is base64 of a deflated container (docs/schemas/page.md);
 * it is decoded once, before any view is mounted, by the browser's own DecompressionStream, which
 * every browser has since 2023, so there is no other way to read it.
 */

/* Integers that a double cannot hold in quotes, so that no digit is lost. */
function quoteLarge(text: string): string {
  const number = /-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
  const out: string[] = [];
  let done = 0;
  if (!/(?<![0-9.])[0-9]{16}/.test(text)) return text; /* digits of a fraction do not count */
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === 34) {
      for (at++; at < text.length && text.charCodeAt(at) !== 34; at++) if (text.charCodeAt(at) === 92) at++;
      at++;
    } else if (code === 45 || (code >= 48 && code <= 57)) {
      number.lastIndex = at;
      const found = number.exec(text);
      if (found === null) break;
      if (!found[1] && !found[2] && !Number.isSafeInteger(Number(found[0]))) {
        out.push(text.slice(done, at), '"', found[0], '"');
        done = number.lastIndex;
      }
      at = number.lastIndex;
    } else {
      at++;
    }
  }
  out.push(text.slice(done));
  return out.join("");
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Json = any;

export function parse(text: string): Json {
  return JSON.parse(quoteLarge(text));
}

/* Every island of JSON by its element's id. */
export function islands(): Map<string, Json> {
  const found = new Map<string, Json>();
  for (const element of document.querySelectorAll('script[type="application/json"][id]'))
    found.set(element.id, parse(element.textContent ?? ""));
  return found;
}

const TWO32 = 4294967296;

/* One column of a table. A row may be unknown (has() is false); then number() is NaN, the others null. */
export interface Column {
  readonly rows: number;
  has(row: number): boolean;
  number(row: number): number;
  exact(row: number): bigint | null;
  text(row: number): string | null;
}

/* Unsigned integers of 64 bits. */
export class Whole implements Column {
  /* Low and high half of each row. */
  constructor(readonly rows: number, readonly halves: Uint32Array, private readonly unknown: Uint8Array | null) {}

  static from(values: (number | string | bigint | null | undefined)[]): Whole {
    const halves = new Uint32Array(2 * values.length);
    let unknown: Uint8Array | null = null;
    values.forEach((value, row) => {
      if (value === null || value === undefined) {
        unknown ??= new Uint8Array(values.length);
        unknown[row] = 1;
      } else if (typeof value === "number") {
        halves[2 * row] = value % TWO32;
        halves[2 * row + 1] = value / TWO32;
      } else {
        const big = BigInt(value);
        halves[2 * row] = Number(big & 0xffffffffn);
        halves[2 * row + 1] = Number(big >> 32n);
      }
    });
    return new Whole(values.length, halves, unknown);
  }
  has(row: number): boolean {
    return row < this.rows && (this.unknown === null || this.unknown[row] === 0);
  }
  number(row: number): number {
    return this.has(row) ? this.halves[2 * row + 1] * TWO32 + this.halves[2 * row] : NaN;
  }
  exact(row: number): bigint | null {
    return this.has(row) ? (BigInt(this.halves[2 * row + 1]) << 32n) | BigInt(this.halves[2 * row]) : null;
  }
  text(row: number): string | null {
    return this.has(row) ? String(this.exact(row)) : null;
  }
  /* The distance of every row from `base`: exact below 2^53, whatever the clock reads. NaN: unknown. */
  relative(base: bigint): Float64Array {
    const low = Number(base & 0xffffffffn);
    const high = Number(base >> 32n);
    const out = new Float64Array(this.rows);
    for (let row = 0; row < this.rows; row++)
      out[row] = this.unknown !== null && this.unknown[row] === 1 ? NaN
        : (this.halves[2 * row + 1] - high) * TWO32 + (this.halves[2 * row] - low);
    return out;
  }
  numbers(): Float64Array {
    return this.relative(0n);
  }
}

export class Float implements Column {
  constructor(readonly values: Float64Array, private readonly unknown: Uint8Array | null) {}
  get rows(): number {
    return this.values.length;
  }
  has(row: number): boolean {
    return row < this.rows && (this.unknown === null || this.unknown[row] === 0);
  }
  number(row: number): number {
    return this.has(row) ? this.values[row] : NaN;
  }
  exact(): bigint | null {
    return null;
  }
  text(row: number): string | null {
    return this.has(row) ? String(this.values[row]) : null;
  }
}

/* Every distinct text of a packed island once; cut out of one long text when it is asked for. */
export class Texts {
  private index: Map<string, number> | null = null;
  constructor(private readonly all: string, private readonly ends: Uint32Array) {}
  get count(): number {
    return this.ends.length;
  }
  at(number: number): string {
    return this.all.slice(number === 0 ? 0 : this.ends[number - 1], this.ends[number]);
  }
  find(text: string): number {
    if (this.index === null) {
      this.index = new Map();
      for (let i = 0; i < this.count; i++) this.index.set(this.at(i), i);
    }
    return this.index.get(text) ?? -1;
  }
  static from(texts: string[]): Texts {
    const ends = new Uint32Array(texts.length);
    let end = 0;
    texts.forEach((text, i) => (ends[i] = end += text.length));
    return new Texts(texts.join(""), ends);
  }
}

export class Words implements Column {
  /* `codes`: number of the text plus one, 0 is unknown. */
  constructor(readonly texts: Texts, readonly codes: Uint32Array) {}
  static from(values: (string | null | undefined)[]): Words {
    const index = new Map<string, number>();
    const codes = new Uint32Array(values.length);
    values.forEach((value, row) => {
      if (value === null || value === undefined) return;
      let code = index.get(value);
      if (code === undefined) index.set(value, (code = index.size + 1));
      codes[row] = code;
    });
    return new Words(Texts.from([...index.keys()]), codes);
  }
  get rows(): number {
    return this.codes.length;
  }
  has(row: number): boolean {
    return this.codes[row] > 0;
  }
  number(): number {
    return NaN;
  }
  exact(): bigint | null {
    return null;
  }
  text(row: number): string | null {
    return this.codes[row] > 0 ? this.texts.at(this.codes[row] - 1) : null;
  }
}

export interface Table {
  readonly name: string;
  readonly rows: number;
  /* How many there are outside of this page. */
  readonly total: bigint;
  readonly columns: Map<string, Column>;
}

export function whole(table: Table, name: string): Whole {
  const column = table.columns.get(name);
  if (!(column instanceof Whole)) throw new Error(`${table.name}.${name} is no column of integers`);
  return column;
}

export function words(table: Table, name: string): Words {
  const column = table.columns.get(name);
  if (!(column instanceof Words)) throw new Error(`${table.name}.${name} is no column of texts`);
  return column;
}

/* --- packed tables --- */

const MAGIC = "cgpack1\n";

class Reader {
  at = 0;
  low = 0; /* halves of the integer read last */
  high = 0;
  private readonly view: DataView;
  constructor(readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
  /* An integer of up to 64 bits into low and high. */
  whole(): void {
    const bytes = this.bytes;
    let byte = bytes[this.at++];
    let low = byte & 127;
    let high = 0;
    if (byte > 127) {
      low |= ((byte = bytes[this.at++]) & 127) << 7;
      if (byte > 127) low |= ((byte = bytes[this.at++]) & 127) << 14;
      if (byte > 127) low |= ((byte = bytes[this.at++]) & 127) << 21;
      if (byte > 127) {
        byte = bytes[this.at++];
        low |= (byte & 15) << 28;
        high = (byte & 127) >> 4;
        for (let shift = 3; byte > 127 && shift < 32; shift += 7) {
          byte = bytes[this.at++];
          high |= (byte & 127) << shift;
        }
      }
    }
    if (byte === undefined) throw new Error("the packed data end too early");
    this.low = low >>> 0;
    this.high = high >>> 0;
  }
  small(): number {
    this.whole();
    return this.high * TWO32 + this.low;
  }
  /* A difference: the sign is in the lowest bit. */
  step(): void {
    this.whole();
    const sign = -(this.low & 1);
    this.low = (((this.low >>> 1) | (this.high << 31)) ^ sign) >>> 0;
    this.high = ((this.high >>> 1) ^ sign) >>> 0;
  }
  byte(): number {
    return this.bytes[this.at++];
  }
  double(): number {
    const value = this.view.getFloat64(this.at, true);
    this.at += 8;
    return value;
  }
  take(count: number): Uint8Array {
    if (count > this.bytes.length - this.at) throw new Error("the packed data end too early");
    this.at += count;
    return this.bytes.subarray(this.at - count, this.at);
  }
}

function readTexts(from: Reader): Texts {
  const ends = new Uint32Array(from.small());
  let end = 0;
  for (let i = 0; i < ends.length; i++) ends[i] = end += from.small();
  const bytes = from.take(from.small());
  const all = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  if (all.length !== end) throw new Error("the packed texts are not as long as they say");
  return new Texts(all, ends);
}

function readUnknown(from: Reader, rows: number): Uint8Array | null {
  if (from.byte() === 0) return null;
  const bits = from.take((rows + 7) >> 3);
  const unknown = new Uint8Array(rows);
  for (let row = 0; row < rows; row++) unknown[row] = (bits[row >> 3] >> (row & 7)) & 1;
  return unknown;
}

function readColumn(from: Reader, rows: number, texts: Texts): Column {
  const type = String.fromCharCode(from.byte());
  const unknown = readUnknown(from, rows);
  if (type === "u" || type === "d") {
    const halves = new Uint32Array(2 * rows);
    let low = 0;
    let high = 0;
    for (let row = 0; row < rows; row++) {
      if (type === "u") {
        from.whole();
        halves[2 * row] = from.low;
        halves[2 * row + 1] = from.high;
      } else {
        from.step();
        low += from.low;
        high = (high + from.high + (low >= TWO32 ? 1 : 0)) >>> 0;
        low >>>= 0;
        halves[2 * row] = low;
        halves[2 * row + 1] = high;
      }
    }
    return new Whole(rows, halves, unknown);
  }
  if (type === "f") {
    const values = new Float64Array(rows);
    for (let row = 0; row < rows; row++) values[row] = from.double();
    return new Float(values, unknown);
  }
  if (type !== "t" && type !== "n") throw new Error(`packed data of an unknown type ${type}`);
  const codes = new Uint32Array(rows);
  let last = 0;
  for (let row = 0; row < rows; row++) {
    if (type === "t") {
      from.whole();
      codes[row] = from.low;
    } else {
      from.step();
      codes[row] = last = (last + from.low) >>> 0;
    }
  }
  return new Words(texts, codes);
}

export function readTables(bytes: Uint8Array): Map<string, Table> {
  const from = new Reader(bytes);
  if (String.fromCharCode(...from.take(MAGIC.length)) !== MAGIC) throw new Error("the packed data are of another kind");
  const texts = readTexts(from);
  const tables = new Map<string, Table>();
  for (let left = from.small(); left > 0; left--) {
    const name = texts.at(from.small() - 1);
    const rows = from.small();
    from.whole();
    const total = (BigInt(from.high) << 32n) | BigInt(from.low);
    const columns = new Map<string, Column>();
    for (let more = from.small(); more > 0; more--) {
      const column = texts.at(from.small() - 1);
      columns.set(column, readColumn(from, rows, texts));
    }
    tables.set(name, { name, rows, total, columns });
  }
  return tables;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const direct = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }).fromBase64;
  if (direct) return direct.call(Uint8Array, text);
  const plain = atob(text);
  const bytes = new Uint8Array(plain.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = plain.charCodeAt(i);
  return bytes;
}

/* The tables of an element of packed data; none when there is no such element. */
export async function packedTables(id: string): Promise<Map<string, Table>> {
  const element = document.getElementById(id);
  if (element === null) return new Map();
  const small = fromBase64(element.textContent ?? "");
  element.remove(); /* decoded once, kept once */
  const stream = new Blob([small]).stream().pipeThrough(new DecompressionStream("deflate"));
  return readTables(new Uint8Array(await new Response(stream).arrayBuffer()));
}
