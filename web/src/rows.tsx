/** Parts of lists: sections of a view, rows that the arrows walk over, changes of an operation, and jobs. */
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { beginJob, dropJob, job as readJob, type Job } from "./api";
import { type Key, useKeys } from "./keys";
import { go, route, to } from "./router";
import { rows as s } from "./strings";
import "./styles/rows.css";
import { brief, moment, visible } from "./text";
import type { Change } from "./types";
import { Empty, fail, Failure, Waiting, Word } from "./ui";

/** A view with sections, one of which is shown: the part of the address; `[` and `]` go to the one before and after. */
export function Sections({ view, title, titles, parts }: { view: string; title: string; titles: Record<string, string>; parts: Record<string, () => JSX.Element> }): JSX.Element {
  const { part: shown } = route.value;
  const names = Object.keys(parts);
  const step = (by: number): void => go(view, {}, names[(names.indexOf(shown) + by + names.length) % names.length]);
  useKeys([{ key: "[", does: s.before, run: () => step(-1) }, { key: "]", does: s.after, run: () => step(1) }]);
  const nav = useRef<HTMLElement>(null);
  useEffect(() => nav.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" }), [shown]);
  const Part = parts[shown];
  return (
    <div class="view">
      <h1 class="unseen">{title}</h1>
      <nav class="sections" aria-label={title} ref={nav}>
        {names.map((part) => <a key={part} href={to(view, {}, part)} aria-current={part === shown ? "page" : undefined}>{titles[part]}</a>)}
      </nav>
      {Part ? <Part key={shown} /> : <Empty title={s.noPart} />}
    </div>
  );
}

const items = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>("[data-item]")];

/** Keys for rows: the arrows go from one to the next, others do something with that which has the focus, or the first. */
export function useRows(keys: { key: string; does: string; run: (item: string) => void }[] = []): void {
  const step = (by: number): void => {
    const all = items();
    const at = all.findIndex((item) => item.contains(document.activeElement));
    const next = all[at < 0 ? 0 : Math.max(0, Math.min(all.length - 1, at + by))];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  };
  const withItem = (run: (item: string) => void) => (): void => {
    const item = (document.activeElement?.closest<HTMLElement>("[data-item]") ?? items()[0])?.dataset.item;
    if (item !== undefined) run(item);
  };
  // Enter and space belong to a button or link that has the focus.
  const free = (): boolean => !document.activeElement?.matches("button, a, summary, input");
  const own: Key[] = keys.map(({ key, does, run }) => ({ key, does, run: withItem(run), when: () => (key !== "Enter" && key !== " ") || free() }));
  useKeys([{ key: "ArrowDown", does: s.next, run: () => step(1) }, { key: "ArrowUp", does: s.previous, run: () => step(-1) }, ...own]);
}

/** A time, as people read it, with its exact form for who points at it. */
export const Time = ({ at }: { at: string | null }): JSX.Element | null =>
  at === null ? null : <time dateTime={at} title={at}>{moment(at)}</time>;

/** A link to the page of a memory. */
export const ToMemory = ({ name, text = name }: { name: string; text?: string }): JSX.Element => (
  <a href={to("memory", {}, name)}><Word text={text} /></a>
);

/** Links to the pages of memories, with what they have in common. */
export const Links = ({ title, keys }: { title?: string; keys: readonly string[] }): JSX.Element | null =>
  keys.length === 0 ? null : (
    <p>
      {title && <span class="faint">{title} </span>}
      {keys.slice(0, FEW_LINKS).map((key) => [<ToMemory key={key} name={key} />, " "])}
      {keys.length > FEW_LINKS && s.others(keys.length - FEW_LINKS)}
    </p>
  );
const FEW_LINKS = 12;

/** A button that does something with a row; a letter beside its words is the key for it. */
export const Act = ({ label, run, hot, primary = false, disabled = false }: { label: string; run: () => void; hot?: string; primary?: boolean; disabled?: boolean }): JSX.Element => (
  <button type="button" class={primary ? "primary" : ""} disabled={disabled} onClick={run}>
    {label} {hot && <kbd aria-hidden="true">{hot}</kbd>}
  </button>
);

/** A button that asks before it does what cannot be undone. */
export function Sure({ label, ask, run }: { label: string; ask: string; run: () => void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const close = (): void => dialog.current?.close();
  return (
    <>
      <Act label={label} run={() => dialog.current?.showModal()} />
      <dialog ref={dialog} aria-label={label}>
        <div>
          <p>{ask}</p>
          <div class="row"><Act primary label={label} run={() => (close(), run())} /><Act label={s.cancel} run={close} /></div>
        </div>
      </dialog>
    </>
  );
}

type Answer<T> = { value?: T; error?: unknown; again: () => void };

/** What a request answered, once it is there; while it is awaited or if it failed, that. */
export function Answered<T>({ answer: { value, error, again }, children }: { answer: Answer<T>; children: (value: T) => ComponentChildren }): JSX.Element {
  if (error) return <Failure error={error} again={again} />;
  return value === undefined ? <Waiting /> : <>{children(value)}</>;
}

/** Rows, or what is said where there are none. */
export const Rows = ({ children, none, kind = "" }: { children: ComponentChildren[]; none: JSX.Element; kind?: string }): JSX.Element =>
  children.length === 0 ? none : <ol class={`rows ${kind}`}>{children}</ol>;

export const Row = ({ name, kind = "stack", children }: { name: string; kind?: string; children: ComponentChildren }): JSX.Element => (
  <li data-item={name} tabIndex={-1} class={kind}>{children}</li>
);

export const Nothing = ({ title, about, command }: { title: string; about?: string; command?: string }): JSX.Element => (
  <Empty title={title}>{about && <p>{about}</p>}{command && <pre>{command}</pre>}</Empty>
);

/** What is shown when it is opened, and asked for then only. */
export function Opened({ summary, children }: { summary: ComponentChildren; children: () => ComponentChildren }): JSX.Element {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => event.target === event.currentTarget && setOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      {open && <div class="stack opened">{children()}</div>}
    </details>
  );
}

/** Open or close what the row that has the focus hides. */
export function toggle(): void {
  const details = document.activeElement?.closest("[data-item]")?.querySelector("details");
  if (details) details.open = !details.open;
}

export const Field = ({ label, children }: { label: string; children: ComponentChildren }): JSX.Element => <label>{label}{children}</label>;

/** A choice among a few; the first stands for none of them. */
export const Select = ({ label, value, options, set }: { label: string; value: string; options: readonly (readonly [string, string])[]; set: (value: string) => void }): JSX.Element => (
  <Field label={label}>
    <select value={value} onInput={(event) => set(event.currentTarget.value)}>
      {options.map(([name, title]) => <option key={name} value={name}>{title}</option>)}
    </select>
  </Field>
);

export const Table = ({ label, columns, kind = "", children }: { label: string; columns: readonly string[]; kind?: string; children: ComponentChildren }): JSX.Element => (
  <div class="scroll" tabIndex={0} role="region" aria-label={label}>
    <table class={kind}>
      <thead><tr>{columns.map((name) => <th key={name} scope="col">{name}</th>)}</tr></thead>
      <tbody>{children}</tbody>
    </table>
  </div>
);

export const Bar = ({ share, title }: { share: number; title?: string }): JSX.Element => <span class="bar" title={title}><i style={{ width: `${share * 100}%` }} /></span>;

const SKIPPED = new Set(["id", "digest", "gist", "revision", "namespace", "recorded_at", "first_used_at", "recent", "form"]);
/** Of a row that is new or gone, only what tells it from others. */
const TELLING = ["content", "kind", "status", "relation", "weight", "verdict"];
const SHOWN = 40;

/** Changes in which a text that replaces another is compared with it. */
function compared(changes: readonly Change[]): Change[] {
  const ofText = changes.filter(({ table }) => table === "versions");
  const fresh = new Set(ofText.filter(({ before }) => before === null).map(({ key }) => key));
  const replaced = new Map(ofText.filter(({ before, after, key }) => before && after && fresh.has(key)).map((change) => [change.key, change]));
  return changes.filter((change) => replaced.get(change.key) !== change).map((change) => (change.table === "versions" && !change.before ? { ...change, before: replaced.get(change.key)?.before ?? null } : change));
}

/** What an operation changes: the rows, each with its fields before and after. */
export function Changes({ changes }: { changes: readonly Change[] }): JSX.Element {
  const [most, setMost] = useState(SHOWN);
  const all = useMemo(() => compared(changes), [changes]);
  return (
    <div class="stack">
      <ul class="changes">
        {all.slice(0, most).map((change, i) => <ChangedRow key={i} change={change} />)}
      </ul>
      {all.length > most && <Act label={s.more(all.length - most)} run={() => setMost(most * 4)} />}
    </div>
  );
}

function ChangedRow({ change: { table, key, before, after } }: { change: Change }): JSX.Element {
  const sign = before === null ? "+" : after === null ? "−" : "~";
  const all = Object.keys({ ...before, ...after }).filter((name) => !SKIPPED.has(name));
  const fields = before && after ? all.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name])) : all.filter((name) => TELLING.includes(name));
  return (
    <li>
      <span class={sign === "+" ? "good-text" : sign === "−" ? "bad-text" : ""}>{sign}</span> <span class="unseen">{s.signs[sign]}</span> <span class="faint">{s.tables[table] ?? table}</span> <Word text={brief(key, 120)} />
      {fields.map((name) => (
        <div key={name} class="field">
          <span class="faint">{s.fields[name] ?? name.replaceAll("_", " ")}</span> {before && before[name] !== null && <del>{shown(before[name])}</del>} {after && <ins>{shown(after[name])}</ins>}
        </div>
      ))}
    </li>
  );
}

function shown(value: unknown): string {
  if (value === null || value === undefined || value === "") return s.nothing;
  if (typeof value === "number") return String(Number(value.toFixed(4)));
  if (typeof value !== "string") return brief(JSON.stringify(value), 160);
  return /^\d{4}-\d\d-\d\dT/.test(value) && value.length < 40 ? moment(value) : brief(value, 160);
}

/** A call that goes on in the server: how far it is, until it ends. */
export function useJob(ended: (job: Job) => void): { job: Job | null; start: (operation: string, args?: object) => Promise<void>; cancel: () => void } {
  const [job, setJob] = useState<Job | null>(null);
  const shown = useRef(true);
  useEffect(() => () => void (shown.current = false), []);
  const follow = async (last: Job): Promise<void> => {
    let now = last;
    while (shown.current && (now.status === "waiting" || now.status === "running")) {
      setJob(now);
      await new Promise((resolve) => setTimeout(resolve, 400));
      now = await readJob(now.id);
    }
    if (!shown.current) return;
    setJob(null);
    if (now.error) throw new Error(now.error.message);
    ended(now);
  };
  const start = async (operation: string, args: object = {}): Promise<void> => {
    try {
      await follow(await beginJob(operation, args));
    } catch (error) {
      setJob(null);
      fail(error);
    }
  };
  return { job, start, cancel: () => job && void dropJob(job.id).catch(fail) };
}

export const Progress = ({ job, cancel }: { job: Job; cancel?: () => void }): JSX.Element => (
  <div class="row" role="status">
    <progress max={job.total ?? undefined} value={job.total === null ? undefined : job.done} aria-label={s.jobs[job.operation] ?? job.operation} />
    <span class="faint number">{job.total === null ? s.working : s.ofTotal(job.done, job.total)}</span>
    {cancel && <Act label={s.cancel} run={cancel} />}
  </div>
);

/** A word or two that stand apart. */
export const Chip = ({ children }: { children: ComponentChildren }): JSX.Element => <span class="chip">{children}</span>;

/** The conditions of a rule. */
export const Conditions = ({ when }: { when: Record<string, unknown> }): JSX.Element => (
  <>
    {Object.entries(when).length === 0 && <Chip>{s.everywhere}</Chip>}
    {Object.entries(when).map(([name, value]) => <Chip key={name}>{visible(name)}: <Word text={brief([value].flat().map(String).join(", "), 120)} /></Chip>)}
  </>
);
