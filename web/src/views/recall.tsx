/** Recall: a question, what it brings up and how, and the verdicts on it. */
import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { call, undo } from "../api";
import { type Drawing, drawing, drawnKeys } from "../graph/model";
import { useKeys } from "../keys";
import { Hits, type Judged, type Verdict } from "../parts/hits";
import { Packed } from "../parts/packed";
import { AsOf, asked, Settings } from "../parts/settings";
import { Spread } from "../parts/spread";
import { Whole } from "../parts/whole";
import { adjust, go, route } from "../router";
import { changes, look } from "../store";
import { recall as s } from "../strings";
import { visible } from "../text";
import type { Operation, Recall } from "../types";
import { Empty, fail, Failure, useAnswer, useRested, Waiting } from "../ui";
import "../styles/recall.css";

export default function RecallView(): JSX.Element {
  return route.value.params.q ? <Answered /> : <Whole />;
}

interface Answer {
  recall: Recall;
  around: Drawing;
}

async function ask(args: Record<string, unknown>, signal: AbortSignal): Promise<Answer> {
  const recall = await call<Recall>("recall", args, signal);
  const at = args.known_at ? { known_at: args.known_at as string } : {};
  return { recall, around: await drawing({ keys: drawnKeys(recall), ...at }, signal) };
}

function Answered(): JSX.Element {
  const args = useRested(JSON.stringify(asked(route.value.params)));
  const [seen, setSeen] = useState(changes.value);
  const { value, error, busy, again } = useAnswer((signal) => (setSeen(changes.value), ask(JSON.parse(args) as Record<string, unknown>, signal)), [args]);
  const { value: ends } = useAnswer((signal) => call<{ at: string }[]>("strengths", { over: 2 }, signal).catch(() => []), []);
  if (error) return <Failure error={error} again={again} />;
  if (!value) return <Waiting />;
  return (
    <div class="recall" aria-busy={busy}>
      {changes.value !== seen && (
        <p class="stale">
          {s.stale}{" "}
          <button type="button" class="small" onClick={again}>
            {s.askAgain}
          </button>
        </p>
      )}
      <Shown answer={value.recall} around={value.around} since={ends?.[0]?.at ?? value.recall.hits.map(({ memory }) => memory.recorded_at).sort()[0] ?? ""} />
    </div>
  );
}

function Shown({ answer, around, since }: { answer: Recall; around: Drawing; since: string }): JSX.Element {
  const { hit: chosen = null } = route.value.params as { hit?: string };
  const [lit, light] = useState<string | null>(null);
  const [judged, setJudged] = useState<ReadonlyMap<string, Judged>>(new Map());
  const keys = useMemo(() => answer.hits.map(({ memory }) => memory.key), [answer]);
  const place = chosen === null ? -1 : keys.indexOf(chosen);
  const choose = (key: string | null): void => adjust({ hit: key ?? "" });

  const without = (key: string): void => setJudged((before) => new Map([...before].filter(([other]) => other !== key)));
  const judge = async (key: string, verdict: Verdict): Promise<void> => {
    try {
      const before = judged.get(key);
      if (before) await undo(before.done.id);
      without(key);
      const done = await call<Operation>("feedback", { recall_id: answer.recall_id, [verdict.replace("-", "_")]: [key] });
      setJudged((others) => new Map([...others, [key, { verdict, done }]]));
      await look();
    } catch (error) {
      fail(error);
    }
  };
  const takeBack = async (key: string): Promise<void> => {
    const before = judged.get(key);
    if (!before) return;
    await undo(before.done.id).then(() => without(key), fail);
    await look();
  };
  const step = (by: number): void => {
    const next = keys[Math.max(0, Math.min(keys.length - 1, place + by))];
    if (next === undefined) return;
    choose(next);
    light(next);
    document.querySelector<HTMLElement>(`#hit-${keys.indexOf(next) + 1} .head`)?.focus();
  };
  const onHit = (does: (key: string) => void) => () => chosen !== null && place >= 0 && does(chosen);
  useKeys([
    { key: "ArrowDown", does: s.keys.next, run: () => step(1) },
    { key: "ArrowUp", does: s.keys.previous, run: () => step(-1) },
    { key: "u", does: s.keys.used, run: onHit((key) => judge(key, "used")) },
    { key: "r", does: s.keys.notRelevant, run: onHit((key) => judge(key, "not-relevant")) },
    { key: "n", does: s.keys.notUseful, run: onHit((key) => judge(key, "not-useful")) },
    { key: "z", does: s.keys.undo, run: () => [...judged.keys()].slice(-1).forEach(takeBack) },
    { key: "Enter", does: s.keys.open, run: onHit((key) => go("memory", {}, key)) },
  ]);
  useEffect(() => {
    setJudged(new Map());
    light(null);
    if (place < 0 && keys[0] !== undefined) choose(keys[0]);
  }, [answer]);
  return (
    <>
      <div class="stage">
        <Spread answer={answer} around={around} lit={lit} choose={(key) => (keys.includes(key) ? choose(key) : go("memory", {}, key))} hover={(key) => light(key !== null && keys.includes(key) ? key : null)} />
        <AsOf since={since} />
      </div>
      <aside class="side">
        <Settings />
        {answer.hits.length === 0 ? (
          <Empty title={s.none}>
            <p>{visible(answer.reason ?? s.noneAbout)}</p>
          </Empty>
        ) : (
          <Hits answer={answer} chosen={chosen} choose={choose} light={light} judged={judged} judge={judge} undo={takeBack} />
        )}
        <div class="stack notes">
          {!answer.recorded && <p class="faint">{s.notRecorded}</p>}
          {answer.degraded.includes("vectors") && <p class="faint">{s.degraded}</p>}
          {answer.more > 0 && <p class="faint">{s.more(answer.more)}</p>}
          {answer.hits.length > 0 && <Packed answer={answer} />}
        </div>
      </aside>
    </>
  );
}
