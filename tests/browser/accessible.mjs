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
  const visits = inputs.map((input, at) => ({ input, file: t.make("view", input), at })).flatMap((one) => ["light", "dark"].map((theme) => ({ ...one, theme })));
  await t.each(visits, async (page, { input, file, at, theme }) => {
    await page.emulateMedia({ colorScheme: theme });
    await page.setViewportSize({ width: at === 3 ? 360 : 1280, height: 800 });
    await t.open(file, { page });
    for (const id of await tabs(page)) {
      await openTab(page, id);
      if (id === "trace" && await page.$(".graph-box")) await page.waitForSelector(".graph .node");
      for (const one of await t.axeViolations(page)) t.need(false, `${path.basename(input)}, ${id}, ${theme}: ${one}`);
      t.need(true, "");
    }
    if (at !== 0) return;
    await openTab(page, "span_costs");
    await page.focus('[role="tree"]');
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.keyboard.press("?");
    await settle(page);
    for (const one of await t.axeViolations(page)) t.need(false, `inspector and help, ${theme}: ${one}`);
  });
});
