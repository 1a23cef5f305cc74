/** Two texts word by word: what the later one has and the earlier one had. */
import type { JSX } from "preact";
import { visible } from "../text";

type Piece = [kind: "same" | "added" | "removed", text: string];

const MOST = 1500;

/** The pieces of both texts, by their longest common subsequence of words; long texts are taken whole. */
export function pieces(before: string, after: string): Piece[] {
  const a = before.split(/(?<=\s)/);
  const b = after.split(/(?<=\s)/);
  if (a.length > MOST || b.length > MOST) return [["removed", before], ["added", after]];
  const wide = b.length + 1;
  const long = new Uint16Array((a.length + 1) * wide);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--) long[i * wide + j] = a[i]!.trim() === b[j]!.trim() ? long[(i + 1) * wide + j + 1]! + 1 : Math.max(long[(i + 1) * wide + j]!, long[i * wide + j + 1]!);
  const out: Piece[] = [];
  const add = (kind: Piece[0], text: string): void => {
    const last = out.at(-1);
    if (last?.[0] === kind) last[1] += text;
    else out.push([kind, text]);
  };
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i]!.trim() === b[j]!.trim()) (add("same", b[j]!), i++, j++);
    else if (i < a.length && (j === b.length || long[(i + 1) * wide + j]! >= long[i * wide + j + 1]!)) add("removed", a[i++]!);
    else add("added", b[j++]!);
  }
  return out;
}

export const WordDiff = ({ before, after }: { before: string; after: string }): JSX.Element => (
  <p class="diff prose" dir="auto">
    {pieces(before, after).map(([kind, text], i) => (kind === "same" ? visible(text) : kind === "added" ? <ins key={i}>{visible(text)}</ins> : <del key={i}>{visible(text)}</del>))}
  </p>
);
