/** A memory's page: its text, now or as of a time, versions, links, weights, verdicts, and why recalls return it. */
import type { JSX } from "preact";
import { call } from "../api";
import { Editable } from "../browse/entry";
import { Events } from "../parts/events";
import { AsOf } from "../parts/settings";
import { WordDiff } from "../parts/worddiff";
import { route, to } from "../router";
import { changes } from "../store";
import { memory as s, recall } from "../strings";
import { day, moment, named, visible } from "../text";
import type { Link, Memory, Operation } from "../types";
import { Empty, Failure, Kind, Prose, useAnswer, useRested, Waiting, Word } from "../ui";
import "../styles/recall.css";
import "../styles/time.css";

interface Why {
  reasons: string[];
  verdicts: { verdict: string; at: string; tier: string; cue: { text?: string } | null }[];
  operations: Operation[];
}

interface All {
  memory: Memory;
  versions: Memory[];
  links: Link[];
  why: Why;
}

async function read(key: string, signal: AbortSignal): Promise<All> {
  const [memory, versions, links, why] = await Promise.all([call<Memory>("get", { key }, signal), call<Memory[]>("history", { key }, signal), call<Link[]>("links", { key }, signal), call<Why>("why", { key }, signal)]);
  return { memory, versions, links, why };
}

export default function MemoryView(): JSX.Element {
  const key = route.value.part;
  const { value, error, again } = useAnswer((signal) => (key ? read(key, signal) : Promise.resolve(null)), [key, changes.value]);
  if (error) return <Failure error={error} again={again}><a href={to("browse")}>{s.all}</a></Failure>;
  if (value === undefined) return <Waiting />;
  if (value === null) return <Empty title={s.pick} />;
  return <Page key={value.memory.id} {...value} />;
}

function Page({ memory, versions, links, why }: All): JSX.Element {
  const { known = "", valid = "" } = route.value.params;
  return (
    <article class="view page">
      <header class="stack">
        <h1>
          <Word text={memory.heading ?? named(memory.key)} />
        </h1>
        <p class="faint">
          <code>
            <Word text={memory.key} />
          </code>{" "}
          · <Kind kind={memory.kind} />
          {memory.status !== "active" && ` · ${visible(memory.status)}`}
        </p>
      </header>
      <div class="columns">
        <div class="stack wide">
          {known || valid ? <Then name={memory.key} known={known} valid={valid} /> : memory.content ? <Editable memory={memory} after={() => undefined} large /> : <Prose text={memory.gist} class="large" />}
          {versions.length > 1 && <AsOf since={versions.map(({ recorded_at, valid_from }) => (valid_from && valid_from < recorded_at ? valid_from : recorded_at)).sort()[0]!} />}
          <Versions versions={versions} />
          <section class="stack">
            <h2>{s.weights}</h2>
            <Events name={memory.key} label={s.weights} none={s.noWeights} />
          </section>
          <section class="stack">
            <h2>{s.operations}</h2>
            <ul class="plain">
              {why.operations.slice(0, 20).map((done) => (
                <li key={done.id}>
                  <b>{visible(done.kind)}</b> <span class="faint">{moment(done.at)}</span>
                  {done.message && <p dir="auto">{visible(done.message)}</p>}
                </li>
              ))}
            </ul>
          </section>
        </div>
        <div class="stack">
          <section class="stack">
            <h2>{s.why}</h2>
            <ul class="plain">
              {why.reasons.map((reason, i) => (
                <li key={i} dir="auto">
                  {visible(reason)}
                </li>
              ))}
            </ul>
          </section>
          <Facts memory={memory} />
          <section class="stack">
            <h2>{s.links}</h2>
            {links.length === 0 && <p class="faint">{s.noLinks}</p>}
            <ul class="plain">
              {links.map((link) => {
                const other = link.source === memory.key ? link.target : link.source;
                return (
                  <li key={`${link.source} ${link.relation} ${link.target}`} class="link">
                    <span class="faint">{link.source === memory.key ? "→" : "←"} {visible(link.relation)}</span>
                    <a href={to("memory", {}, other)}>
                      <bdi>{named(other)}</bdi>
                    </a>
                    <span class="number">{link.weight.toFixed(2)}</span>
                  </li>
                );
              })}
            </ul>
          </section>
          <section class="stack">
            <h2>{s.verdicts}</h2>
            {why.verdicts.length === 0 && <p class="faint">{s.noVerdicts}</p>}
            <ul class="plain">
              {why.verdicts.map((verdict, i) => (
                <li key={i}>
                  <b>{recall.verdicts[verdict.verdict] ?? visible(verdict.verdict)}</b> <span class="faint">{day(verdict.at)}</span>
                  {verdict.cue?.text && (
                    <p>
                      <a href={to("recall", { q: verdict.cue.text })}>
                        <bdi>{visible(verdict.cue.text)}</bdi>
                      </a>
                    </p>
                  )}
                </li>
              ))}
            </ul>
          </section>
        </div>
      </div>
    </article>
  );
}

/** The text as of a time. */
function Then({ name, known, valid }: { name: string; known: string; valid: string }): JSX.Element {
  const at = useRested(`${known} ${valid}`);
  const [known_at, valid_at] = at.split(" ") as [string, string];
  const { value, error } = useAnswer((signal) => call<Memory>("as_of", { key: name, ...(known_at && { known_at }), ...(valid_at && { valid_at }) }, signal), [name, at]);
  if (error) return <p class="faint">{s.notThen}</p>;
  return value ? (
    <div class="stack">
      <p class="faint">
        {s.asOf} {s.version(value.version)}
      </p>
      <Prose text={value.content} class="large" />
    </div>
  ) : (
    <Waiting />
  );
}

function Versions({ versions }: { versions: Memory[] }): JSX.Element {
  return (
    <section class="stack">
      <h2>{s.versions}</h2>
      <ol class="versions">
        {[...versions].reverse().map((version, i, all) => {
          const before = all[i + 1];
          return (
            <li key={`${version.version} ${version.recorded_at}`}>
              <h3>{s.version(version.version)}</h3>
              <p class="faint">
                {s.recorded(moment(version.recorded_at), moment(version.retired_at))} · {s.valid(day(version.valid_from), day(version.valid_to))}
              </p>
              {before && before.content !== version.content && <WordDiff before={before.content} after={version.content} />}
              {!before && versions.length > 1 && <Prose text={version.content} clip={400} />}
            </li>
          );
        })}
      </ol>
    </section>
  );
}

function Facts({ memory }: { memory: Memory }): JSX.Element {
  const { facts } = s;
  const rows: [string, string][] = [
    [facts.speaker, memory.speaker ?? ""],
    [facts.occurred, moment(memory.occurred_at)],
    [facts.recorded, moment(memory.recorded_at)],
    [facts.from, moment(memory.valid_from)],
    [facts.until, moment(memory.valid_to)],
    [facts.session, memory.session ?? ""],
    [facts.source, memory.source ?? ""],
    [facts.trust, memory.trust],
    [facts.tags, memory.tags.join(", ")],
    [facts.status, memory.status],
    [facts.weight, memory.weight.toFixed(3)],
    [facts.uses, `${memory.use.uses}× · ${s.helped(memory.use.helped, memory.use.failed)}`],
    [facts.confidence, memory.confidence.toFixed(2)],
    [facts.when, Object.keys(memory.when).length > 0 ? JSON.stringify(memory.when) : ""],
    [facts.metadata, Object.keys(memory.metadata).length > 0 ? JSON.stringify(memory.metadata) : ""],
  ];
  return (
    <dl class="facts">
      {rows.filter(([, value]) => value).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <Word text={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
