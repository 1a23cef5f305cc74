/** How weights moved: the events of a memory or of a link, as curves. */
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { call } from "../api";
import { changes } from "../store";
import { named } from "../text";
import { Failure, useAnswer, Waiting } from "../ui";
import { type Curve, Curves } from "./curve";

interface Moved {
  ts: string;
  edge: string[];
  old: number | null;
  new: number | null;
}

const MOST = 6;

export function Events({ name, only, label, none }: { name: string; only?: string[]; label: string; none: string }): JSX.Element {
  const { value, error } = useAnswer((signal) => call<Moved[]>("events", { key: name }, signal), [name, changes.value]);
  const drawn = useMemo(() => curvesOf((value ?? []).filter(({ edge }) => !only || JSON.stringify(edge) === JSON.stringify(only))), [value, only?.join("\n")]);
  if (error) return <Failure error={error} />;
  if (!value) return <Waiting />;
  return drawn.curves.length > 0 ? <Curves {...drawn} label={label} /> : <p class="faint">{none}</p>;
}

function curvesOf(events: Moved[]): { times: number[]; curves: Curve[] } {
  const byEdge = new Map<string, Moved[]>();
  for (const event of [...events].reverse()) byEdge.set(JSON.stringify(event.edge), [...(byEdge.get(JSON.stringify(event.edge)) ?? []), event]);
  const most = [...byEdge].filter(([, moves]) => moves.some(({ old }) => old !== null)).sort((a, b) => b[1].length - a[1].length).slice(0, MOST);
  const second = (at: string): number => new Date(at).getTime() / 1000;
  const stamps = most.flatMap(([, moves]) => moves.map(({ ts }) => second(ts)));
  if (stamps.length === 0) return { times: [], curves: [] };
  const begin = Math.min(...stamps);
  const end = Math.max(Date.now() / 1000, ...stamps);
  const times = [...new Set([begin - Math.max(60, (end - begin) * 0.04), ...stamps, end])].sort((a, b) => a - b);
  const curves = most.map(([edge, moves]) => {
    const values = times.map((at) => moves.findLast(({ ts }) => second(ts) <= at)?.new ?? moves[0]!.old);
    return { name: (JSON.parse(edge) as string[]).map(named).join(" "), values, stepped: true };
  });
  return { times, curves };
}
