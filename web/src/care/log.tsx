/** The log: what was done, by whom, with what each operation changed, undo, and rolling back with a preview. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { entries, type Logged } from "../answers";
import { call, undo } from "../api";
import { adjust, route } from "../router";
import { Act, Answered, Changes, Chip, Field, Links, Opened, Row, Rows, Select, Time, toggle, useRows } from "../rows";
import { may } from "../session";
import { changes } from "../store";
import { log as s, rows } from "../strings";
import { brief, moment, named, visible } from "../text";
import type { Operation } from "../types";
import { change, Empty, useAnswer, useRested, Word } from "../ui";

const STEP = 50;
/** The memories that a row names. */
const NAMED = 3;

export function Log(): JSX.Element {
  const { params } = route.value;
  const [limit, setLimit] = useState(STEP);
  const rested = useRested(JSON.stringify(["key", "kind", "source", "till"].map((name) => params[name] || null)));
  const [key, kind, source, till] = JSON.parse(rested) as (string | null)[];
  const answer = useAnswer(async (signal) => entries({ key, kind, source, until: till && new Date(till).toISOString(), limit }, signal), [rested, limit, changes.value]);
  useRows([{ key: "Enter", does: s.open, run: toggle }]);
  return (
    <div class="stack">
      <Filters />
      {params.since && <Rollback since={params.since} after={answer.again} />}
      <Answered answer={answer}>
        {({ operations, before }) => (
          <>
            <Rows kind="log" none={<Empty title={s.none} />}>{operations.map((operation) => <Entry key={operation.id} operation={operation} after={answer.again} />)}</Rows>
            {before !== null && <Act label={s.older} run={() => setLimit(limit + STEP)} />}
          </>
        )}
      </Answered>
    </div>
  );
}

function Filters(): JSX.Element {
  const { params } = route.value;
  const field = (name: string) => ({ value: params[name] ?? "", maxLength: 500, onInput: (event: { currentTarget: { value: string } }) => adjust({ [name]: event.currentTarget.value }) });
  return (
    <search class="fields">
      <Field label={s.key}><input {...field("key")} /></Field>
      <Field label={s.kind}><input {...field("kind")} list="log-kinds" /></Field>
      <datalist id="log-kinds">{s.kinds.map((kind) => <option key={kind} value={kind} />)}</datalist>
      <Select label={s.source} value={params.source ?? ""} options={s.sources} set={(source) => adjust({ source })} />
      <Field label={s.until}><input type="datetime-local" {...field("till")} /></Field>
    </search>
  );
}

function Entry({ operation, after }: { operation: Logged; after: () => void }): JSX.Element {
  const { id, kind, at, actor, via, undone_by: undoneBy, subjects } = operation;
  const keys = subjects.map(({ key }) => key);
  const message = operation.message ?? subjects[0]?.text ?? operation.reason;
  const rollBack = (): void => {
    adjust({ since: at });
    document.getElementById("content")?.scrollIntoView();
  };
  const summary = (
    <>
      <span class="kind-of">{visible(kind)}</span>{" "}
      {keys.length > 0 && <span class="subjects">{keys.slice(0, NAMED).map((key) => <Word key={key} text={brief(named(key), 60)} />)} {keys.length > NAMED && "…"}</span>}{" "}
      <Time at={at} /> {actor && <Word text={actor} />} {via && <Word text={via} />} {undoneBy && <Chip>{s.undone}</Chip>}
      {message && <span class="message" dir="auto">{brief(message, 240)}</span>}
    </>
  );
  return (
    <Row name={id} kind="">
      <Opened summary={summary}>
        {() => (
          <>
            <Preview id={id} />
            <Links keys={keys} />
            <div class="row">
              {!undoneBy && may("write") && <Act primary label={s.undo} run={() => void change(s.undid(kind), () => undo(id), after)} />}
              {may("admin") && <Act label={s.rollBackHere} run={rollBack} />}
              <code class="faint">{id}</code>
            </div>
          </>
        )}
      </Opened>
    </Row>
  );
}

function Preview({ id }: { id: string }): JSX.Element {
  const answer = useAnswer((signal) => call<Operation>("operation", { operation_id: id }, signal), [id]);
  return <Answered answer={answer}>{(value) => (value.changes.length > 0 ? <Changes changes={value.changes} /> : <p class="faint">{s.noChanges}</p>)}</Answered>;
}

/** What rolling back to a time would do, before it is done. */
function Rollback({ since, after }: { since: string; after: () => void }): JSX.Element {
  const [source, setSource] = useState("");
  const args = { since, source: source || null };
  const answer = useAnswer((signal) => call<Operation>("rollback", { ...args, dry_run: true }, signal), [since, source, changes.value]);
  const { value, error, busy, again } = answer;
  const close = (): void => adjust({ since: "" });
  const carryOut = (): void => void change(s.rolledBack, () => call<Operation>("rollback", args), () => (close(), after()));
  return (
    <section class="card stack" aria-label={s.rollBack}>
      <h2>{s.rollBackTo(moment(since))}</h2>
      <div class="fields"><Select label={s.only} value={source} options={s.sources} set={setSource} /></div>
      <Answered answer={busy ? { again } : answer}>{({ message, changes: all }) => <><p dir="auto">{visible(message ?? "")}</p><Changes changes={all} /></>}</Answered>
      <div class="row"><Act primary label={s.rollBack} disabled={busy || Boolean(error) || !value?.changes.length} run={carryOut} /><Act label={rows.cancel} run={close} /></div>
    </section>
  );
}
