/** Sessions of the loop: their tasks, the gates of each attempt, and how to go on. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Attempt, LoopSession, Report, Task } from "../answers";
import { call } from "../api";
import { Act, Answered, Chip, Links, Nothing, Opened, Row, Rows, Time, toggle, useRows } from "../rows";
import { loop as s } from "../strings";
import { brief, visible } from "../text";
import { Prose, useAnswer } from "../ui";

const STEP = 30;

export function Loop(): JSX.Element {
  const [limit, setLimit] = useState(STEP);
  const answer = useAnswer((signal) => call<LoopSession[]>("loop_list", { limit }, signal), [limit]);
  useRows([{ key: "Enter", does: s.open, run: toggle }]);
  return (
    <Answered answer={answer}>
      {(value) => (
        <>
          <Rows none={<Nothing title={s.none} about={s.how} command={s.command} />}>{value.map((session) => <Session key={session.session} session={session} />)}</Rows>
          {value.length === limit && <Act label={s.more} run={() => setLimit(limit + STEP)} />}
        </>
      )}
    </Answered>
  );
}

function Session({ session: { session, objective, stands, delivered, tasks, updated_at: at, parent } }: { session: LoopSession }): JSX.Element {
  const summary = (
    <>
      <span class="objective" dir="auto">{brief(objective, 240)}</span>
      <span class="about"><Chip>{visible(stands)}</Chip> <span class="number">{s.delivered(delivered, tasks)}</span> <Time at={at} /> {parent && <span>{s.subgoal}</span>}</span>
    </>
  );
  return <Row name={session} kind=""><Opened summary={summary}>{() => <Tasks session={session} />}</Opened></Row>;
}

function Tasks({ session }: { session: string }): JSX.Element {
  const answer = useAnswer((signal) => call<Report>("loop_report", { session }, signal), [session]);
  return (
    <Answered answer={answer}>
      {({ why, line, waits, next_command: next, tasks, helped, stored }) => (
        <>
          <p dir="auto">{visible([why, line].filter(Boolean).join(" · "))}</p>
          {waits && <p dir="auto">{s.waits(visible(waits.about))}</p>}
          {next && <pre>{visible(next)}</pre>}
          <ol class="tasks">{tasks.map((task) => <Step key={task.seq} task={task} />)}</ol>
          <Links title={s.helped} keys={helped} />
          <Links title={s.stored} keys={stored} />
        </>
      )}
    </Answered>
  );
}

const Step = ({ task: { seq, plan, status, attempts } }: { task: Task }): JSX.Element => (
  <li>
    <p dir="auto"><span class="number faint">{seq}</span> {visible(plan.objective)} <Chip>{visible(status)}</Chip></p>
    {plan.verify && <p class="faint">{s.gate} <code>{visible(plan.verify)}</code></p>}
    {attempts.map((attempt) => <Tried key={attempt.number} attempt={attempt} />)}
  </li>
);

function Tried({ attempt: { number, at, verified, error, acted } }: { attempt: Attempt }): JSX.Element {
  const came = error ?? acted?.obstacle ?? acted?.details;
  return (
    <div class="attempt">
      <p class="about">
        <span>{s.attempt(number)}</span> <Time at={at} />
        {verified && <span class={verified.status === "passed" ? "good-text" : "bad-text"}>{s.gated(visible(verified.status), verified.exit_status, verified.seconds)}</span>}
      </p>
      {came && <Prose text={came} clip={400} />}
      {verified?.output && <Opened summary={s.output}>{() => <pre>{visible(verified.output.slice(-8000))}</pre>}</Opened>}
    </div>
  );
}
