/** How a recall is asked: profile, budget, terms, and the time as of which it answers. All of it is in the address. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { session } from "../api";
import { adjust, route } from "../router";
import { recall as s, terms } from "../strings";
import { moment } from "../text";

const BUDGET = 2000;
const LIMIT = 10;
const TICKS = 400;

/** The arguments of `recall` that the address has. */
export function asked(params: Record<string, string>): Record<string, unknown> {
  const { q = "", profile, tokens, limit, off, known, valid } = params;
  return {
    text: q,
    tokens: tokens === "none" ? null : Number(tokens) || BUDGET,
    limit: Number(limit) || LIMIT,
    ...(profile && { profile }),
    ...(off && { ablate: off.split(",") }),
    ...(known && { known_at: known }),
    ...(valid && { valid_at: valid }),
    trace: true,
  };
}

export function Settings(): JSX.Element {
  const { profile = "", tokens = String(BUDGET), limit = String(LIMIT), off = "" } = route.value.params;
  const left = new Set(off.split(",").filter(Boolean));
  const { profiles = [], terms: all = [] } = session.value ?? {};
  const turn = (term: string): void => {
    if (!left.delete(term)) left.add(term);
    adjust({ off: [...left].join(",") });
  };
  return (
    <details class="settings">
      <summary>
        {s.settings}
        {(profile || off) && <b> · {[profile, ...[...left].map((term) => `−${term}`)].filter(Boolean).join(" ")}</b>}
      </summary>
      <div class="card stack">
        <div class="row">
          <label>
            {s.profile}{" "}
            <select value={profile || profiles[0]} onChange={(event) => adjust({ profile: event.currentTarget.value === profiles[0] ? "" : event.currentTarget.value })}>
              {profiles.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <label>
            {s.budget}{" "}
            <select value={tokens} onChange={(event) => adjust({ tokens: event.currentTarget.value })}>
              {["100", "500", "1000", "2000", "8000"].map((n) => (
                <option key={n}>{n}</option>
              ))}
              <option value="none">{s.budgetNone}</option>
            </select>
          </label>
          <label>
            {s.limit}{" "}
            <select value={limit} onChange={(event) => adjust({ limit: event.currentTarget.value })}>
              {["3", "10", "30", "100"].map((n) => (
                <option key={n}>{n}</option>
              ))}
            </select>
          </label>
        </div>
        <fieldset>
          <legend>{s.terms}</legend>
          <p class="faint">{s.termsAbout}</p>
          <div class="switches">
            {all.map((term) => (
              <label key={term} title={terms[term] ?? ""}>
                <input type="checkbox" checked={!left.has(term)} onChange={() => turn(term)} /> {term}
              </label>
            ))}
          </div>
        </fieldset>
        {off && (
          <button type="button" class="small" onClick={() => adjust({ off: "" })}>
            {s.termsOn}
          </button>
        )}
      </div>
    </details>
  );
}

/** A slider over the life of the store; at its end it is now, and nothing is asked as of a time. */
export function AsOf({ since }: { since: string }): JSX.Element {
  const { known, valid } = route.value.params;
  const [kind, setKind] = useState<"known" | "valid">(valid && !known ? "valid" : "known");
  const [now] = useState(() => Date.now());
  const begin = Math.min(new Date(since).getTime() || now, now - 1000);
  const chosen = route.value.params[kind];
  const place = chosen ? Math.round(((new Date(chosen).getTime() - begin) / (now - begin)) * TICKS) : TICKS;
  const put = (which: string, tick: number): void => {
    const at = tick >= TICKS ? "" : new Date(begin + ((now - begin) * tick) / TICKS).toISOString();
    adjust({ known: "", valid: "", [which]: at });
  };
  return (
    <div class="as-of">
      <select
        aria-label={s.asOf.title}
        value={kind}
        onChange={(event) => {
          const which = event.currentTarget.value === "valid" ? "valid" : "known";
          setKind(which);
          put(which, place);
        }}
      >
        <option value="known">{s.asOf.known}</option>
        <option value="valid">{s.asOf.valid}</option>
      </select>
      <input type="range" min="0" max={TICKS} value={place} aria-label={s.asOf.slider} aria-valuetext={chosen ? moment(chosen) : s.asOf.now} onInput={(event) => put(kind, Number(event.currentTarget.value))} />
      <output class="faint number">{chosen ? moment(chosen) : s.asOf.now}</output>
      {chosen && (
        <button type="button" class="small" onClick={() => adjust({ known: "", valid: "" })}>
          {s.asOf.back}
        </button>
      )}
    </div>
  );
}
