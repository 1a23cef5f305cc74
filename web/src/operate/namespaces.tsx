/** The namespaces of the store, each with what it holds. */
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { Stats } from "../answers";
import { namespace, request, session } from "../api";
import { address } from "../router";
import { Answered, Chip, Table } from "../rows";
import { loadSession } from "../session";
import { changes } from "../store";
import { namespaces as s } from "../strings";
import { useAnswer, Word } from "../ui";

/** How many are counted. */
const MOST = 30;
const sum = (numbers: number[]): string => numbers.reduce((all, n) => all + n, 0).toLocaleString("en");
const open = (ns: string): string => address({ view: "browse", part: "", params: { ns } });

export function Namespaces(): JSX.Element {
  useEffect(() => void loadSession(), []);
  const names = session.value?.namespaces ?? [];
  const read = (signal: AbortSignal): Promise<Stats[]> => Promise.all(names.slice(0, MOST).map((name) => request<Stats>("POST", `/v1/${encodeURIComponent(name)}/stats`, {}, signal)));
  const answer = useAnswer(read, [names.join("\n"), changes.value]);
  const enter = (form: HTMLFormElement): void => void (location.hash = open(String(new FormData(form).get("name")).trim()));
  return (
    <div class="stack">
      <p class="faint">{s.about}</p>
      <Answered answer={answer}>
        {(value) => (
          <Table label={s.title} columns={s.columns}>
            {names.map((name) => {
              const stats = value.find((each) => each.namespace === name);
              return (
                <tr key={name} class="number">
                  <td><a href={open(name)}><Word text={name} /></a> {name === namespace() && <Chip>{s.shown}</Chip>}</td>
                  <td>{stats && sum(Object.entries(stats.memories).map(([kind, by]) => (kind === "entity" ? 0 : (by.active ?? 0))))}</td>
                  <td>{stats && sum(Object.values(stats.links))}</td>
                  <td>{stats?.operations.toLocaleString("en")}</td>
                </tr>
              );
            })}
          </Table>
        )}
      </Answered>
      <form class="row" onSubmit={(event) => (event.preventDefault(), enter(event.currentTarget))}>
        <input name="name" required maxLength={200} placeholder={s.other} aria-label={s.other} pattern="[^/]*\S[^/]*" />
        <button type="submit">{s.open}</button>
      </form>
    </div>
  );
}
