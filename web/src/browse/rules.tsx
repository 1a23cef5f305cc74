/** Rules: when each applies, what told it, and how often it was followed. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Rule, Why } from "../answers";
import { call } from "../api";
import { to } from "../router";
import { Act, Answered, Bar, Chip, Conditions, Links, Nothing, Opened, Row, Rows, Time, useRows } from "../rows";
import { changes } from "../store";
import { rows, rules as r } from "../strings";
import { visible } from "../text";
import { Empty, useAnswer, useRested } from "../ui";
import { Editable } from "./entry";

const MOST = 1000;
const STEP = 50;

export function Rules(): JSX.Element {
  const [words, setWords] = useState("");
  const [most, setMost] = useState(STEP);
  const matching = useRested(words).trim() || null;
  const answer = useAnswer((signal) => call<Rule[]>("list", { kinds: ["behavior"], matching, limit: MOST }, signal), [matching, changes.value]);
  useRows();
  return (
    <div class="stack">
      <div class="row">
        <input type="search" class="find" value={words} onInput={(event) => setWords(event.currentTarget.value)} placeholder={r.words} aria-label={r.words} />
        <span class="faint number" role="status">{answer.value && r.number(answer.value.length)}</span>
      </div>
      <Answered answer={answer}>
        {(value) => (
          <>
            <Rows none={matching ? <Empty title={r.noMatch} /> : <Nothing title={r.none} about={r.how} command={r.command} />}>
              {value.toReversed().slice(0, most).map((rule) => <Entry key={rule.id} rule={rule} after={answer.again} />)}
            </Rows>
            {value.length > most && <Act label={rows.more(value.length - most)} run={() => setMost(most + STEP)} />}
          </>
        )}
      </Answered>
    </div>
  );
}

function Entry({ rule, after }: { rule: Rule; after: () => void }): JSX.Element {
  const { use, metadata, key } = rule;
  const type = String(metadata.rule ?? "");
  return (
    <Row name={key} kind="rule">
      <div>
        <div class="about">
          {type && <span class={type === "constraint" ? "bad-text" : ""}>{visible(type)}</span>}
          <Conditions when={rule.when} />
          {use.quiet && <a href={to("care", {}, "quiet")} title={visible(use.quiet)}>{r.quiet}</a>}
        </div>
        <Editable memory={rule} after={after} />
        <Opened summary={r.origin}>{() => <Origin name={key} />}</Opened>
      </div>
      <Followed use={use} />
    </Row>
  );
}

/** How often a rule was shown, confirmed and overridden. */
function Followed({ use: { shown, confirmed, overridden } }: { use: Rule["use"] }): JSX.Element {
  const judged = confirmed + overridden;
  const figures = [[r.shown, shown ?? 0], [r.confirmed, confirmed], [r.overridden, overridden]] as const;
  return (
    <div class="followed">
      <dl>{figures.map(([name, value]) => <div key={name}><dt>{name}</dt><dd class="number">{value.toLocaleString("en")}</dd></div>)}</dl>
      {judged > 0 ? <Bar share={confirmed / judged} title={r.share(confirmed, judged)} /> : <span class="faint">{r.unjudged}</span>}
    </div>
  );
}

function Origin({ name }: { name: string }): JSX.Element {
  const answer = useAnswer((signal) => call<Why>("why", { key: name }, signal), [name, changes.value]);
  return (
    <Answered answer={answer}>
      {({ reasons, learned_from: from, overrides, overridden_by: by, conflicts, verdicts }) => (
        <>
          <ul class="reasons">{reasons.map((reason) => <li key={reason} dir="auto">{visible(reason)}</li>)}</ul>
          <Links title={r.page} keys={[name]} />
          <Links title={r.learnedFrom} keys={from} />
          <Links title={r.overrides} keys={overrides} />
          <Links title={r.overriddenBy} keys={by} />
          <Links title={r.conflicts} keys={conflicts} />
          <ul>{verdicts.slice(0, 20).map(({ at, verdict, session, tier }, i) => <li key={i}><Time at={at} /> <Chip>{visible(verdict)}</Chip> <span class="faint">{visible(session ?? tier)}</span></li>)}</ul>
        </>
      )}
    </Answered>
  );
}
