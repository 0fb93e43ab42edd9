/*
 * Eighty texts that would be code, markup, an address or a trick to the eye, in every text field of a trace, healthy
 * and failed, each alone and all in one run, and as names of a crate: no script runs, nothing is requested, the text
 * is shown as it is.
 *
 * ctest-labels: slow
 * ctest-timeout: 600
 */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { PAYLOADS, attack, crowd, records } from "./shared/payloads.mjs";
import { run } from "./support.mjs";

function crate(place) {
  const folder = path.join(place, "hostile-crate");
  mkdirSync(path.join(folder, "src"), { recursive: true });
  const literal = (text) => `"${[...text].map((c) => (/[ -~]/.test(c) && c !== "\\" && c !== '"' ? c : `\\u{${c.codePointAt(0).toString(16)}}`)).join("")}"`;
  writeFileSync(path.join(folder, "Cargo.toml"), '[package]\nname = "hostile"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\ncandle-core = "0.11"\ncandle-nn = "0.11"\n');
  writeFileSync(path.join(folder, "src", "lib.rs"), `use candle_nn::VarBuilder;\nuse candle_core::{Result, Tensor};\npub struct Net { a: Tensor }\nimpl Net {\n` +
    `    pub fn new(vb: VarBuilder) -> Result<Self> {\n${PAYLOADS.map((text) => `        let _ = vb.get((1, 2), ${literal(text)})?;\n`).join("")}` +
    `        let a = vb.pp(${literal(PAYLOADS[1])}).get(3, "w")?;\n        Ok(Self { a })\n    }\n    pub fn forward(&self, x: &Tensor) -> Result<Tensor> { x.matmul(&self.a) }\n}\n`);
  return folder;
}

/* Texts that are cut are shown in part; these are not. */
const isShort = (text) => text.length < 100;

await run("hostile", async (t) => {
  t.need(PAYLOADS.length === 80, `${PAYLOADS.length} payloads`);
  await t.each(PAYLOADS, async (page, text, number) => {
    const outcome = number % 4 === 3 ? "failed" : "complete";
    await t.open(t.write(`hostile-${number}.jsonl`, records(text, outcome)), { page });
    const names = outcome === "failed" ? ["run", "entry", "cpu", "why"] : ["run", "entry", "cpu", "root", "leaf", "mul", "label-in", "gpu", "w", "vb", "0", "key", "value"];
    await attack(t, page, `payload ${number}, ${outcome}`, isShort(text) ? names.map((name) => name + text) : []);
  });
  const page = await t.page();
  await t.open(t.write("crowd.jsonl", crowd("run")), { page });
  await attack(t, page, "all at once", PAYLOADS.filter(isShort).flatMap((text, number) => [`label-in${number}${text}`]));
  await t.open(crate(t.place), { page });
  await attack(t, page, "crate", []);
});
