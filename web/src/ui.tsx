/** Small parts that several views show: texts from outside, errors, empty states, and notes that go by. */
import { signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, undo } from "./api";
import { look } from "./store";
import { app, errors, kinds } from "./strings";
import { visible } from "./text";
import type { Operation } from "./types";

const CLIPPED = 1200;

/** A text from outside, as text: long ones begin clipped, and hidden characters show. */
export function Prose({ text, clip = CLIPPED, part, class: name = "" }: { text: string; clip?: number; part?: string; class?: string }): JSX.Element {
  const [whole, setWhole] = useState(false);
  const shown = whole || text.length <= clip ? text : (part ?? `${text.slice(0, clip)}…`);
  return (
    <div class={`prose ${name}`}>
      <p dir="auto">{visible(shown)}</p>
      {text.length > clip && (
        <button type="button" class="quiet" onClick={() => setWhole(!whole)}>
          {whole ? "Show less" : `Show all ${text.length.toLocaleString("en")} characters`}
        </button>
      )}
    </div>
  );
}

/** A key, a speaker or another short text from outside, kept apart from the direction of its surroundings. */
export const Word = ({ text }: { text: string }): JSX.Element => <bdi>{visible(text)}</bdi>;

export const Kind = ({ kind }: { kind: string }): JSX.Element => <span class={`kind kind-${kind}`}>{kinds[kind] ?? visible(kind)}</span>;

export function Failure({ error, again, children }: { error: unknown; again?: () => void; children?: ComponentChildren }): JSX.Element {
  return (
    <section class="notice failure" role="alert">
      <h2>{errors.title}</h2>
      <p dir="auto">{visible(messageOf(error))}</p>
      {again && (
        <button type="button" onClick={again}>
          {app.again}
        </button>
      )}
      {children}
    </section>
  );
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What is shown where there is nothing, with what to do. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }): JSX.Element {
  return (
    <section class="notice empty">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

export const Waiting = (): JSX.Element => (
  <p class="waiting" role="status">
    {app.loading}
  </p>
);

/** What a request answered: read again when `deps` change, the former answer shown meanwhile. */
export function useAnswer<T>(ask: (signal: AbortSignal) => Promise<T>, deps: unknown[]): { value?: T; error?: unknown; busy: boolean; again: () => void } {
  const [state, setState] = useState<{ value?: T; error?: unknown; busy: boolean }>({ busy: true });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    setState((before) => ({ ...before, busy: true }));
    ask(stop.signal).then(
      (value) => !stop.signal.aborted && setState({ value, busy: false }),
      (error: unknown) => !stop.signal.aborted && setState((before) => ({ ...before, error, busy: false })),
    );
    return () => stop.abort();
  }, [...deps, turn]);
  return { ...state, again: () => setTurn(turn + 1) };
}

/** A value that follows another once it rests: for what is asked while somebody types or drags. */
export function useRested<T>(value: T, after = 150): T {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), after);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}

interface Note {
  id: number;
  text: string;
  bad: boolean;
  undo?: () => Promise<void>;
}

const notes = signal<readonly Note[]>([]);
let last = 0;

/** A note that goes by; with `undo` it has a button, and stays longer. */
export function toast(text: string, options: { bad?: boolean; undo?: () => Promise<void> } = {}): void {
  const note: Note = { id: ++last, text, bad: options.bad ?? false, ...(options.undo && { undo: options.undo }) };
  notes.value = [...notes.value.slice(-3), note];
  setTimeout(() => dismiss(note), options.undo || options.bad ? 12_000 : 5_000);
}

const dismiss = (note: Note): void => void (notes.value = notes.value.filter((other) => other.id !== note.id));

/** Show that a request failed; what the page stopped itself is no failure. */
export function fail(error: unknown): void {
  if (!(error instanceof DOMException && error.name === "AbortError")) toast(messageOf(error), { bad: true });
}

/** Carry out a change, tell what it did with a way to take it back, and let the views read again. */
export async function change(text: string | ((done: Operation) => string), does: () => Promise<Operation>, after?: () => void): Promise<void> {
  try {
    const done = await does();
    const undoIt = async (): Promise<void> => {
      await undo(done.id);
      await look();
      after?.();
      toast(app.undone);
    };
    toast(typeof text === "string" ? text : text(done), { undo: undoIt });
    await look();
    after?.();
  } catch (error) {
    fail(error);
  }
}

export function Toasts(): JSX.Element {
  const first = useRef<HTMLButtonElement>(null);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {notes.value.map((note) => (
        <div key={note.id} class={note.bad ? "toast bad" : "toast"}>
          <span dir="auto">{visible(note.text)}</span>
          {note.undo && (
            <button
              type="button"
              ref={first}
              onClick={() => {
                dismiss(note);
                note.undo?.().catch(fail);
              }}
            >
              {app.undo}
            </button>
          )}
          <button type="button" class="icon" aria-label={app.dismiss} onClick={() => dismiss(note)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}

export { ApiError };
