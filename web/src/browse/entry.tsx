/** A memory in a list: its text, where it comes from, and what can be done with it. */
import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { call } from "../api";
import { to } from "../router";
import { Act, Row, Time, ToMemory } from "../rows";
import { may } from "../session";
import { browse as s } from "../strings";
import { brief, percent } from "../text";
import type { Memory, Operation } from "../types";
import { change, Kind, Prose, Word } from "../ui";

const CLIPPED = 360;
const NAMED = 28;

export function Entry({ memory, relevance, after }: { memory: Memory; relevance?: number | undefined; after: () => void }): JSX.Element {
  const { key, session, source, speaker, version, status } = memory;
  return (
    <Row name={key} kind="">
      <div class="about">
        <Kind kind={memory.kind} /> <span class="name"><ToMemory name={key} /></span>
        {relevance !== undefined && <span class="number">{percent(relevance)}</span>}
        <Time at={memory.occurred_at ?? memory.recorded_at} />
        {speaker && <Word text={speaker} />}
        {session && <a href={to("browse", { session })} title={s.session}><bdi>{brief(session, NAMED)}</bdi></a>}
        {source && <a href={to("browse", { source })} title={s.source}><bdi>{brief(source, NAMED)}</bdi></a>}
        {version > 1 && <span>{s.version(version)}</span>}
        {status !== "active" && <span>{status}</span>}
      </div>
      <Editable memory={memory} after={after} />
    </Row>
  );
}

/** The text of a memory, which can be edited as a new version, forgotten and restored. */
export function Editable({ memory, after, large = false }: { memory: Memory; after: () => void; large?: boolean }): JSX.Element {
  const [editing, setEditing] = useState(false);
  const { key } = memory;
  const save = (content: string): void => {
    setEditing(false);
    if (content !== memory.content) void change(s.saved(key), () => supersede(key, content), after);
  };
  if (editing) return <Editor text={memory.content} save={save} cancel={() => setEditing(false)} />;
  return (
    <>
      {large ? <Prose text={memory.content} class="large" /> : <Prose text={memory.content} clip={CLIPPED} />}
      <div class="acts">
        {memory.status === "active" && may("write") && (
          <>
            <Act label={s.edit} run={() => setEditing(true)} />
            <Act label={s.forget} run={() => void change(s.forgotten(key), () => call<Operation>("forget", { key }), after)} />
          </>
        )}
        {memory.status !== "active" && may("admin") && <Act label={s.restore} run={() => void change(s.restored(key), () => call<Operation>("restore", { key }), after)} />}
      </div>
    </>
  );
}

/** Store a text as a new version; answers with the operation, so that it can be undone. */
async function supersede(key: string, content: string): Promise<Operation> {
  await call<Memory>("supersede", { key, content });
  const [last] = await call<Operation[]>("log", { key, limit: 1 });
  if (!last) throw new Error(s.unsaved);
  return last;
}

function Editor({ text, save, cancel }: { text: string; save: (text: string) => void; cancel: () => void }): JSX.Element {
  const area = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => area.current?.focus(), []);  // before it is seen: a key is for what is seen
  const send = (): void => {
    const content = area.current?.value ?? "";
    if (content.trim()) save(content);
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === "Escape") cancel();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
  };
  return (
    <form class="stack editor" onSubmit={(event) => (event.preventDefault(), send())} onKeyDown={press}>
      <textarea ref={area} rows={Math.min(16, 3 + Math.ceil(text.length / 90))} defaultValue={text} aria-label={s.text} dir="auto" />
      <div class="row"><Act primary label={s.save} run={send} /><Act label={s.cancel} run={cancel} /><span class="faint">{s.earlier}</span></div>
    </form>
  );
}
