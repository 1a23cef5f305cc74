/** The dialog of keys: what each does, everywhere and in the view that is shown. */
import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { bound, type Key } from "./keys";
import { keys } from "./strings";

export function Help({ close }: { close: () => void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const everywhere = bound.value.find((group) => group.some(({ key }) => key === "?")) ?? [];
  const here = bound.value.filter((group) => group !== everywhere).flat();
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={close} onClick={(event) => event.target === dialog.current && dialog.current?.close()}>
      <div>
        <h2 id="help-title">{keys.title}</h2>
        {here.length > 0 && <Keys title={keys.here} list={here} />}
        <Keys title={keys.everywhere} list={everywhere} />
        <button type="button" onClick={() => dialog.current?.close()}>
          {keys.close}
        </button>
      </div>
    </dialog>
  );
}

const NAMES: Record<string, string> = { ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→", " ": "space" };

const Keys = ({ title, list }: { title: string; list: readonly Key[] }): JSX.Element => (
  <>
    <h3>{title}</h3>
    <dl>
      {list.map(({ key, does }) => (
        <div key={`${key} ${does}`}>
          <dt>
            <kbd>{NAMES[key] ?? key}</kbd>
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
  </>
);
