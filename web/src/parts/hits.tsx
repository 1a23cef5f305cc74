/** The hits of an answer: text, path and sum of each, and the verdicts on it. */
import type { JSX } from "preact";
import { to } from "../router";
import { may } from "../session";
import { recall as s } from "../strings";
import { day, excerpt, named, percent, signed } from "../text";
import type { Hit, Operation, Recall } from "../types";
import { Kind, Prose, Word } from "../ui";
import { Moved } from "./moved";
import { Waterfall } from "./waterfall";

export const VERDICTS = ["used", "not-relevant", "not-useful"] as const;
export type Verdict = (typeof VERDICTS)[number];

export interface Judged {
  verdict: Verdict;
  done: Operation;
}

interface Props {
  answer: Recall;
  chosen: string | null;
  choose: (key: string | null) => void;
  light: (key: string | null) => void;
  judged: ReadonlyMap<string, Judged>;
  judge: (key: string, verdict: Verdict) => void;
  undo: (key: string) => void;
}

export function Hits(props: Props): JSX.Element {
  const { answer } = props;
  return (
    <ol class="hits" aria-label={s.hits}>
      {answer.hits.map((hit, i) => (
        <Row key={hit.memory.id + hit.memory.version} rank={i + 1} hit={hit} {...props} />
      ))}
    </ol>
  );
}

function Row({ hit, rank, answer, chosen, choose, light, judged, judge, undo }: Props & { hit: Hit; rank: number }): JSX.Element {
  const { memory, path } = hit;
  const isOpen = chosen === memory.key;
  const verdict = judged.get(memory.key);
  const clip = isOpen ? 1200 : 260;
  return (
    <li
      id={`hit-${rank}`}
      class={isOpen ? "hit open" : "hit"}
      onMouseEnter={() => light(memory.key)}
      onMouseLeave={() => light(null)}
      onFocusCapture={() => light(memory.key)}
      onBlurCapture={() => light(null)}
    >
      <button type="button" class="head" aria-expanded={isOpen} onClick={() => choose(isOpen ? null : memory.key)}>
        <span class="share">{hit.relevance === null ? signed(hit.score) : percent(hit.relevance)}</span>
        <span class="name">
          <Word text={memory.key} />
          <small>
            <Kind kind={memory.kind} />
            {memory.speaker && (
              <>
                {" · "}
                <Word text={memory.speaker} />
              </>
            )}
            {memory.occurred_at && ` · ${day(memory.occurred_at)}`}
            {hit.superseded_by !== null && ` · superseded by version ${hit.superseded_by}`}
          </small>
        </span>
      </button>
      <Prose text={memory.content} clip={clip} part={excerpt(memory.content, hit.passages, clip)} />
      {path.length > 0 && (
        <p class="path">
          <bdi>{named(path[0]!.source)}</bdi>
          {path.map((step, i) => (
            <span key={i}>
              {" "}
              <i>{named(step.relation)}</i> <bdi>{named(step.target)}</bdi>
            </span>
          ))}
        </p>
      )}
      {isOpen && <Waterfall hit={hit} />}
      {isOpen && path.length === 0 && <p class="faint">{s.direct}</p>}
      <div class="row judge">
        {answer.recorded && may("write") &&
          VERDICTS.map((name) => (
            <button
              key={name}
              type="button"
              class="small"
              aria-pressed={verdict?.verdict === name}
              aria-label={s.verdict(s.verdicts[name]!, memory.key)}
              onClick={() => (verdict?.verdict === name ? undo(memory.key) : judge(memory.key, name))}
            >
              {s.verdicts[name]}
            </button>
          ))}
        <a class="more" href={to("memory", {}, memory.key)}>
          {s.open}
        </a>
      </div>
      {verdict && <Moved done={verdict.done} undo={() => undo(memory.key)} />}
    </li>
  );
}
