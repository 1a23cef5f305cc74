/** What happens in the store, by this page and by others: views read again when `changes` grows. */
import { signal } from "@preact/signals";
import { entries } from "./answers";
import { call, namespace, reachable, session } from "./api";
import { loadSession } from "./session";
import type { Status } from "./types";

const EVERY = 4000;

/** Grows whenever something in the namespace was changed, by anybody. */
export const changes = signal(0);
export const status = signal<Status | null>(null);

/** The namespace and its latest operation when its state was read: to count what a great store holds takes seconds. */
let newest = "";

/** Read the state of the namespace, if anything was done there; called after each change by the page itself, too. */
export async function look(): Promise<void> {
  const latest = await entries({ limit: 1 }).catch(() => null);
  const now = `${namespace()} ${latest?.operations[0]?.id ?? ""}`;
  if (latest === null || now === newest) return;
  newest = now;
  const before = status.value;
  const after = await call<Status>("status").catch(() => null);
  if (after === null || after.namespace !== namespace()) {
    newest = "";
    return;
  }
  status.value = after;
  if (before?.namespace === after.namespace && before.operations !== after.operations) changes.value += 1;
}

/** Look again and again, while the page is seen and a namespace may be read. */
export function watchStore(): void {
  const again = async (): Promise<void> => {
    if (session.value === null) await loadSession();
    const may = session.value !== null && (!session.value.needed || session.value.token !== null);
    if (may && (!document.hidden || !reachable.value)) await look();
    setTimeout(again, EVERY);
  };
  void again();
}
