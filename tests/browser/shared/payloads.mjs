/*
 * payloads: eighty texts that would be code, markup, an address or a trick to the eye; runs that are full of one of
 * them; and a visit that goes everywhere on a page. No test of its own.
 */
const act = "window.hit=1";
export const PAYLOADS = [
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

/* As the page shows it: hidden characters are made visible. */
export const shown = (text) => text.replace(/[\u0000-\u001f\u00ad\u200b\u2028-\u202e\u2066-\u2069\ufeff]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));

/* Everything a trace may call by a name of its own, and every text of its meta; `run` tells two runs apart. */
export function records(text, outcome, run = "run") {
  const id = (name) => name + text;
  const [root, child] = [id("s1"), id("s2")];
  const ends = ["in", "more", "out"];
  const names = ends.map(id);
  const out = [
    { kind: "meta", schema: "candle-graph/trace/10", run_id: id(run), correlation_id: id("pair"), entrypoint: id("entry"), phase: "train", timestamp: id("now"),
      capture_step: 1, warmup_steps: 0, device: id("cpu"), timing_mode: "host", candle_version: id("0"), tags: { [id("key")]: id("value"), [text]: text },
      comparison_identity: { workload_id: id("work"), implementation_id: id("build"), model_id: id("model"), config_id: id("config"), data_id: id("data"), seed_policy: id("seed"),
        physical_batch: 1, accumulation_steps: 1, precision: id("half"), device_state: id("idle"), pair_id: id("both") },
      capture_contract: { measurement_scope: "unknown", operations: "complete", tensors: "complete", logical_memory: "complete", physical_memory: "complete",
        device_timing: "complete", required_semantic_labels: [id("leaf")] } },
    { kind: "span_start", id: root, name: id("root"), start_ns: 0, span_kind: "function", measured: true },
    { kind: "span_start", id: child, parent_id: root, name: id("leaf"), start_ns: 10, span_kind: "module", step: "forward" },
    { kind: "op", span_id: child, op_name: id("mul"), inputs: names.slice(0, 2), output: names[2], shape: [2], dtype: id("f32"), device: id("cpu"), duration_ns: 5, timestamp_ns: 10, input_dense_bytes: 0 },
    ...names.map((name, i) => ({ kind: "tensor", span_id: child, tensor_id: name, label: id(`label-${ends[i]}`), shape: [2], dtype: id("f32"), device: id("cpu") })),
    ...ends.map((_, i) => ({ kind: "tensor_stats", span_id: child, label: id(`label-${ends[i]}`), shape: [2], dtype: id("f32"), elements: 2, non_finite: i >> 1, rms: 0.5, abs_max: 1, mean: 0 })),
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

/* Every payload at once: eighty calls, each with an attack of its own in every text it has. */
export function crowd(run) {
  const [meta, root, ...rest] = records("", "complete", run).trim().split("\n");
  const inner = rest.slice(0, -2).filter((line) => !line.includes('"edge"'));
  const end = [...rest.slice(-2)];
  const blocks = PAYLOADS.flatMap((text, number) => inner.map((line) => JSON.stringify(JSON.parse(line, (key, value) =>
    typeof value !== "string" || WORDS_OF_A_TRACE.has(key) || value === "s1" ? value : `${value}${number}${text}`))));
  return [meta.replace('"leaf"', '"root"'), root, ...blocks, ...end].join("\n") + "\n";
}
const WORDS_OF_A_TRACE = new Set(["kind", "span_kind", "step", "action", "state", "parent_id"]);

/*
 * Everywhere on the page: every view, every choice of it, what lies under the pointer, the first row opened, paper, a
 * search. Every one of `texts` must have stood in the document as it is at some moment of that.
 */
export async function attack(t, page, what, texts) {
  const found = await page.evaluate(async (wanted) => {
    const frame = () => new Promise((done) => requestAnimationFrame(() => done()));
    const missing = new Set(wanted);
    const look = () => {
      const here = document.body.textContent;
      for (const text of missing) if (here.includes(text)) missing.delete(text);
    };
    for (const tab of document.querySelectorAll('[role="tab"]')) {
      tab.click();
      await frame();
      const view = document.getElementById(tab.getAttribute("aria-controls"));
      const since = performance.now();
      while (view.textContent.includes("laying out") && performance.now() - since < 5000) await frame();
      for (const select of view.querySelectorAll("select"))
        for (const option of [...select.options].filter((one) => !one.disabled).slice(0, 8)) {
          select.value = option.value;
          select.dispatchEvent(new Event("change", { bubbles: true }));
          await frame();
          look();
        }
      for (const one of view.querySelectorAll('[role="treeitem"], .graph .node, td, th, .chart *')) {
        one.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
        one.dispatchEvent(new PointerEvent("pointerenter"));
      }
      view.querySelector("tbody button.link")?.click();
      dispatchEvent(new Event("beforeprint")); // paper gets more rows than the window
      look();
      dispatchEvent(new Event("afterprint"));
    }
    const query = document.getElementById("cg-query");
    query.value = "e";
    query.dispatchEvent(new Event("input"));
    await frame();
    await frame();
    look();
    return {
      hit: window.hit, missing: [...missing], scripts: document.querySelectorAll('script:not([type^="application/"])').length,
      made: document.querySelectorAll("iframe, object, embed, base, form, marquee, video, audio, math, img, [onerror], [onload], [onfocus], [onclick], [style*=fixed]").length,
    };
  }, texts.map(shown));
  t.need(found.hit === undefined, `${what}: a script ran`);
  t.need(found.scripts === 1, `${what}: an element was made of a text`);
  t.need(found.made === 0, `${what}: markup was parsed`);
  for (const text of found.missing) t.need(false, `${what}: not shown as it is: ${text.slice(0, 160)}`);
}
