/*
 * The captures of tests/data open on Overview without a message or a request, whatever its health; every tab
 * opens, none is blank, and a capture without a graph says why there is nothing to draw.
 *
 * ctest-labels: slow
 * ctest-timeout: 300
 */
import { readdirSync } from "node:fs";
import path from "node:path";
import { invalid, openTab, run, tabs, traces } from "./support.mjs";

await run("frame", async (t) => {
  const page = await t.page();
  let failed = 0;
  for (const folder of [traces, invalid])
    // Of the invalid ones, which differ in what Overview says only, every fifth.
    for (const name of readdirSync(folder).filter((file) => file.endsWith(".jsonl")).filter((_, at) => folder === traces || at % 5 === 0)) {
      let file;
      try {
        file = t.make("view", path.join(folder, name));
      } catch {
        continue; // refused, as `import` refuses it (tests/wire/page.py)
      }
      await t.open(file, { page });
      t.need(await page.$eval("#tab-evidence", (tab) => tab.getAttribute("aria-selected")) === "true", `${name} does not open on Overview`);
      const headline = await page.$eval("#cg-headline", (line) => line.textContent);
      const isWhole = headline.includes("capture complete");
      if (!isWhole) failed++;
      for (const id of await tabs(page)) {
        await openTab(page, id);
        const text = await page.$eval(`#view-${id}`, (view) => view.innerText.trim());
        t.need(text.length > 20, `${name}: ${id} is blank`);
        if (!isWhole && ["timeline", "span_costs", "trace"].includes(id))
          t.need(text.startsWith("There is no "), `${name}: ${id} does not say why it is empty: ${text.slice(0, 80)}`);
      }
      for (const name of ["svg", "png"])
        t.need(isWhole || await page.$eval(`#cg-${name}`, (button) => button.hidden) || !["timeline", "trace"].includes(await page.evaluate(() => location.hash.slice(1))), "a picture of nothing is offered");
    }
  t.need(failed > 4, "no failed captures were tried");
});
