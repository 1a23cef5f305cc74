/** Memories, the latest first or by words, with filters in the address. */
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { PAGE, search, type Search } from "../answers";
import { useKeys } from "../keys";
import { adjust, go, route } from "../router";
import { Act, Answered, Field, Select, useRows } from "../rows";
import { changes } from "../store";
import { browse as s, kinds } from "../strings";
import { named } from "../text";
import { Empty, useAnswer, useRested } from "../ui";
import { Entry } from "./entry";

const FILTERS = ["q", "kind", "status", "session", "source", "name", "from", "till"];
const KINDS = ["episode", "fact", "procedure", "behavior", "correction", "failure", "pattern"];
const STATUSES = ["forgotten", "deprecated", "merged", "archived"];

export function Memories(): JSX.Element {
  const rested = useRested(JSON.stringify(route.value.params));
  const answer = useAnswer((signal) => search(JSON.parse(rested) as Record<string, string>, signal), [rested, changes.value]);
  useRows([{ key: "Enter", does: s.open, run: (key) => go("memory", {}, key) }]);
  return (
    <div class="browse">
      <Filters />
      <section class="stack" aria-label={s.found} aria-busy={answer.busy}>
        <Answered answer={answer}>{(value) => <Found value={value} again={answer.again} />}</Answered>
      </section>
    </div>
  );
}

function Found({ value, again }: { value: Search; again: () => void }): JSX.Element {
  const { params } = route.value;
  const { memories, total, end, relevance, more } = value;
  if (memories.length === 0) {
    const filtered = FILTERS.some((name) => params[name]);
    return <Empty title={filtered ? s.noMatch : s.none}>{filtered && <Act label={s.clear} run={() => adjust(Object.fromEntries(FILTERS.map((name) => [name, ""])))} />}</Empty>;
  }
  const before = total - end - memories.length;
  return (
    <>
      <p class="faint number" role="status">{params.q && !params.status ? s.byWords(memories.length, more) : s.range(before + 1, before + memories.length, total)}</p>
      <ol class="rows">{memories.map((memory) => <Entry key={memory.id} memory={memory} relevance={relevance[memory.id]} after={again} />)}</ol>
      <Pages value={value} before={before} />
    </>
  );
}

function Pages({ value: { total, end }, before }: { value: Search; before: number }): JSX.Element | null {
  const turn = (last: number): void => {
    adjust({ end: last >= total ? "" : String(last) });
    document.getElementById("content")?.scrollIntoView();
  };
  const newer = (): void => void (before > 0 && turn(total - before + PAGE));
  const older = (): void => void (end > 0 && turn(end));
  useKeys([{ key: "ArrowLeft", does: s.newer, run: newer }, { key: "ArrowRight", does: s.older, run: older }]);
  if (before <= 0 && end === 0) return null;
  return <nav class="row" aria-label={s.pages}><Act label={`← ${s.newer}`} disabled={before <= 0} run={newer} /><Act label={`${s.older} →`} disabled={end === 0} run={older} /></nav>;
}

function Filters(): JSX.Element {
  const { params } = route.value;
  const words = useRef<HTMLInputElement>(null);
  const more = useRef<HTMLDetailsElement>(null);
  const set = (name: string) => (value: string) => adjust({ [name]: value, end: "" });
  const field = (name: string) => ({ value: params[name] ?? "", maxLength: 2000, onInput: (event: { currentTarget: { value: string } }) => set(name)(event.currentTarget.value) });
  useKeys([{ key: "f", does: s.focus, run: () => words.current?.select() }]);
  useEffect(() => {
    if (more.current) more.current.open = matchMedia("(min-width: 900px)").matches || FILTERS.slice(1).some((name) => params[name]);
  }, []);
  return (
    <search class="filters stack">
      <input ref={words} type="search" placeholder={s.words} aria-label={s.words} dir="auto" {...field("q")} />
      {params.name && <Act label={`${s.mentions(named(params.name))} ×`} run={() => set("name")("")} />}
      <details ref={more}>
        <summary>{s.narrow}</summary>
        <div class="stack">
          <div class="choices" role="group" aria-label={s.kind}>
            {["", ...KINDS].map((kind) => (
              <button type="button" key={kind} aria-pressed={(params.kind ?? "") === kind} onClick={() => set("kind")(kind)}>{kind ? kinds[kind] : s.all}</button>
            ))}
          </div>
          <div class="fields">
            <Select label={s.status} value={params.status ?? ""} set={set("status")} options={[["", s.active], ...STATUSES.map((status) => [status, status] as const)]} />
            {!params.status && (
              <>
                <Field label={s.session}><input {...field("session")} /></Field>
                <Field label={s.source}><input {...field("source")} /></Field>
                <Field label={s.from}><input type="date" {...field("from")} /></Field>
                <Field label={s.till}><input type="date" {...field("till")} /></Field>
              </>
            )}
          </div>
        </div>
      </details>
    </search>
  );
}
