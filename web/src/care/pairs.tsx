/** Pairs that contradict or are unclear, and rules that went quiet: each is settled by one key. */
import type { JSX } from "preact";
import type { Review, Side } from "../answers";
import { call } from "../api";
import { Act, Answered, Chip, Nothing, Row, Rows, Time, ToMemory, useRows } from "../rows";
import { may } from "../session";
import { changes } from "../store";
import { care as s, pairs as p, quiet as q } from "../strings";
import { visible } from "../text";
import type { Operation } from "../types";
import { change, Prose, useAnswer, Word } from "../ui";

const useReview = () => useAnswer((signal) => call<Review[]>("review", { limit: 200 }, signal), [changes.value]);
const WAYS = ["older", "newer", "both"] as const;

export function Pairs(): JSX.Element {
  const answer = useReview();
  const settle = (how: (typeof WAYS)[number], id: string): void => {
    const pair = answer.value?.find((entry) => entry.id === id);
    if (!pair?.newer || !may("write")) return;
    const [keep, drop] = how === "older" ? [pair.older.key, pair.newer.key] : [pair.newer.key, pair.older.key];
    const does = () => (how === "both" ? call<Operation>("keep_both", { id }) : call<Operation>("deprecate", { key: drop, by: keep }));
    void change(how === "both" ? p.bothHold : p.holds(keep), does, answer.again);
  };
  useRows(WAYS.map((how) => ({ key: how.charAt(0), does: p[how], run: (id: string) => settle(how, id) })));
  return (
    <Answered answer={answer}>
      {(value) => (
        <Rows none={<Nothing title={p.none} about={p.noneAbout} />}>
          {value.filter((pair) => pair.newer !== null).map((pair) => (
            <Row key={pair.id} name={pair.id}>
              <About {...pair} title={pair.subject === "rules" ? p.rules : pair.subject} />
              <div class="pair"><Half title={p.earlier} side={pair.older} />{pair.newer && <Half title={p.later} side={pair.newer} />}</div>
              {may("write") && <div class="row">{WAYS.map((how) => <Act key={how} label={p[how]} hot={how.charAt(0)} run={() => settle(how, pair.id)} />)}</div>}
            </Row>
          ))}
        </Rows>
      )}
    </Answered>
  );
}

const About = ({ title, slot, reason }: { title?: string; slot: string; reason: string | null }): JSX.Element => (
  <div class="about">
    {title && <Word text={title} />}
    {slot && <Chip>{visible(slot)}</Chip>}
    {reason && <span dir="auto">{visible(reason)}</span>}
  </div>
);

const Half = ({ title, side: { key, content, value, told_at: at } }: { title: string; side: Side }): JSX.Element => (
  <div>
    <div class="about"><b>{title}</b> <Time at={at} /></div>
    <Prose text={content} clip={600} />
    {value !== content && <p><span class="faint">{p.value}</span> <mark><Word text={value} /></mark></p>}
    <p class="faint"><ToMemory name={key} text={s.page} /></p>
  </div>
);

/** Quiet rules: those that were mostly overridden of late, so that they are told by name at most. */
export function Quiet(): JSX.Element {
  const answer = useReview();
  const confirm = (key: string): void => void (may("write") && change(q.confirmed(key), () => call<Operation>("feedback", { confirmed: [key] }), answer.again));
  const drop = (key: string): void => void (may("write") && change(q.dropped(key), () => call<Operation>("deprecate", { key, reason: q.reason }), answer.again));
  useRows([{ key: "c", does: q.confirm, run: confirm }, { key: "x", does: q.drop, run: drop }]);
  return (
    <Answered answer={answer}>
      {(value) => (
        <Rows none={<Nothing title={q.none} about={q.noneAbout} />}>
          {value.filter((entry) => entry.newer === null).map(({ older: { key, content }, slot, reason, instead }) => (
            <Row key={key} name={key}>
              <About slot={slot} reason={reason} />
              <Prose text={content} clip={600} />
              {instead.length > 0 && <div><h3>{q.instead}</h3>{instead.map((text) => <Prose key={text} text={text} clip={300} />)}</div>}
              <div class="row">
                {may("write") && <><Act label={q.confirm} hot="c" run={() => confirm(key)} /><Act label={q.drop} hot="x" run={() => drop(key)} /></>}
                <ToMemory name={key} text={s.page} />
              </div>
            </Row>
          ))}
        </Rows>
      )}
    </Answered>
  );
}
