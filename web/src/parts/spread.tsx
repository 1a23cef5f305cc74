/** The graph around an answer, and its spread: played, paused, and scrubbed step by step. */
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Canvas, edgeName, type Heat, type Lit } from "../graph/canvas";
import { CUE, type Drawing, neighbourhood, peaks } from "../graph/model";
import { useKeys } from "../keys";
import { recall as s } from "../strings";
import { calm, theme } from "../theme";
import type { Recall } from "../types";
import { Walked } from "./walked";

const HOP = 900;
const REST = 500;
const DECADES = 3.2;
const ACTIVE = 5e-4;

export function Spread({ answer, around, lit, choose, hover }: { answer: Recall; around: Drawing; lit: string | null; choose: (key: string) => void; hover: (key: string | null) => void }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<Canvas | null>(null);
  const picture = useMemo(() => neighbourhood(answer, around), [answer, around]);
  const last = Math.max(0, answer.spread.length - 1);
  const [at, setAt] = useState(last);
  const [playing, setPlaying] = useState(false);
  const heats = useMemo(() => heatOf(answer), [answer]);

  useEffect(() => {
    const drawn = new Canvas(box.current!, { choose, hover });
    canvas.current = drawn;
    return () => drawn.end();
  }, []);
  useEffect(() => {
    canvas.current!.show(picture);
    canvas.current!.fit();
    setAt(calm.matches ? last : 0);
    setPlaying(!calm.matches && last > 0);
  }, [picture]);
  useEffect(() => canvas.current!.warm(between(heats, at)), [heats, at, picture]);
  useEffect(() => canvas.current!.light(lit === null ? null : pathTo(answer, lit)), [lit, answer, picture]);
  useEffect(() => canvas.current!.repaint(), [theme.value]);
  useEffect(() => {
    if (!playing) return;
    const began = performance.now();
    const from = at;
    let frame = 0;
    const move = (now: number): void => {
      const next = Math.min(last, from + Math.max(0, now - began - REST) / HOP);
      setAt(next);
      if (next < last) frame = requestAnimationFrame(move);
      else setPlaying(false);
    };
    frame = requestAnimationFrame(move);
    return () => cancelAnimationFrame(frame);
  }, [playing]);

  const toggle = (): void => {
    if (!playing && at >= last) setAt(0);
    setPlaying(!playing);
  };
  useKeys([{ key: "p", does: s.keys.play, run: toggle }]);
  const step = Math.round(at);
  const active = Object.values(answer.spread[step] ?? {}).filter((value) => value >= ACTIVE).length;
  return (
    <section class="spread" aria-label={s.graph}>
      <Walked box={box} canvas={canvas} />
      <Zoom canvas={canvas} />
      {last > 0 && (
        <div class="player">
          <button type="button" class="icon" onClick={toggle} aria-label={playing ? s.pause : s.play} title={playing ? s.pause : s.play}>
            {playing ? "❚❚" : "▶"}
          </button>
          <input
            type="range"
            min="0"
            max={last}
            step="1"
            value={step}
            aria-label={s.step}
            aria-valuetext={s.stepText(step, last, active)}
            onInput={(event) => {
              setPlaying(false);
              setAt(Number(event.currentTarget.value));
            }}
          />
          <output class="faint number">{s.stepText(step, last, active)}</output>
        </div>
      )}
    </section>
  );
}

export const Zoom = ({ canvas }: { canvas: { current: Canvas | null } }): JSX.Element => (
  <div class="zoom">
    <button type="button" class="icon" aria-label={s.zoomIn} title={s.zoomIn} onClick={() => canvas.current?.zoom(0.6)}>
      +
    </button>
    <button type="button" class="icon" aria-label={s.zoomOut} title={s.zoomOut} onClick={() => canvas.current?.zoom(1.7)}>
      −
    </button>
    <button type="button" class="icon" aria-label={s.fit} title={s.fit} onClick={() => canvas.current?.fit()}>
      ⤢
    </button>
  </div>
);

/** The activations of each step on a scale of decades, since a hop takes most of them away. */
function heatOf(answer: Recall): Heat[] {
  const most = Math.max(...peaks(answer).values(), Number.MIN_VALUE);
  const warmth = (value: number): number => Math.max(0, 1 + Math.log10(Math.max(value, Number.MIN_VALUE) / most) / DECADES);
  const heats = answer.spread.map((step) => new Map(Object.entries(step).map(([key, value]) => [key, warmth(value)])));
  return heats.length > 0 ? heats : [new Map(answer.hits.map(({ memory, score }) => [memory.key, Math.max(0, Math.min(1, score))]))];
}

function between(heats: Heat[], at: number): Heat {
  const before = heats[Math.floor(at)] ?? heats.at(-1)!;
  const after = heats[Math.ceil(at)] ?? before;
  const share = at - Math.floor(at);
  if (share === 0) return before;
  return new Map([...new Set([...before.keys(), ...after.keys()])].map((key) => [key, (before.get(key) ?? 0) * (1 - share) + (after.get(key) ?? 0) * share]));
}

/** The path to a hit, from the question on. */
function pathTo(answer: Recall, key: string): Lit {
  const path = answer.hits.find(({ memory }) => memory.key === key)?.path ?? [];
  const start = path[0]?.source ?? key;
  const edges = path.flatMap(({ source, relation, target }) => [edgeName(source, relation, target), edgeName(target, relation, source)]);
  return { nodes: new Set([CUE, start, key, ...path.flatMap(({ source, target }) => [source, target])]), edges: new Set([edgeName(CUE, "", start), ...edges]) };
}
