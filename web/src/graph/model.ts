/** The part of the graph that an answer touched: which nodes and links are drawn, and where. */
import { request, namespace } from "../api";
import type { Recall } from "../types";

/** The question itself, in the middle of its answer; no memory can have this key. */
export const CUE = "\u0000cue";

export interface Node {
  key: string;
  kind: string;
  x: number;
  y: number;
}

export interface Edge {
  source: string;
  target: string;
  relation: string;
  weight: number;
  sign: number;
}

export interface Picture {
  nodes: Node[];
  edges: Edge[];
}

/** The server's drawing: nodes by number, so that it stays small. */
export interface Drawing {
  nodes: [key: string, kind: string, weight: number][];
  links: [source: number, target: number, relation: number, weight: number][];
  relations: [name: string, sign: number][];
  left_out: number;
}

export function drawing(args: { keys?: string[]; limit?: number; known_at?: string }, signal?: AbortSignal): Promise<Drawing> {
  return request<Drawing>("POST", `/page/drawing/${encodeURIComponent(namespace())}`, args, signal);
}

/** The strongest links of a drawing, a few for each node: more would hide one another. */
export function thinned(all: Drawing): Drawing {
  const most = Math.max(MOST_LINKS, EACH * all.nodes.length);
  if (all.links.length <= most) return all;
  return { ...all, links: [...all.links].sort((a, b) => b[3] - a[3]).slice(0, most) };
}

export function edgesOf({ nodes, links, relations }: Drawing): Edge[] {
  return links.map(([source, target, relation, weight]) => ({
    source: nodes[source]![0],
    target: nodes[target]![0],
    relation: relations[relation]![0],
    sign: relations[relation]![1],
    weight,
  }));
}

const MOST_LINKS = 4000;
const EACH = 2.5;
const MOST = 70;
/** The widest sector of a branch, in radians: its leaves stay together. */
const WIDEST = 2.4;
const FAINTEST = 5e-4;

/** The most activation that each memory had during a spread. */
export function peaks(recall: Recall): Map<string, number> {
  const most = new Map<string, number>();
  for (const step of recall.spread) for (const [key, value] of Object.entries(step)) most.set(key, Math.max(most.get(key) ?? 0, value));
  return most;
}

/** The keys to draw: the hits and what led to them, then what was most active. */
export function drawnKeys(recall: Recall): string[] {
  const keys = new Set(recall.hits.map(({ memory }) => memory.key));
  for (const { path } of recall.hits) for (const { source, target } of path) keys.add(source).add(target);
  const others = [...peaks(recall)].filter(([, value]) => value >= FAINTEST).sort((a, b) => b[1] - a[1]);
  for (const [key] of others) if (keys.size < MOST) keys.add(key);
  return [...keys];
}

/** The neighbourhood of an answer: the question in the middle, around it the anchors, and outwards hop by hop. */
export function neighbourhood(recall: Recall, around: Drawing): Picture {
  const most = peaks(recall);
  const kinds = new Map(around.nodes.map(([key, kind]) => [key, kind]));
  for (const { memory } of recall.hits) kinds.set(memory.key, memory.kind);
  const edges = edgesOf(around);
  const first = recall.spread[0] ?? {};
  const anchors = [...kinds.keys()].filter((key) => (first[key] ?? 0) >= FAINTEST);
  const reached = new Set(recall.hits.map(({ memory }) => memory.key).filter((key) => !edges.some(({ source, target }) => source === key || target === key)));
  for (const key of reached) if (!anchors.includes(key)) anchors.push(key);
  const tree = grown(anchors, edges, most);
  for (const key of kinds.keys()) if (!tree.has(key)) tree.set(key, { parent: CUE, depth: 1 });
  const spokes = [...tree].filter(([, { parent }]) => parent === CUE).map(([key]) => ({ source: CUE, target: key, relation: "", weight: Math.min(1, first[key] ?? 0), sign: 1 }));
  const places = radial(tree, most);
  const nodes = [...kinds].map(([key, kind]) => ({ key, kind, ...places.get(key)! }));
  return { nodes: [{ key: CUE, kind: "cue", x: 0, y: 0 }, ...nodes], edges: [...spokes, ...edges] };
}

interface Branch {
  parent: string;
  depth: number;
}

/** A tree over the links: each node hangs on the most active of its neighbours that are a hop nearer. */
function grown(anchors: string[], edges: Edge[], most: Map<string, number>): Map<string, Branch> {
  const near = new Map<string, string[]>();
  for (const { source, target } of edges) {
    near.set(source, [...(near.get(source) ?? []), target]);
    near.set(target, [...(near.get(target) ?? []), source]);
  }
  const activity = (key: string): number => most.get(key) ?? 0;
  const tree = new Map<string, Branch>(anchors.map((key) => [key, { parent: CUE, depth: 1 }]));
  let front = [...anchors];
  for (let depth = 2; front.length > 0; depth++) {
    front.sort((a, b) => activity(b) - activity(a));
    const next: string[] = [];
    for (const parent of front)
      for (const key of near.get(parent) ?? [])
        if (!tree.has(key)) {
          tree.set(key, { parent, depth });
          next.push(key);
        }
    front = next;
  }
  return tree;
}

/** Rings around the middle; a branch has a sector as wide as it has leaves, and a ring has room for its nodes. */
function radial(tree: Map<string, Branch>, most: Map<string, number>): Map<string, { x: number; y: number }> {
  const children = new Map<string, string[]>();
  for (const [key, { parent }] of tree) children.set(parent, [...(children.get(parent) ?? []), key]);
  for (const keys of children.values()) keys.sort((a, b) => (most.get(b) ?? 0) - (most.get(a) ?? 0));
  const leaves = new Map<string, number>();
  const counted = (key: string): number => {
    const below = (children.get(key) ?? []).reduce((sum, child) => sum + counted(child), 0);
    leaves.set(key, Math.max(1, below));
    return leaves.get(key)!;
  };
  counted(CUE);
  const onRing = new Map<number, number>();
  for (const { depth } of tree.values()) onRing.set(depth, (onRing.get(depth) ?? 0) + 1);
  const radius: number[] = [0];
  for (let depth = 1; onRing.has(depth); depth++) radius[depth] = Math.max(radius[depth - 1]! + 1, (onRing.get(depth)! * 0.42) / (2 * Math.PI));
  const places = new Map<string, { x: number; y: number }>();
  const place = (key: string, depth: number, from: number, to: number): void => {
    const whole = key === CUE ? to - from : Math.min(to - from, WIDEST);
    let at = (from + to - whole) / 2;
    for (const child of children.get(key) ?? []) {
      const wide = (whole * leaves.get(child)!) / leaves.get(key)!;
      const angle = at + wide / 2;
      const distance = radius[depth]! + (places.size % 2) * 0.12;
      places.set(child, { x: distance * Math.cos(angle), y: distance * Math.sin(angle) });
      place(child, depth + 1, at, at + wide);
      at += wide;
    }
  };
  // Less than a whole turn, so that no two branches lie in one line through the middle.
  place(CUE, 1, -Math.PI / 2, 1.3 * Math.PI);
  return places;
}
