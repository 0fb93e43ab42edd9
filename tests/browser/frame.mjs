/*
 * The captures of tests/data open on Overview without a message or a request, whatever its health; every tab
 * opens, none is blank, and a capture without a graph says why there is nothing to draw.
 *
 * ctest-labels: slow
 * ctest-timeout: 300
 */
import { readdirSync } from "node:fs";
import path from "node:path";
import { invalid, run, traces } from "./support.mjs";

const named = (folder) => readdirSync(folder).filter((file) => file.endsWith(".jsonl")).sort();

/* The headline and the words of every view, one after the other. */
const visit = (page) => page.evaluate(async () => {
  const words = {};
  const first = document.querySelector('[role="tab"][aria-selected="true"]').id;
  for (const tab of document.querySelectorAll('[role="tab"]')) {
    tab.click();
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())));
    const view = document.getElementById(tab.getAttribute("aria-controls"));
    words[view.id.slice(5)] = { text: view.innerText.trim(), pictures: ["svg", "png"].filter((name) => !document.getElementById(`cg-${name}`).hidden).join() };
  }
  return { first, headline: document.getElementById("cg-headline").textContent, words };
});

await run("frame", async (t) => {
  let failed = 0;
  // Of the invalid ones, which differ in what Overview says only, every fifth.
  const files = [...named(traces).map((name) => path.join(traces, name)), ...named(invalid).filter((_, at) => at % 5 === 0).map((name) => path.join(invalid, name))];
  await t.each(files, async (page, input) => {
    let file;
    try {
      file = t.make("view", input);
    } catch {
      return; // refused, as `import` refuses it (tests/wire/page.py)
    }
    const name = path.basename(input);
    await t.open(file, { page });
    const { first, headline, words } = await visit(page);
    t.need(first === "tab-evidence", `${name} does not open on Overview`);
    const isWhole = headline.includes("capture complete");
    if (!isWhole) failed++;
    for (const [id, { text, pictures }] of Object.entries(words)) {
      t.need(text.length > 20, `${name}: ${id} is blank`);
      if (isWhole || !["timeline", "span_costs", "trace"].includes(id)) continue;
      t.need(text.startsWith("There is no "), `${name}: ${id} does not say why it is empty: ${text.slice(0, 80)}`);
      t.need(pictures === "", `${name}: ${id} offers a picture of nothing`);
    }
  });
  t.need(failed > 4, "no failed captures were tried");
});
