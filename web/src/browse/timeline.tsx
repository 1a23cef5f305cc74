/** The captured sessions of agents in time: what was asked, what came of it, files and commits. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { type Captured, listing } from "../answers";
import { to } from "../router";
import { Act, Answered, Nothing, Row, ToMemory, useRows } from "../rows";
import { changes } from "../store";
import { browse as s, timeline as t } from "../strings";
import { day, moment } from "../text";
import type { Memory } from "../types";
import { Prose, useAnswer, Word } from "../ui";

const STEP = 30;
const FEW = 3;
const when = (memory: Memory): string => memory.occurred_at ?? memory.recorded_at;

export function Timeline(): JSX.Element {
  const [limit, setLimit] = useState(STEP);
  const answer = useAnswer((signal) => listing({ filters: { source: "capture" }, limit }, signal), [limit, changes.value]);
  useRows();
  return (
    <Answered answer={answer}>
      {({ memories, end }) => {
        if (memories.length === 0) return <Nothing title={t.none} about={t.how} command={t.command} />;
        const days = [...new Set(memories.map((memory) => day(when(memory))))];
        return (
          <div class="timeline">
            {days.map((date) => (
              <section key={date}>
                <h2>{date}</h2>
                <ol>{memories.filter((memory) => day(when(memory)) === date).map((memory) => <Session key={memory.id} memory={memory} />)}</ol>
              </section>
            ))}
            {end > 0 && <Act label={s.older} run={() => setLimit(limit + STEP)} />}
          </div>
        );
      }}
    </Answered>
  );
}

function Session({ memory }: { memory: Memory }): JSX.Element {
  const { asked = [], answered = "", changed = [], commits = [] } = (memory.metadata.captured ?? {}) as Partial<Captured>;
  const [first = memory.content, ...then] = asked;
  return (
    <Row name={memory.key}>
      <div class="about">
        <span class="number">{moment(when(memory)).slice(-5)}</span> <span class="name"><ToMemory name={memory.key} /></span>
        {memory.session && <a href={to("browse", { session: memory.session })}>{t.all}</a>}
      </div>
      <Prose text={first} clip={300} class="asked" />
      <Part title={t.then} list={then} />
      {answered && <div><h3>{t.answered}</h3><Prose text={answered} clip={400} /></div>}
      <div class="outcome"><Part title={t.changed} list={changed} kind="mono" /><Part title={t.commits} list={commits} /></div>
    </Row>
  );
}

function Part({ title, list, kind = "" }: { title: string; list: string[]; kind?: string }): JSX.Element | null {
  const [all, setAll] = useState(false);
  if (list.length === 0) return null;
  return (
    <div>
      <h3>{title}</h3>
      <ul class={kind}>{(all ? list : list.slice(0, FEW)).map((text) => <li key={text}><Word text={text} /></li>)}</ul>
      {list.length > FEW && !all && <Act label={t.more(list.length - FEW)} run={() => setAll(true)} />}
    </div>
  );
}
