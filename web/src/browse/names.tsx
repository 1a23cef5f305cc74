/** Names that memories mention: each leads to its memories. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { listing } from "../answers";
import { go, to } from "../router";
import { Act, Answered, useRows } from "../rows";
import { changes } from "../store";
import { names as n, rows } from "../strings";
import { brief, count } from "../text";
import { Empty, useAnswer, useRested } from "../ui";

const STEP = 120;

export function Names(): JSX.Element {
  const [words, setWords] = useState("");
  const [limit, setLimit] = useState(STEP);
  const rested = useRested(words.trim().toLowerCase());
  const answer = useAnswer((signal) => listing({ kinds: ["entity"], filters: rested ? { key: { contains: rested } } : null, limit }, signal), [rested, limit, changes.value]);
  useRows([{ key: "Enter", does: n.open, run: (name) => go("browse", { name }) }]);
  return (
    <div class="stack">
      <div class="row">
        <input type="search" class="find" value={words} onInput={(event) => setWords(event.currentTarget.value)} placeholder={n.words} aria-label={n.words} maxLength={200} />
        <span class="faint number" role="status">{answer.value && count(answer.value.total, "name")}</span>
      </div>
      <Answered answer={answer}>
        {({ memories, total, end }) => (
          <>
            {total === 0 && <Empty title={n.none} />}
            <ul class="names">
              {memories.map(({ id, key, content, source }) => (
                <li key={id}>
                  <a href={to("browse", { name: key })} data-item={key}><bdi>{brief(content, 80)}</bdi> <span class="faint">{source === "sleep" ? n.theme : n.forms[key.split(":", 1)[0] ?? ""]}</span></a>
                </li>
              ))}
            </ul>
            {end > 0 && <Act label={rows.more(end)} run={() => setLimit(limit + STEP)} />}
          </>
        )}
      </Answered>
    </div>
  );
}
