/** Curves over time, drawn by uPlot in the colours of the page. */
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { theme } from "../theme";
import { moment, visible } from "../text";

export interface Curve {
  name: string;
  /** The value at each of the times; null where there is none. */
  values: (number | null)[];
  /** Whether it stays until it changes. */
  stepped?: boolean;
}

const DAYS = 2 * 86_400;
const inDays = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const inMinutes = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const shortly = (at: number, span: number): string => (span > DAYS ? inDays : inMinutes).format(at * 1000);

const DASHES = [[], [6, 4], [2, 3], [10, 3, 2, 3], [1, 4], [12, 4]];

/** Times are in seconds. */
export function Curves({ times, curves, label, high = 220 }: { times: number[]; curves: Curve[]; label: string; high?: number }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const style = getComputedStyle(document.documentElement);
    const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim();
    const axis: uPlot.Axis = { stroke: colour("soft"), grid: { stroke: colour("line"), width: 1 }, ticks: { show: false }, font: `12px ${getComputedStyle(document.body).fontFamily}` };
    const element = box.current!;
    const width = (): number => Math.max(200, element.clientWidth);
    const strokes = [colour("accent"), colour("ink"), colour("soft")];
    const plot = new uPlot(
      {
        width: width(),
        height: high,
        axes: [{ ...axis, values: (_, splits) => splits.map((at) => shortly(at, times.at(-1)! - times[0]!)) }, { ...axis, size: 46 }],
        scales: { y: { range: (_, low, top) => [Math.max(0, low - 0.02), Math.min(1, top + 0.02)] } },
        series: [
          { value: (_, at) => (at === null || at === undefined ? "–" : moment(at * 1000)) },
          ...curves.map(({ name, stepped }, i): uPlot.Series => ({
            label: visible(name),
            stroke: strokes[i % strokes.length]!,
            width: 2,
            dash: DASHES[i % DASHES.length]!,
            spanGaps: true,
            points: { show: times.length < 60 },
            value: (_, value) => (value === null || value === undefined ? "–" : value.toFixed(3)),
            ...(stepped && { paths: uPlot.paths.stepped!({ align: 1 }) }),
          })),
        ],
        cursor: { y: false },
      },
      [times, ...curves.map(({ values }) => values)],
      element,
    );
    const resized = new ResizeObserver(() => plot.setSize({ width: width(), height: high }));
    resized.observe(element);
    return () => (resized.disconnect(), plot.destroy());
  }, [times, curves, theme.value]);
  return <div ref={box} class="curves" role="img" aria-label={label} />;
}
