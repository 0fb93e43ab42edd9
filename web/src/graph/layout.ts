/* layout - runs in a worker: places for the nodes and ways for the edges of a small graph. */
import { Graph, layout } from "@dagrejs/dagre";

export interface LayoutQuestion {
  nodes: { id: number; width: number; height: number }[];
  edges: [number, number][];
}
export interface LayoutAnswer {
  nodes: { id: number; x: number; y: number }[];
  edges: { from: number; to: number; points: { x: number; y: number }[] }[];
  width: number;
  height: number;
}

const worker = globalThis as unknown as {
  onmessage: (event: MessageEvent<LayoutQuestion>) => void;
  postMessage(answer: LayoutAnswer): void;
};

worker.onmessage = (event) => {
  const graph = new Graph({ multigraph: false });
  graph.setGraph({ rankdir: "LR", nodesep: 14, ranksep: 54, marginx: 16, marginy: 16 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of event.data.nodes) graph.setNode(String(node.id), { width: node.width, height: node.height });
  for (const [from, to] of event.data.edges) graph.setEdge(String(from), String(to));
  layout(graph);
  const size = graph.graph() as { width?: number; height?: number };
  worker.postMessage({
    nodes: event.data.nodes.map(({ id }) => {
      const at = graph.node(String(id)) as { x: number; y: number };
      return { id, x: at.x, y: at.y };
    }),
    edges: event.data.edges.map(([from, to]) => ({
      from, to, points: (graph.edge(String(from), String(to)) as { points: { x: number; y: number }[] }).points,
    })),
    width: size.width ?? 0,
    height: size.height ?? 0,
  });
};
