/** Keys: those of the page and those of the view that is shown, with what each does, for the `?` dialog. */
import { useLayoutEffect } from "preact/hooks";
import { signal } from "@preact/signals";

export interface Key {
  key: string;
  /** What it does, in a few words. */
  does: string;
  run: (event: KeyboardEvent) => void;
  /** Whether it does that now; otherwise the key is left to what has the focus. */
  when?: () => boolean;
}

export const bound = signal<readonly Key[][]>([]);

/** Bind keys while a component is shown, from the moment it is: what is seen and what a key does never differ. */
export function useKeys(keys: Key[]): void {
  useLayoutEffect(() => {
    bound.value = [...bound.value, keys];
    return () => (bound.value = bound.value.filter((other) => other !== keys));
  });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input:not([type=checkbox], [type=range]), textarea, select"));
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (document.querySelector("dialog[open]")) return;
  const hits = bound.value.flat().filter(({ key, when }) => key === event.key && (when?.() ?? true));
  // What holds only now, such as where the focus is, goes before what always holds.
  const hit = hits.findLast(({ when }) => when) ?? hits.at(-1);
  if (!hit) return;
  event.preventDefault();
  hit.run(event);
});
