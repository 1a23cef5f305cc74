/** The graph of everything: what is shown before anything was asked. */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "../api";
import { Canvas } from "../graph/canvas";
import { drawing, edgesOf, thinned } from "../graph/model";
import { route, to } from "../router";
import { changes } from "../store";
import { recall as s } from "../strings";
import { calm, theme } from "../theme";
import type { Memory } from "../types";
import { Failure, Kind, Prose, useAnswer, Waiting, Word } from "../ui";
import { Zoom } from "./spread";
import { Walked } from "./walked";

export function Whole(): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<Canvas | null>(null);
  const [chosen, choose] = useState<string | null>(null);
  const [placing, setPlacing] = useState(true);
  const { known } = route.value.params;
  const [seen, setSeen] = useState(changes.value);
  const { value, error, again } = useAnswer((signal) => (setSeen(changes.value), drawing(known ? { known_at: known } : {}, signal)), [known]);

  useEffect(() => {
    if (!value || !box.current) return;
    const drawn = (canvas.current ??= new Canvas(box.current, { choose }));
    const { nodes, links } = thinned(value);
    const edges = edgesOf(thinned(value));
    const worker = new Worker(new URL("../graph/layout.worker.ts", import.meta.url), { type: "module" });
    let isFirst = true;
    setPlacing(true);
    worker.onmessage = ({ data }: MessageEvent<{ places: Float32Array; isLast: boolean }>): void => {
      const place = (i: number): { x: number; y: number } => ({ x: data.places[i * 2]!, y: data.places[i * 2 + 1]! });
      if (isFirst) drawn.show({ nodes: nodes.map(([key, kind], i) => ({ key, kind, ...place(i) })), edges });
      else drawn.place(new Map(nodes.map(([key], i) => [key, place(i)])));
      isFirst = false;
      if (data.isLast) {
        setPlacing(false);
        worker.terminate();
      }
    };
    worker.postMessage({ nodes: nodes.length, links: links.map(([source, target, , weight]) => [source, target, weight]), live: !calm.matches });
    return () => worker.terminate();
  }, [value]);
  useEffect(() => () => canvas.current?.end(), []);
  useEffect(() => canvas.current?.repaint(), [theme.value]);

  if (error) return <Failure error={error} again={again} />;
  return (
    <div class="recall">
      <section class="spread" aria-label={s.whole.label} data-ready={!placing}>
        <Walked box={box} canvas={canvas} focus={choose} />
        <Zoom canvas={canvas} />
      </section>
      <aside class="side stack">
        <h1 class="ask">{s.whole.ask}</h1>
        {value ? (
          <p class="faint">
            {s.whole.about(value.nodes.length, value.links.length)}
            {thinned(value) !== value && ` ${s.whole.strongest}`}
            {value.left_out > 0 && ` ${s.whole.more(value.left_out)}`} {placing && s.whole.placing}
          </p>
        ) : (
          <Waiting />
        )}
        <p class="faint">{s.whole.hint}</p>
        {changes.value !== seen && (
          <button type="button" onClick={again}>
            {s.whole.again}
          </button>
        )}
        {chosen && <Chosen name={chosen} />}
      </aside>
    </div>
  );
}

function Chosen({ name }: { name: string }): JSX.Element {
  const { value, error } = useAnswer((signal) => call<Memory>("get", { key: name }, signal), [name]);
  if (error) return <Failure error={error} />;
  if (!value) return <Waiting />;
  return (
    <article class="card stack">
      <h2>
        <Word text={value.key} />
      </h2>
      <Kind kind={value.kind} />
      {value.content && <Prose text={value.content} clip={600} />}
      <a href={to("memory", {}, value.key)}>{s.open}</a>
    </article>
  );
}
