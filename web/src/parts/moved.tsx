/** What an operation moved: the weights of links and memories before and after, and the way back. */
import type { JSX } from "preact";
import { app, recall as s } from "../strings";
import { named, visible } from "../text";
import type { Change, Operation } from "../types";

interface Move {
  key: string;
  before: number;
  after: number;
}

/** The weights that an operation changed. */
export function movesOf(done: Operation): Move[] {
  const weight = (row: Change["before"]): number => (typeof row?.weight === "number" ? row.weight : 0);
  return done.changes
    .filter(({ table }) => table === "links" || table === "memories")
    .map(({ key, before, after }) => ({ key, before: weight(before), after: weight(after) }))
    .filter(({ before, after }) => before !== after);
}

export function Moved({ done, undo }: { done: Operation; undo?: () => void }): JSX.Element {
  const moves = movesOf(done);
  return (
    <div class="moved" role="status">
      {moves.length > 0 ? (
        <table>
          <caption class="unseen">{s.moved}</caption>
          <tbody>
            {moves.map(({ key, before, after }) => (
              <tr key={key}>
                <td>
                  <bdi>{key.split(" ").map(named).join(" ")}</bdi>
                </td>
                <td class="number">
                  {before.toFixed(3)} → <b class={after > before ? "good-text" : "bad-text"}>{after.toFixed(3)}</b>
                </td>
                <td>
                  <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
                    <rect class="was" x="0" width={before * 100} y="1" height="2.4" />
                    <rect class={after > before ? "up" : "down"} x="0" width={after * 100} y="4.6" height="2.4" />
                  </svg>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : (
        <p class="faint" dir="auto">
          {done.message ? visible(done.message) : s.movedNone}
        </p>
      )}
      {undo && (
        <button type="button" class="small" onClick={undo}>
          {app.undo}
        </button>
      )}
    </div>
  );
}
