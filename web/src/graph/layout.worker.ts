/** Finds places for a large graph, away from the page's own thread: by communities' springs, sent as they settle. */
import Graph from "graphology";
import forceAtlas2 from "graphology-layout-forceatlas2";

interface Task {
  nodes: number;
  links: [source: number, target: number, weight: number][];
  /** Whether places are sent while they settle. */
  live: boolean;
}

const GOLDEN = Math.PI * (3 - Math.sqrt(5));
const WORK = 900_000;

addEventListener("message", ({ data }: MessageEvent<Task>) => {
  const graph = new Graph({ multi: false, type: "undirected" });
  for (let i = 0; i < data.nodes; i++) {
    const radius = Math.sqrt(i + 0.5) * 10;
    graph.addNode(i, { x: radius * Math.cos(i * GOLDEN), y: radius * Math.sin(i * GOLDEN) });
  }
  for (const [source, target, weight] of data.links) if (source !== target) graph.mergeEdge(source, target, { weight: Math.max(0.05, weight) });
  const total = Math.max(30, Math.min(400, Math.round(WORK / Math.max(1, data.nodes))));
  const settings = { ...forceAtlas2.inferSettings(graph), barnesHutOptimize: data.nodes > 300, barnesHutTheta: 0.8, gravity: 0.6, adjustSizes: false, linLogMode: false };
  const each = Math.max(1, Math.round(total / 12));
  for (let done = 0; done < total; done += each) {
    forceAtlas2.assign(graph, { iterations: each, settings, getEdgeWeight: "weight" });
    if (data.live || done + each >= total) send(graph, done + each >= total);
  }
});

function send(graph: Graph, isLast: boolean): void {
  const places = new Float32Array(graph.order * 2);
  graph.forEachNode((node, { x, y }) => {
    places[Number(node) * 2] = x as number;
    places[Number(node) * 2 + 1] = y as number;
  });
  postMessage({ places, isLast }, { transfer: [places.buffer] });
}
