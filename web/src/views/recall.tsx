/** Recall: the hits of the question in the address. */
import type { JSX } from "preact";
import { call } from "../api";
import { route } from "../router";
import { Empty, Failure, Prose, useAnswer, Waiting, Word } from "../ui";
import { percent } from "../text";
import { recall as s } from "../strings";
import type { Recall } from "../types";

export default function RecallView(): JSX.Element {
  const { q = "" } = route.value.params;
  const { value, error, again } = useAnswer((signal) => (q ? call<Recall>("recall", { text: q, trace: true }, signal) : Promise.resolve(null)), [q]);
  if (error) return <Failure error={error} again={again} />;
  if (value === undefined) return <Waiting />;
  if (value === null) return <Empty title={s.ask} />;
  return (
    <ol class="view stack">
      {value.hits.map((hit) => (
        <li key={hit.memory.id} class="card">
          {hit.relevance !== null && percent(hit.relevance)} <Word text={hit.memory.key} />
          <Prose text={hit.memory.content} />
        </li>
      ))}
    </ol>
  );
}
