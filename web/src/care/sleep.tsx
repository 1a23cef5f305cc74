/** Sleep: a proposal, item by item with its reasons; those that are chosen are applied as one operation. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Item, Proposal } from "../answers";
import { call } from "../api";
import { Act, Changes, Links, Opened, Progress, Row, Rows, toggle, useJob, useRows } from "../rows";
import { may } from "../session";
import { rows, sleep as s } from "../strings";
import { brief, visible } from "../text";
import type { Operation } from "../types";
import { change, Empty } from "../ui";

const STAGES = ["decay", "light", "deep", "skill", "prune", "link"];
const STEP = 50;

/** A set with an item more, or without it. */
function flipped<T>(set: ReadonlySet<T>, item: T): ReadonlySet<T> {
  const next = new Set(set);
  if (!next.delete(item)) next.add(item);
  return next;
}

export function Sleep(): JSX.Element {
  const [stages, setStages] = useState<ReadonlySet<string>>(new Set(STAGES));
  const [proposal, setProposal] = useState<Proposal | null>(null);
  const { job, start, cancel } = useJob(({ result }) => result !== null && setProposal(result as Proposal));
  if (!may("write")) return <Empty title={s.readOnly} />;
  return (
    <div class="stack">
      <p class="faint">{s.about}</p>
      <fieldset class="choices stages">
        <legend class="unseen">{s.stages}</legend>
        {STAGES.map((stage) => <label key={stage} title={s.does[stage]}><input type="checkbox" checked={stages.has(stage)} onChange={() => setStages(flipped(stages, stage))} /> {stage}</label>)}
      </fieldset>
      <div class="row">
        <Act primary={!proposal} label={proposal ? s.again : s.propose} disabled={job !== null || stages.size === 0} run={() => void start("sleep", { dry_run: true, ...(stages.size < STAGES.length && { stages: [...stages] }) })} />
        {job && <Progress job={job} cancel={cancel} />}
      </div>
      {proposal && !job && <Proposed key={proposal.id} proposal={proposal} applied={() => setProposal(null)} />}
    </div>
  );
}

function Proposed({ proposal, applied }: { proposal: Proposal; applied: () => void }): JSX.Element {
  const { items } = proposal;
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(items.map((item) => item.id)));
  const [most, setMost] = useState(STEP);
  const flip = (id: string): void => setChosen(flipped(chosen, id));
  useRows([{ key: " ", does: s.flip, run: flip }, { key: "Enter", does: s.open, run: toggle }]);
  const apply = (): Promise<Operation> => call("apply", { proposal: proposal.id, only: [...chosen] });
  return (
    <>
      {items.length > 0 && (
        <div class="row">
          <Act primary label={s.apply(chosen.size)} disabled={chosen.size === 0} run={() => void change(s.applied(chosen.size), apply, applied)} />
          <Act label={chosen.size ? s.chooseNone : s.chooseAll} run={() => setChosen(new Set(chosen.size ? [] : items.map((item) => item.id)))} />
        </div>
      )}
      <Rows none={<Empty title={s.nothing} />}>{items.slice(0, most).map((item) => <Proposing key={item.id} item={item} chosen={chosen.has(item.id)} flip={() => flip(item.id)} />)}</Rows>
      {items.length > most && <Act label={rows.more(items.length - most)} run={() => setMost(most + STEP)} />}
      <Left proposal={proposal} />
    </>
  );
}

function Proposing({ item: { id, action, stage, keys, into, reason, evidence, changes }, chosen, flip }: { item: Item; chosen: boolean; flip: () => void }): JSX.Element {
  return (
    <Row name={id} kind="proposing">
      <input type="checkbox" checked={chosen} onChange={flip} aria-label={`${action} ${brief(keys[0] ?? "", 60)}`} />
      <div>
        <p><b>{visible(action)}</b> <span class="faint">{s.by(visible(stage))}</span></p>
        <Links keys={keys} />
        {into && <Links title="→" keys={[into]} />}
        <p class="faint" dir="auto">{visible(reason)}</p>
        <Opened summary={s.evidence}>
          {() => (
            <>
              <dl class="facts">{Object.entries(evidence).map(([name, value]) => <div key={name}><dt>{visible(name.replaceAll("_", " "))}</dt><dd dir="auto">{brief(typeof value === "string" ? value : JSON.stringify(value), 400)}</dd></div>)}</dl>
              <Changes changes={changes} />
            </>
          )}
        </Opened>
      </div>
    </Row>
  );
}

/** What was not proposed, and why. */
function Left({ proposal }: { proposal: Proposal }): JSX.Element | null {
  const left = [
    ...proposal.left_alone.map(({ keys, reason, words, stage }) => [stage, reason, words.join(", "), keys.join(", ")].filter(Boolean).join(": ")),
    ...proposal.checks.flatMap(({ stage, rule, dropped }) => dropped.map((reason) => `${stage}, ${rule}: ${reason}`)),
  ];
  if (left.length === 0) return null;
  return <Opened summary={s.left(left.length)}>{() => <ul class="changes">{left.slice(0, 100).map((text, i) => <li key={i} dir="auto">{visible(text)}</li>)}</ul>}</Opened>;
}
