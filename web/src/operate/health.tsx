/** Health and figures: what the store holds, whether it is sound, and what the server did since it started. */
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { Finding, Stats, Verified } from "../answers";
import { call, request, session } from "../api";
import { Act, Answered, Bar, Progress, Table, useJob } from "../rows";
import { changes, status } from "../store";
import { health as s, kinds } from "../strings";
import { visible } from "../text";
import { fail, messageOf, useAnswer } from "../ui";
import { figures, size } from "./figures";

export function Health(): JSX.Element {
  const answer = useAnswer((signal) => call<Stats>("stats", {}, signal), [changes.value]);
  return (
    <Answered answer={answer}>
      {({ memories, links, operations, traces, bytes }) => {
        const texts = Object.entries(memories).filter(([kind]) => kind !== "entity").map(([kind, by]) => [kinds[kind] ?? kind, by.active ?? 0] as const);
        const sum = (numbers: number[]): number => numbers.reduce((all, n) => all + n, 0);
        const all = [sum(texts.map(([, n]) => n)), memories.entity?.active ?? 0, sum(Object.values(links)), operations, traces];
        return (
          <div class="health">
            <dl class="figures">
              {[...all.map((n) => n.toLocaleString("en")), size(bytes)].map((text, i) => <div key={i}><dt class="faint">{s.figures[i]}</dt><dd class="number">{text}</dd></div>)}
            </dl>
            <Server />
            <section class="stack"><h2>{s.holds}</h2><Bars rows={texts} /><h2>{s.linked}</h2><Bars rows={Object.entries(links)} /></section>
            <Requests />
          </div>
        );
      }}
    </Answered>
  );
}

function Bars({ rows }: { rows: readonly (readonly [string, number])[] }): JSX.Element {
  const most = Math.max(1, ...rows.map(([, n]) => n));
  const sorted = rows.filter(([, n]) => n > 0).sort(([, a], [, b]) => b - a).slice(0, 12);
  return <ul class="bars">{sorted.map(([name, n]) => <li key={name}><span class="name">{visible(name)}</span> <Bar share={n / most} /> <span class="number">{n.toLocaleString("en")}</span></li>)}</ul>;
}

const Fact = ({ name, children }: { name: string; children: ComponentChildren }): JSX.Element => <div><dt>{name}</dt><dd>{children}</dd></div>;

/** How the server is, and checks of the store: the quick one at once, reading every row as a job. */
function Server(): JSX.Element {
  const { value, error } = useAnswer((signal) => request<{ writable: boolean }>("GET", "/ready", undefined, signal), [changes.value]);
  const [sound, setSound] = useState<{ list: Finding[]; what: string } | null>(null);
  const { job, start, cancel } = useJob(({ result }) => {
    const verified = result as Verified | null;
    if (verified) setSound({ list: verified.findings, what: s.read(verified.rows, verified.operations) });
  });
  const validate = (): void => void call<Finding[]>("validate").then((list) => setSound({ list, what: s.compared }), fail);
  const bad = error ? visible(messageOf(error)) : value?.writable === false ? s.unwritable : "";
  const { profile = "", generation = "", waiting = 0 } = status.value ?? {};
  return (
    <section class="stack">
      <h2>{s.server}</h2>
      <dl class="facts">
        <Fact name={s.state}><span class={bad ? "bad-text" : "good-text"}>{bad || s.ready}</span></Fact>
        <Fact name={s.version}>{session.value?.version}</Fact>
        <Fact name={s.profile}>{visible(profile)}</Fact>
        <Fact name={s.embedder}>{visible(generation)}</Fact>
        {waiting > 0 && <Fact name={s.waiting}>{waiting.toLocaleString("en")}</Fact>}
      </dl>
      <div class="row">
        <Act label={s.validate} disabled={job !== null} run={validate} />
        <Act label={s.verify} disabled={job !== null} run={() => void start("verify")} />
        {job && <Progress job={job} cancel={cancel} />}
      </div>
      <div role="status" class="stack">
        {sound && <p class={sound.list.length ? "bad-text" : "good-text"}>{s.sound(sound.list.length, sound.what)}</p>}
        {sound?.list.slice(0, 50).map(({ rule, subject, detail, remedy }, i) => (
          <div key={i} class="card"><b>{visible(rule)}</b> {visible(subject)}<p>{visible(detail)}</p><p class="faint">{visible(remedy)}</p></div>
        ))}
      </div>
    </section>
  );
}

/** The figures of the server, for who may see those of all namespaces. */
function Requests(): JSX.Element | null {
  const { value } = useAnswer((signal) => figures(signal).catch(() => null), [changes.value]);
  if (!value) return null;
  return (
    <section class="stack wide">
      <h2>{s.since}</h2>
      <p class="faint number">{s.now(value.inFlight, value.namespaces, value.jobs)}</p>
      <Table label={s.since} columns={s.columns}>
        {value.operations.slice(0, 15).map(({ name, requests, failed, mean }) => (
          <tr key={name} class="number">
            <td>{visible(name)}</td><td>{requests.toLocaleString("en")}</td><td class={failed ? "bad-text" : ""}>{failed.toLocaleString("en")}</td>
            <td>{mean < 1 ? `${(mean * 1000).toFixed(0)} ms` : `${mean.toFixed(1)} s`}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
