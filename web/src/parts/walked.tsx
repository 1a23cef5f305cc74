/** The canvas of a graph, and the walk over it by keys: from a memory to those around it, back, and into its page. */
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Canvas } from "../graph/canvas";
import { useKeys } from "../keys";
import { go } from "../router";
import { kinds, walk as s } from "../strings";
import { named, visible } from "../text";

type Held<T> = { current: T | null };

export function Walked({ box, canvas, focus }: { box: Held<HTMLDivElement>; canvas: Held<Canvas>; focus?: (key: string) => void }): JSX.Element {
  /** The memories that lead to the one that has the focus, which is the last; each is linked to the one before it. */
  const trail = useRef<string[]>([]);
  const [said, say] = useState("");
  const show = (): void => {
    const { graph } = canvas.current!;
    trail.current = trail.current.filter((key) => graph.hasNode(key));
    if (trail.current.length === 0) trail.current = canvas.current!.around().slice(0, 1);
    const [from, at] = [trail.current.at(-2), trail.current.at(-1)];
    canvas.current!.focus(at ?? null);
    if (at === undefined) return;
    const relations = from === undefined ? [] : [...new Set(graph.edges(from, at).map((edge) => (JSON.parse(graph.getEdgeAttribute(edge, "name") as string) as string[])[1]!))];
    const kind = graph.getNodeAttribute(at, "kind") as string;
    say(s.said(named(at), kinds[kind] ?? visible(kind), canvas.current!.around(at).length, relations.map(visible).join(", ")));
    focus?.(at);
  };
  const turn = (by: number): void => {
    const all = canvas.current!.around(trail.current.at(-2));
    const next = all[(all.indexOf(trail.current.at(-1) ?? "") + by + all.length) % all.length];
    if (next !== undefined) trail.current.splice(-1, 1, next);
  };
  const onwards = (): void => {
    const from = trail.current.at(-2);
    const next = canvas.current!.around(trail.current.at(-1)).find((key) => key !== from);
    if (next !== undefined) trail.current.push(next);
  };
  const when = (): boolean => box.current !== null && box.current === document.activeElement && canvas.current !== null;
  const key = (name: string, does: string, step: () => void) => ({ key: name, does, run: () => (step(), show()), when });
  useKeys([
    { key: "g", does: s.begin, run: () => box.current?.focus() },
    key("ArrowLeft", s.before, () => turn(-1)),
    key("ArrowRight", s.after, () => turn(1)),
    key("ArrowDown", s.onwards, onwards),
    key("ArrowUp", s.back, () => trail.current.length > 1 && trail.current.pop()),
    { key: "Enter", does: s.open, run: () => trail.current.slice(-1).forEach((at) => go("memory", {}, at)), when },
    { key: "Escape", does: s.leave, run: () => box.current?.blur(), when },
  ]);
  const leave = (): void => (canvas.current?.focus(null), say(""));
  return (
    <>
      <div class="canvas" ref={box} tabIndex={0} role="application" aria-label={s.label} onFocus={() => box.current?.matches(":focus-visible") && canvas.current && show()} onBlur={leave} />
      <p class="unseen" aria-live="polite">{said}</p>
    </>
  );
}
