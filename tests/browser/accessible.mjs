/*
 * axe finds nothing to object to: every view of a run with everything in it, of a failed and an invalid capture and
 * of a crate, in both themes and in a narrow window.
 *
 * ctest-labels: slow
 * ctest-timeout: 300
 */
import path from "node:path";
import { openTab, repo, run, settle, tabs, traces } from "./support.mjs";

await run("accessible", async (t) => {
  const inputs = ["mlp-update-4.jsonl", "device-clocks.jsonl", "failed-open.jsonl", "unicode-labels.jsonl"].map((name) => path.join(traces, name));
  inputs.push(path.join(repo, "tests", "data", "crates", "mlp"));
  for (const [at, input] of inputs.entries()) {
    const file = t.make("view", input);
    for (const theme of ["light", "dark"]) {
      const page = await t.open(file, { theme, width: at === 3 ? 360 : 1280 });
      for (const id of await tabs(page)) {
        await openTab(page, id);
        if (id === "trace") await page.waitForTimeout(300);
        for (const one of await t.axeViolations(page)) t.need(false, `${path.basename(input)}, ${id}, ${theme}: ${one}`);
        t.need(true, "");
      }
      if (at === 0) {
        await openTab(page, "span_costs");
        await page.focus('[role="tree"]');
        await page.keyboard.press("ArrowDown");
        await page.keyboard.press("Enter");
        await page.keyboard.press("?");
        await settle(page);
        for (const one of await t.axeViolations(page)) t.need(false, `inspector and help, ${theme}: ${one}`);
      }
      await page.close();
    }
  }
});
