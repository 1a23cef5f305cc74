/** The packed text, exactly as an agent gets it, with its tokens and what the budget left out. */
import type { JSX } from "preact";
import { recall as s } from "../strings";
import { visible } from "../text";
import type { Recall } from "../types";
import { fail, toast } from "../ui";

/** Priming's estimate without a tokenizer: the bytes of UTF-8 by four, rounded up. */
export const tokensOf = (text: string): number => Math.ceil(new TextEncoder().encode(text).length / 4);

export function Packed({ answer }: { answer: Recall }): JSX.Element {
  const copy = (): void => void navigator.clipboard.writeText(answer.text).then(() => toast(s.copied), fail);
  return (
    <details class="packed">
      <summary>
        {s.text} <span class="number">· {s.tokens(tokensOf(answer.text))}</span>
      </summary>
      <pre dir="auto" tabIndex={0}>
        {visible(answer.text)}
      </pre>
      <ul class="faint">
        {answer.omitted.map(({ key, reason }) => (
          <li key={key}>{visible(s.omitted(key, reason))}</li>
        ))}
      </ul>
      <button type="button" class="small" onClick={copy}>
        {s.copy}
      </button>
    </details>
  );
}
