/*
 * place - a layout with a budget: asked of a worker made from a blob, which is ended when it takes too long;
 * then a plain layout by distance stands in, and the caller is told.
 */
import script from "worker:./layout.ts";
import type { LayoutAnswer, LayoutQuestion } from "./layout";

const BUDGET_MS = 2500;

/* Columns by the longest way from a node without a way in; nodes of a circle keep the column they got. */
function plain(question: LayoutQuestion): LayoutAnswer {
  const rank = new Map<number, number>(question.nodes.map(({ id }) => [id, 0]));
  for (let round = 0; round < question.nodes.length; round++) {
    let changed = false;
    for (const [from, to] of question.edges) {
      const wanted = Math.min(question.nodes.length, (rank.get(from) ?? 0) + 1);
      if ((rank.get(to) ?? 0) < wanted && round < 24) {
        rank.set(to, wanted);
        changed = true;
      }
    }
    if (!changed) break;
  }
  const used = new Map<number, number>();
  const at = new Map<number, { id: number; x: number; y: number }>();
  let width = 0;
  let height = 0;
  for (const node of question.nodes) {
    const column = rank.get(node.id) ?? 0;
    const y = (used.get(column) ?? 0) + 30;
    used.set(column, y + node.height / 2);
    at.set(node.id, { id: node.id, x: column * 250 + 110, y });
    width = Math.max(width, column * 250 + 230);
    height = Math.max(height, y + 40);
  }
  return {
    nodes: [...at.values()], width, height,
    edges: question.edges.map(([from, to]) => {
      const a = at.get(from) as { x: number; y: number };
      const b = at.get(to) as { x: number; y: number };
      return { from, to, points: [{ x: a.x + 95, y: a.y }, { x: b.x - 95, y: b.y }] };
    }),
  };
}

export function place(question: LayoutQuestion): Promise<{ answer: LayoutAnswer; isPlain: boolean }> {
  return new Promise((done) => {
    const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    let worker: Worker | null = null;
    const end = (answer: LayoutAnswer, isPlain: boolean) => {
      clearTimeout(timer);
      worker?.terminate();
      URL.revokeObjectURL(address);
      done({ answer, isPlain });
    };
    const timer = setTimeout(() => end(plain(question), true), BUDGET_MS);
    try {
      worker = new Worker(address);
      worker.onmessage = (event: MessageEvent<LayoutAnswer>) => end(event.data, false);
      worker.onerror = () => end(plain(question), true);
      worker.postMessage(question);
    } catch {
      end(plain(question), true);
    }
  });
}
