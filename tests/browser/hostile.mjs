/*
 * Eighty texts that would be code, markup, an address or a trick to the eye, in every text field of a trace, healthy
 * and failed, and as names of a crate: no script runs, nothing is requested, the text is shown as it is.
 *
 * ctest-labels: slow
 * ctest-timeout: 600
 */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { openTab, run, settle, tabs } from "./support.mjs";

const act = "window.hit=1";
const PAYLOADS = [
  `<script>${act}</script>`, `</script><script>${act}</script>`, `</ScRiPt ><script>${act}</script>`, `<img src=x onerror=${act}>`,
  `"><img src=x onerror=${act}>`, `'><img src=x onerror=${act}>`, `<svg onload=${act}>`, `<svg><script>${act}</script></svg>`,
  `<svg/onload=${act}//`, `<math><mi//xlink:href="data:x,<script>${act}</script>">`, `<iframe srcdoc="<script>parent.hit=1</script>">`,
  `<iframe src=javascript:parent.hit=1>`, `<object data=javascript:${act}>`, `<embed src=javascript:${act}>`, `<a href=javascript:${act}>x</a>`,
  `javascript:${act}`, `data:text/html,<script>${act}</script>`, `vbscript:x`, `<body onload=${act}>`, `<input autofocus onfocus=${act}>`,
  `<select autofocus onfocus=${act}>`, `<textarea autofocus onfocus=${act}>`, `<video><source onerror=${act}></video>`, `<audio src=x onerror=${act}>`,
  `<details open ontoggle=${act}>`, `<marquee onstart=${act}>`, `<template><script>${act}</script></template>`, `<style>@import 'http://evil.invalid/x.css'</style>`,
  `<style>*{background:url(http://evil.invalid/x)}</style>`, `<link rel=stylesheet href=http://evil.invalid/x.css>`, `<meta http-equiv=refresh content="0;url=http://evil.invalid/">`,
  `<base href=http://evil.invalid/>`, `<form action=http://evil.invalid/><button autofocus>`, `<img src=http://evil.invalid/x.png>`, `<img srcset="http://evil.invalid/x.png 1x">`,
  `<link rel=prefetch href=http://evil.invalid/>`, `<link rel=dns-prefetch href=//evil.invalid>`, `url(http://evil.invalid/x)`, `expression(${act})`, `style="x:expression(${act})"`,
  `" onmouseover="${act}`, `' onmouseover='${act}`, `\` onmouseover=\`${act}`, `x" autofocus onfocus="${act}`, `x' style='position:fixed;inset:0`, `"/><script>${act}</script>`,
  `<!--`, `-->`, `<!--<script>`, `--!><script>${act}</script>`, `]]><script>${act}</script>`, `<![CDATA[<script>${act}</script>]]>`, `<?xml version="1.0"?><script>${act}</script>`,
  `&lt;script&gt;${act}&lt;/script&gt;`, `&#60;script&#62;${act}&#60;/script&#62;`, `&`, `&amp;amp;`, `\\u003cscript\\u003e${act}\\u003c/script\\u003e`, `\\x3cscript\\x3e`,
  `%3Cscript%3E${act}%3C/script%3E`, `\${${act}}`, `{{constructor.constructor('${act}')()}}`, `<%= ${act} %>`, `#{${act}}`, `__proto__`, `constructor`, `toString`, `hasOwnProperty`,
  `\u2028${act}\u2029`, `\u202e>tpircs<`, `\u2066abc\u2069`, `\u200b\ufeff\u00ad`, `a\u0000b`, `\u001b[2J\u001b]0;x\u0007`, `=cmd|' /C calc'!A0`, `+1+1`, `@SUM(1)`,
  `'); ${act}; //`, `"); ${act}; ("`, `x`.repeat(100000),
];

function records(text, outcome) {
  const id = (name) => name + text;
  const [root, child] = [id("s1"), id("s2")];
  const names = [id("in"), id("more"), id("out")];
  const out = [
    { kind: "meta", schema: "candle-graph/trace/10", run_id: id("run"), correlation_id: id("pair"), entrypoint: id("entry"), phase: "train", timestamp: id("now"),
      capture_step: 1, warmup_steps: 0, device: id("cpu"), timing_mode: "host", candle_version: id("0"), tags: { [id("key")]: id("value"), [text]: text },
      capture_contract: { measurement_scope: "unknown", operations: "complete", tensors: "complete", logical_memory: "complete", physical_memory: "complete",
        device_timing: "complete", required_semantic_labels: [id("leaf")] } },
    { kind: "span_start", id: root, name: id("root"), start_ns: 0, span_kind: "function", measured: true },
    { kind: "span_start", id: child, parent_id: root, name: id("leaf"), start_ns: 10, span_kind: "module", step: "forward" },
    { kind: "op", span_id: child, op_name: id("mul"), inputs: names.slice(0, 2), output: names[2], shape: [2], dtype: id("f32"), device: id("cpu"), duration_ns: 5, timestamp_ns: 10, input_dense_bytes: 0 },
    ...names.map((name) => ({ kind: "tensor", span_id: child, tensor_id: name, label: id("label" + name.slice(0, 3)), shape: [2], dtype: id("f32"), device: id("cpu") })),
    ...names.map((name, i) => ({ kind: "tensor_stats", span_id: child, label: id("label" + name.slice(0, 3)), shape: [2], dtype: id("f32"), elements: 2, non_finite: i >> 1, rms: 0.5, abs_max: 1, mean: 0 })),
    { kind: "memory", timestamp_ns: 12, storage_id: id("st"), tensor_id: names[2], span_id: child, op_name: id("mul"), device: id("cpu"), bytes: 8, action: "alloc", dtype: id("f32") },
    { kind: "device_memory", timestamp_ns: 12, device: id("gpu"), used_bytes: 1 },
    { kind: "device_interval", span_id: child, device: id("gpu"), stream_id: id("0"), clock_id: id("clock"), backend: id("b"), start_ns: 1, duration_ns: 2 },
    { kind: "gradient", event_id: id("g"), root: id("vb"), key: id("w"), state: "missing" },
    { kind: "edge", edge_kind: "data", from_tensor: names[0], to_tensor: names[1] },
  ];
  if (outcome === "complete") out.push({ kind: "span_end", id: child, duration_ns: 20 });
  out.push({ kind: "span_end", id: root, duration_ns: 100 });
  out.push({ kind: "terminal", timestamp_ns: 100, outcome, ...(outcome === "failed" ? { reason: id("why") } : {}) });
  return out.map((record) => JSON.stringify(record)).join("\n") + "\n";
}

/* As the page shows it: hidden characters are made visible. */
const shown = (text) => text.replace(/[\u0000-\u001f\u00ad\u200b\u2028-\u202e\u2066-\u2069\ufeff]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));

async function look(t, page, what, text) {
  for (const id of await tabs(page)) {
    await openTab(page, id);
    await page.evaluate(() => { for (const one of document.querySelectorAll('[role="treeitem"], .graph .node, td, th')) one.dispatchEvent(new MouseEvent("mouseover", { bubbles: true })); });
  }
  await page.evaluate(() => { const query = document.getElementById("cg-query"); query.value = "e"; query.dispatchEvent(new Event("input")); });
  await settle(page);
  t.need(await page.evaluate(() => window.hit) === undefined, `${what}: a script ran`);
  t.need(await page.$$eval("script", (all) => all.length) <= 3, `${what}: an element was made of a text`);
  t.need(await page.$$eval("iframe, object, embed, base, form, marquee, [onerror], [onload], [onfocus]", (all) => all.length) === 0, `${what}: markup was parsed`);
  if (text !== null && text.length < 140)
    t.need((await page.evaluate(() => document.body.textContent)).includes(shown(text)), `${what}: the text is not shown as it is`);
}

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

await run("hostile", async (t) => {
  t.need(PAYLOADS.length === 80, `${PAYLOADS.length} payloads`);
  const page = await t.page();
  for (const [number, text] of PAYLOADS.entries()) {
    const outcome = number % 4 === 3 ? "failed" : "complete";
    await t.open(t.write("hostile.jsonl", records(text, outcome)), { page });
    await look(t, page, `payload ${number}, ${outcome}`, text);
  }
  await t.open(crate(t.place), { page });
  await look(t, page, "crate", null);
});
