/* doc - everything the page was given. What is absent is null. */
import { islands, type Json, packedTables } from "./data";
import { type Run, runOf } from "./run";

export interface Doc {
  /* What the page is about: `evidence`, `model`, `comparison`, ...; the root's data-cg-page. */
  readonly kind: string;
  readonly run: Run | null;
  /* candle-graph/viewer/1 */
  readonly model: Json | null;
  /* Any other island of JSON by its id, for instance `cg-join`. */
  readonly islands: Map<string, Json>;
}

export async function readDoc(): Promise<Doc> {
  const all = islands();
  const first = all.get("cg-payload");
  const schema = String(first?.schema ?? "");
  const isRun = schema.startsWith("candle-graph/viewer/5");
  return {
    kind: document.documentElement.dataset.cgPage ?? "",
    run: isRun ? runOf(first, await packedTables("cg-packed")) : null,
    model: all.get("cg-model-payload") ?? (schema === "candle-graph/viewer/1" ? first : null),
    islands: all,
  };
}
