/* save - what leaves the page: files and the clipboard. Nothing goes through a network. */
import { h } from "./dom";

export function save(name: string, type: string, content: string | Blob): void {
  const blob = typeof content === "string" ? new Blob([content], { type }) : content;
  const address = URL.createObjectURL(blob);
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Refused to pages from files by some browsers; the old way still works there.
    const area = h("textarea", { class: "unseen", "aria-hidden": "true" });
    const before = document.activeElement;
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (before instanceof HTMLElement) before.focus();
    return done;
  }
}

/* Cells may hold no tab and no line end; a cell that a spreadsheet would run becomes a text. */
export function tsvCell(text: string): string {
  const flat = text.replace(/[\t\r\n]+/g, " ");
  return /^[=+@]|^-[^0-9]/.test(flat) ? "'" + flat : flat;
}

const EDGE = 16384; /* browsers draw no larger canvas */
const AREA = 2 ** 26;

/* The picture of an SVG document, in twice its points where a browser can hold that. */
export async function pngOf(document: string): Promise<Blob> {
  const address = URL.createObjectURL(new Blob([document], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const [width, height] = [image.naturalWidth, image.naturalHeight];
    const scale = Math.min(2, EDGE / width, EDGE / height, Math.sqrt(AREA / (width * height)));
    const canvas = h("canvas", { width: Math.max(1, Math.floor(width * scale)), height: Math.max(1, Math.floor(height * scale)) });
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done, failed) => canvas.toBlob((made) => (made ? done(made) : failed(new Error("no picture")))));
  } finally {
    URL.revokeObjectURL(address);
  }
}
