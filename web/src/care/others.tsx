/** Names that mean the same, and important memories that are about to be forgotten. */
import type { JSX } from "preact";
import type { Alias, Fading } from "../answers";
import { call } from "../api";
import { Act, Answered, Bar, Nothing, Row, Rows, Time, ToMemory, useRows } from "../rows";
import { may } from "../session";
import { changes } from "../store";
import { aliases as a, fading as f } from "../strings";
import { named, percent, visible } from "../text";
import type { Operation } from "../types";
import { change, Kind, Prose, useAnswer } from "../ui";

export function Aliases(): JSX.Element {
  const answer = useAnswer((signal) => call<Alias[]>("aliases", { dry_run: true, limit: 200 }, signal), [changes.value]);
  const merge = (alias: string): void => {
    const pair = answer.value?.find((each) => each.alias === alias);
    if (pair && may("write")) void change(a.merged(named(alias), named(pair.name)), () => call<Operation>("merge", { key: alias, into: pair.name }), answer.again);
  };
  useRows([{ key: "m", does: a.merge, run: merge }]);
  return (
    <Answered answer={answer}>
      {(value) => (
        <Rows none={<Nothing title={a.none} about={a.noneAbout} />}>
          {value.map(({ alias, name, reason, evidence }) => (
            <Row key={alias} name={alias}>
              <p class="alias"><ToMemory name={alias} text={named(alias)} /> → <ToMemory name={name} text={named(name)} /> <span class="faint">{a.reasons[reason] ?? reason}</span></p>
              {evidence.slice(0, 3).map((each) => <Prose key={each.key} text={each.text} clip={300} />)}
              {may("write") && <div class="row"><Act label={a.merge} hot="m" run={() => merge(alias)} /></div>}
            </Row>
          ))}
        </Rows>
      )}
    </Answered>
  );
}

export function FadingList(): JSX.Element {
  const answer = useAnswer((signal) => call<Fading[]>("fading", { limit: 100 }, signal), [changes.value]);
  const keep = (key: string): void => void (may("write") && change(f.kept(key), () => call<Operation>("feedback", { used: [key], reason: f.reason }), answer.again));
  useRows([{ key: "u", does: f.keep, run: keep }]);
  return (
    <Answered answer={answer}>
      {(value) => (
        <Rows none={<Nothing title={f.none} about={f.noneAbout} />}>
          {value.map(({ key, kind, gist, retrievability, later, since, reason }) => (
            <Row key={key} name={key}>
              <div class="about"><Kind kind={kind} /> <span class="name"><ToMemory name={key} /></span> <span>{f.since} <Time at={since} /></span></div>
              <Prose text={gist} clip={400} />
              <div class="row fade">
                <Bar share={retrievability} /> <span class="number">{f.falls(percent(retrievability), percent(later))}</span> <span class="faint" dir="auto">{visible(reason)}</span>
                {may("write") && <Act label={f.keep} hot="u" run={() => keep(key)} />}
              </div>
            </Row>
          ))}
        </Rows>
      )}
    </Answered>
  );
}
