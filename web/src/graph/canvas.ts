/** A graph on a canvas: sigma draws what a `Picture` holds, in the colours of the page. */
import Graph from "graphology";
import Sigma from "sigma";
import { EdgeLineProgram, type NodeLabelDrawingFunction, NodePointProgram } from "sigma/rendering";
import { graph as words } from "../strings";
import { brief, named } from "../text";
import { calm } from "../theme";
import { CUE, type Picture } from "./model";

/** How active each node is, from 0 to 1. */
export type Heat = ReadonlyMap<string, number>;

/** What is lit: the nodes and links of a path. Others step back. */
export interface Lit {
  nodes: ReadonlySet<string>;
  edges: ReadonlySet<string>;
}

export const edgeName = (source: string, relation: string, target: string): string => JSON.stringify([source, relation, target]);

interface Palette {
  paper: string;
  ink: string;
  soft: string;
  line: string;
  strong: string;
  accent: string;
}

const SMALL = 3.5;
/** The width in pixels from which an answer has room for large nodes and many labels. */
const ROOM = 560;
/** How near to the edge of the picture a node may have the focus, in pixels. */
const EDGE = 12;
/** Links beyond which they are hairlines, and hidden while the picture moves: software would draw too few frames. */
const MANY = 3000;

export class Canvas {
  readonly graph = new Graph({ multi: true, type: "directed" });
  readonly sigma: Sigma;
  private heat: Heat | null = null;
  private lit: Lit | null = null;
  private hovered: string | null = null;
  private focused: string | null = null;
  /** Whether everything is drawn anew in the next frame: until then sigma knows no part to draw. */
  private awaited = false;
  private readonly ring = document.createElement("span");
  private palette = colours();

  constructor(container: HTMLElement, private readonly events: { choose?: (key: string) => void; hover?: (key: string | null) => void } = {}) {
    this.sigma = new Sigma(this.graph, container, {
      allowInvalidContainer: true,
      minCameraRatio: 0.02,
      maxCameraRatio: 4,
      edgeProgramClasses: { thin: EdgeLineProgram },
      nodeProgramClasses: { point: NodePointProgram },
      labelFont: getComputedStyle(document.body).fontFamily,
      labelSize: 12.5,
      labelDensity: 1,
      labelGridCellSize: 90,
      labelRenderedSizeThreshold: 3,
      zIndex: true,
      stagePadding: 46,
      labelColor: { attribute: "labelColor" },
      defaultDrawNodeHover: () => undefined,
      defaultDrawNodeLabel: (context, data, settings) => this.label(context, data, settings),
      nodeReducer: (key, data) => this.node(key, data),
      edgeReducer: (_, data) => this.edge(data),
    });
    // What the pointer is over is read from the picture, which waits for each frame: while it is dragged, nothing is.
    const sigma = this.sigma as unknown as { getNodeAtPosition: (at: unknown) => string | null };
    const under = sigma.getNodeAtPosition.bind(this.sigma);
    sigma.getNodeAtPosition = (at) => (this.sigma.getMouseCaptor().isMouseDown ? null : under(at));
    const drag = (is: boolean) => () => this.sigma.getContainer().classList.toggle("dragged", is && this.sigma.getSetting("hideEdgesOnMove"));
    this.sigma.getMouseCaptor().on("mousedown", drag(true)).on("mouseup", drag(false));
    this.sigma.on("clickNode", ({ node }) => node !== CUE && events.choose?.(node));
    this.sigma.on("enterNode", ({ node }) => this.hover(node));
    this.sigma.on("leaveNode", () => this.hover(this.focused));
    this.ring.className = "ring";
    container.append(this.ring);
    this.sigma.on("afterRender", () => (this.mark(), (this.awaited = false)));
  }

  /** Show a picture; the camera stays where it is unless everything is new. */
  show(picture: Picture, label: (key: string) => string = (key) => brief(named(key), 28)): void {
    this.graph.clear();
    const small = Math.max(0.2, Math.min(1, Math.sqrt(250 / Math.max(1, picture.nodes.length))));
    const shape = picture.nodes.length > MANY ? { type: "point" } : {};
    for (const { key, kind, x, y } of picture.nodes) this.graph.mergeNode(key, { kind, x, y: -y, small, label: key === CUE ? "" : label(key), ...shape });
    const many = Math.min(1, Math.sqrt(400 / Math.max(1, picture.edges.length)));
    const type = picture.edges.length > MANY ? { type: "thin" } : {};
    for (const { source, target, relation, weight, sign } of picture.edges)
      if (source !== target) this.graph.addEdge(source, target, { from: source, to: target, name: edgeName(source, relation, target), weight, sign, thin: many, ...type });
    const isMany = picture.edges.length > MANY;
    this.sigma.setSettings({ hideEdgesOnMove: isMany, hideLabelsOnMove: isMany, dragTimeout: isMany ? 400 : 100 });
    this.repaint();
  }

  /** Move the nodes of the picture. */
  place(places: ReadonlyMap<string, { x: number; y: number }>): void {
    this.graph.updateEachNodeAttributes((key, data) => Object.assign(data, { x: places.get(key)!.x, y: -places.get(key)!.y }), { attributes: ["x", "y"] });
  }

  /** Show how active each node is; null: nothing is. */
  warm(heat: Heat | null): void {
    this.heat = heat;
    this.refresh();
  }

  /** Light a path, and let all else step back; null: as before. */
  light(lit: Lit | null): void {
    this.lit = lit;
    this.refresh();
  }

  /** Take the colours of the theme anew. */
  repaint(): void {
    this.palette = colours();
    this.sigma.refresh();
  }

  /** Bring everything into view. */
  fit(): void {
    void this.sigma.getCamera().animate({ x: 0.5, y: 0.5, ratio: 1, angle: 0 }, { duration: calm.matches ? 0 : 300 });
  }

  zoom(factor: number): void {
    const camera = this.sigma.getCamera();
    void camera.animate({ ratio: camera.getBoundedRatio(camera.ratio * factor) }, { duration: calm.matches ? 0 : 150 });
  }

  /** Move the middle to a node. */
  centre(key: string): void {
    const data = this.sigma.getNodeDisplayData(key);
    if (data) void this.sigma.getCamera().animate({ x: data.x, y: data.y }, { duration: calm.matches ? 0 : 300 });
  }

  /** The nodes that are linked to one, by the clock; without one all, the most active first, then the most linked. */
  around(key?: string): string[] {
    const { graph, heat } = this;
    const by = (rank: (other: string) => number, all: string[]): string[] => all.filter((other) => other !== CUE).sort((a, b) => rank(b) - rank(a));
    if (key === undefined) return by((other) => graph.degree(other) + 1e6 * (heat?.get(other) ?? 0), graph.nodes());
    const { x, y } = graph.getNodeAttributes(key) as { x: number; y: number };
    return by((other) => Math.atan2((graph.getNodeAttribute(other, "y") as number) - y, (graph.getNodeAttribute(other, "x") as number) - x), graph.neighbors(key));
  }

  /** Show which node has the focus of the keyboard, within the picture. */
  focus(key: string | null): void {
    this.focused = key;
    this.hover(key);
    const data = key === null ? undefined : this.sigma.getNodeDisplayData(key);
    if (!data) return;
    const { x, y } = this.sigma.framedGraphToViewport(data);
    const { width, height } = this.sigma.getDimensions();
    if (x < EDGE || y < EDGE || x > width - EDGE || y > height - EDGE) this.centre(key!);
  }

  /** The ring around the node that has the focus. */
  private mark(): void {
    const data = this.focused === null ? undefined : this.sigma.getNodeDisplayData(this.focused);
    this.ring.hidden = data === undefined;
    if (!data) return;
    const { x, y } = this.sigma.framedGraphToViewport(data);
    const radius = this.sigma.scaleSize(data.size) + 5;
    Object.assign(this.ring.style, { left: `${x - radius}px`, top: `${y - radius}px`, width: `${2 * radius}px`, height: `${2 * radius}px` });
  }

  end(): void {
    this.sigma.kill();
  }

  /** A label at the side of its node that has room for it, on the colour of the paper, so that no line crosses it. */
  private label: NodeLabelDrawingFunction = (context, data, { labelSize, labelFont }) => {
    if (!data.label) return;
    context.font = `${labelSize}px ${labelFont}`;
    const width = data.size + 3 + context.measureText(data.label).width;
    const isLeft = data.x + width > this.sigma.getDimensions().width && data.x > width;
    context.textAlign = isLeft ? "right" : "left";
    const at = [data.label, data.x + (data.size + 3) * (isLeft ? -1 : 1), data.y + labelSize / 3] as const;
    Object.assign(context, { strokeStyle: this.palette.paper, lineWidth: 3, lineJoin: "round" });
    context.strokeText(...at);
    context.fillStyle = (data as { labelColor?: string }).labelColor ?? this.palette.ink;
    context.fillText(...at);
  };

  private hover(key: string | null): void {
    const before = this.hovered;
    this.hovered = key === CUE ? null : key;
    this.sigma.getContainer().classList.toggle("pointing", this.hovered !== null);
    this.events.hover?.(this.hovered);
    if (this.awaited) return;
    // Only what changed: a large graph takes long to be drawn anew.
    const nodes = [before, this.hovered].filter((node): node is string => node !== null && this.graph.hasNode(node));
    this.sigma.refresh({ partialGraph: { nodes, edges: nodes.flatMap((node) => this.graph.edges(node)) }, skipIndexation: true, schedule: true });
  }

  private refresh(): void {
    this.awaited = true;
    this.sigma.refresh({ skipIndexation: true, schedule: true });
  }

  private node(key: string, data: Record<string, unknown>): Record<string, unknown> {
    const { palette, heat, lit } = this;
    if (key === CUE) return { ...data, size: 6, color: palette.ink, label: words.cue, labelColor: palette.ink, forceLabel: true, zIndex: 2 };
    const warmth = heat?.get(key) ?? 0;
    const isName = data.kind === "entity" || data.kind === "file";
    const base = heat === null ? (isName ? palette.strong : palette.accent) : isName ? palette.line : palette.strong;
    const isFaint = lit !== null && !lit.nodes.has(key);
    const isNarrow = this.sigma.getDimensions().width < ROOM;
    const big = heat === null ? (SMALL + Math.min(9, Math.sqrt(this.graph.degree(key)))) * (data.small as number) : SMALL + (isNarrow ? 7 : 13) * warmth;
    return {
      ...data,
      size: isName ? big * 0.8 : big,
      color: isFaint ? palette.line : mix(base, palette.accent, lit?.nodes.has(key) ? Math.max(warmth, 0.75) : warmth),
      labelColor: isFaint ? palette.strong : warmth > 0.25 || lit?.nodes.has(key) ? palette.ink : palette.soft,
      forceLabel: key === this.hovered || lit?.nodes.has(key) === true || warmth > (isNarrow ? 0.9 : 0.3),
      label: isFaint ? "" : data.label,
      zIndex: key === this.hovered ? 3 : warmth > 0 || lit?.nodes.has(key) ? 2 : 1,
    };
  }

  private edge(data: Record<string, unknown>): Record<string, unknown> {
    const { palette, heat, lit } = this;
    const { name, from: source, to: target } = data as { name: string; from: string; to: string };
    if (lit !== null) {
      const isLit = lit.edges.has(name);
      return { ...data, color: isLit ? palette.accent : mix(palette.paper, palette.line, 0.6), size: isLit ? 3 : 0.6, zIndex: isLit ? 2 : 0 };
    }
    const ends = Math.min(source === CUE ? 1 : (heat?.get(source) ?? 0), heat?.get(target) ?? 0);
    const flow = heat === null ? 0 : ends;
    const near = this.hovered !== null && (source === this.hovered || target === this.hovered);
    const thin = data.thin as number;
    return {
      ...data,
      color: near ? palette.ink : mix(mix(palette.line, palette.strong, 0.45), (data.sign as number) < 0 ? palette.ink : palette.accent, flow),
      size: (near ? 1.6 : 0.7 + 1.1 * (data.weight as number) * thin) * (heat === null ? thin : 1) + 2.2 * flow,
      zIndex: flow > 0.1 || near ? 1 : 0,
    };
  }
}

function colours(): Palette {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return { paper: read("paper"), ink: read("ink"), soft: read("soft"), line: read("line"), strong: read("strong"), accent: read("accent") };
}

const mixed = new Map<string, string>();

/** The colour between two of six digits, a share of the way; remembered, since frames ask for the same again. */
function mix(from: string, to: string, share: number): string {
  const part = Math.round(Math.max(0, Math.min(1, share)) * 32) / 32;
  const name = `${from}${to}${part}`;
  const before = mixed.get(name);
  if (before !== undefined) return before;
  const parts = (colour: string): number[] => [1, 3, 5].map((at) => parseInt(colour.length === 4 ? colour[(at + 1) / 2]!.repeat(2) : colour.slice(at, at + 2), 16));
  const end = parts(to);
  const colour = `#${parts(from).map((value, i) => Math.round(value + (end[i]! - value) * part).toString(16).padStart(2, "0")).join("")}`;
  mixed.set(name, colour);
  return colour;
}
