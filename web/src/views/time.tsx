/** Time: what changed between two times, how strong links were, and which swing. */
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { call } from "../api";
import { Curves } from "../parts/curve";
import { Events } from "../parts/events";
import { adjust, route, to } from "../router";
import { changes } from "../store";
import { memory as words, time as s } from "../strings";
import { brief, count, moment, named, visible } from "../text";
import { Failure, useAnswer, Waiting, Word } from "../ui";
import "../styles/time.css";

const DAY = 86_400_000;
const SPANS: Record<string, number> = { day: DAY, week: 7 * DAY, month: 30 * DAY };
const OVER = 60;
const MOST = 200;

export default function TimeView(): JSX.Element {
  return (
    <div class="view page">
      <h1>{s.title}</h1>
      <Changed />
      <div class="columns">
        <Strengths />
        <Swinging />
      </div>
    </div>
  );
}

interface Strength {
  at: string;
  links: number;
  mean: number | null;
  median: number | null;
}

function Strengths(): JSX.Element {
  const { value, error, again } = useAnswer((signal) => call<Strength[]>("strengths", { over: OVER }, signal), [changes.value]);
  const drawn = useMemo(
    () => ({
      times: (value ?? []).map(({ at }) => new Date(at).getTime() / 1000),
      curves: [
        { name: s.mean, values: (value ?? []).map(({ mean }) => mean) },
        { name: s.median, values: (value ?? []).map(({ median }) => median) },
      ],
    }),
    [value],
  );
  const links = value?.at(-1)?.links ?? 0;
  return (
    <section class="stack wide">
      <h2>{s.strengths}</h2>
      {error ? <Failure error={error} again={again} /> : !value ? <Waiting /> : links === 0 ? <p class="faint">{s.noStrengths}</p> : <Curves {...drawn} label={s.strengths} />}
      {links > 0 && (
        <p class="faint">
          {s.strengthsAbout} {count(links, "link")}.
        </p>
      )}
    </section>
  );
}

interface Oscillation {
  source: string;
  relation: string;
  target: string;
  turns: number;
  moves: number;
  weight: number | null;
}

function Swinging(): JSX.Element {
  const { value, error, again } = useAnswer((signal) => call<Oscillation[]>("oscillating", {}, signal), [changes.value]);
  const [open, setOpen] = useState<string | null>(null);
  if (error) return <Failure error={error} again={again} />;
  if (!value) return <Waiting />;
  return (
    <section class="stack">
      <h2>{s.oscillating}</h2>
      <p class="faint">{value.length > 0 ? s.oscillatingAbout : s.noOscillating}</p>
      <ul class="plain">
        {value.map((link) => {
          const edge = [link.source, link.relation, link.target];
          const name = edge.join("\n");
          return (
            <li key={name}>
              <button type="button" class="quiet" aria-expanded={open === name} onClick={() => setOpen(open === name ? null : name)}>
                <bdi>{edge.map(named).join(" · ")}</bdi> <span class="number faint">{s.turns(link.turns)}</span>
              </button>
              {open === name && <Events name={link.source} only={edge} label={edge.map(named).join(" ")} none={words.noWeights} />}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

interface Diff {
  memories: { key: string; kind: string; what: string; before: string | null; after: string | null; at: string | null }[];
  links: { source: string; relation: string; target: string; what: string; before: number | null; after: number | null }[];
  answers: { key: string; what: string; rank_before: number | null; rank_after: number | null; after: string | null; before: string | null }[];
  reason: string | null;
}

function Changed(): JSX.Element {
  const { span = "week", about = "" } = route.value.params;
  const ask = async (signal: AbortSignal): Promise<Diff> => {
    const d2 = new Date();
    const ago = SPANS[span];
    const first = ago === undefined ? (await call<Strength[]>("strengths", { over: 2 }, signal))[0]?.at : undefined;
    // Just before the first operation, so that it counts as a change.
    const d1 = new Date(first ? new Date(first).getTime() - 1000 : d2.getTime() - (ago ?? DAY));
    return call<Diff>("diff", { d1: d1.toISOString(), d2: d2.toISOString(), ...(about && { question: about }) }, signal);
  };
  const { value, error, again } = useAnswer(ask, [span, about, changes.value]);
  return (
    <section class="stack">
      <div class="row">
        <h2>{s.diff}</h2>
        {Object.entries(s.spans).map(([name, title]) => (
          <button key={name} type="button" class="small" aria-pressed={span === name} onClick={() => adjust({ span: name })}>
            {title}
          </button>
        ))}
        <form
          class="row"
          onSubmit={(event) => {
            event.preventDefault();
            adjust({ about: String(new FormData(event.currentTarget).get("about")).trim() });
          }}
        >
          <input name="about" defaultValue={about} placeholder={s.question} aria-label={s.question} maxLength={4000} />
          <button type="submit">{s.compare}</button>
        </form>
      </div>
      {error ? <Failure error={error} again={again} /> : !value ? <Waiting /> : <Moves {...value} />}
    </section>
  );
}

const What = ({ what }: { what: string }): JSX.Element => <span class="what">{s.whats[what] ?? visible(what)}</span>;

function Moves({ memories, links, answers, reason }: Diff): JSX.Element {
  if (memories.length + links.length + answers.length === 0) return <p class="faint">{reason ? visible(reason) : s.noChange}</p>;
  return (
    <div class="moves">
      {answers.length > 0 && (
        <div>
          <h3>{s.answers}</h3>
          <table>
            <tbody>
              {answers.map((move) => (
                <tr key={move.key}>
                  <td class="number">{s.rank(move.rank_before, move.rank_after)}</td>
                  <td>
                    <What what={move.what} />
                  </td>
                  <td>
                    <a href={to("memory", {}, move.key)}>
                      <Word text={move.key} />
                    </a>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {memories.length > 0 && (
        <div>
          <h3>
            {s.memories} · {memories.length}
          </h3>
          <ul class="plain scroll" tabIndex={0} aria-label={s.memories}>
            {memories.slice(-MOST).reverse().map((move, i) => (
              <li key={i}>
                <What what={move.what} />{" "}
                <a href={to("memory", {}, move.key)}>
                  <Word text={move.key} />
                </a>{" "}
                <span class="faint">{moment(move.at)}</span>
                <p class="faint" dir="auto">
                  {brief(move.after ?? move.before ?? "", 120)}
                </p>
              </li>
            ))}
          </ul>
        </div>
      )}
      {links.length > 0 && (
        <div>
          <h3>
            {s.moved} · {links.length}
          </h3>
          <ul class="plain scroll" tabIndex={0} aria-label={s.moved}>
            {links.slice(-MOST).reverse().map((move, i) => (
              <li key={i} class="link">
                <What what={move.what} />
                <bdi>{[move.source, move.relation, move.target].map(named).join(" · ")}</bdi>
                <span class="number">
                  {move.before?.toFixed(2) ?? "–"} → {move.after?.toFixed(2) ?? "–"}
                </span>
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}
