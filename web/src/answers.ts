/** Answers of the server that browsing, care and operating read, and requests that only the page makes. */
import { call, namespace, request } from "./api";
import type { Change, Link, Memory, Operation, Recall, Token } from "./types";

export interface Rule extends Memory {
  use: Memory["use"] & { shown: number | null; quiet: string | null };
}

/** What the capture of a session keeps in its memory. */
export interface Captured { asked: string[]; answered: string; changed: string[]; commits: string[] }
export interface Verdict { key: string; verdict: string; at: string; tier: string; session: string | null }
export interface Why { reasons: string[]; learned_from: string[]; overrides: string[]; overridden_by: string[]; conflicts: string[]; verdicts: Verdict[] }
export interface Side { key: string; content: string; value: string; told_at: string | null }
export interface Review { id: string; subject: string; slot: string; older: Side; newer: Side | null; reason: string | null; kind: string; key: string | null; instead: string[] }
export interface Item { id: string; stage: string; action: string; keys: string[]; into: string | null; reason: string; evidence: Record<string, unknown>; changes: Change[] }
export interface Proposal {
  id: string; stages: string[]; items: Item[]; operation: string | null;
  left_alone: { keys: string[]; reason: string; words: string[]; stage: string }[];
  checks: { stage: string; rule: string; held: number; dropped: string[] }[];
}
export interface Alias {
  alias: string; name: string; reason: string; evidence: { key: string; text: string }[]; operation: string | null;
}
export interface Fading { key: string; kind: string; gist: string; worth: number; retrievability: number; later: number; since: string; reason: string }
export interface LoopSession { session: string; parent: string | null; objective: string; stands: string; tasks: number; delivered: number; created_at: string; updated_at: string }
export interface Attempt {
  number: number; at: string; error: string | null; acted: { status: string; details: string; obstacle: string | null } | null;
  verified: { status: string; exit_status: number | null; output: string; seconds: number } | null;
}
export interface Task {
  seq: number; plan: { objective: string; delta: string[]; verify: string | null }; status: string; attempts: Attempt[];
}
export interface Report {
  session: string; objective: string; why: string | null; tasks: Task[]; helped: string[]; stored: string[]; line: string;
  waits: { what: string; about: string } | null; next_command: string | null;
}
export interface Stats { namespace: string; memories: Record<string, Record<string, number>>; links: Record<string, number>; operations: number; traces: number; bytes: number }
export interface Finding { rule: string; subject: string; detail: string; remedy: string }
export interface Verified { operations: number; rows: number; vectors: number; findings: Finding[] }
export interface StoredToken extends Token { created_at: string; revoked_at: string | null; used_at: string | null; expires_at: string | null }
export interface Listing {
  memories: Memory[];
  total: number;
  /** Where the next page ends, counted from the oldest; 0: this is the last. */
  end: number;
}

const own = (name: string): string => `/page/${name}/${encodeURIComponent(namespace())}`;

export const listing = (args: object, signal?: AbortSignal): Promise<Listing> => request("POST", own("listing"), args, signal);

/** An operation of the log, with the first memories that it is about. */
export interface Logged extends Operation { subjects: { key: string; text: string | null }[] }

export const entries = (args: object, signal?: AbortSignal): Promise<{ operations: Logged[]; before: number | null }> =>
  request("POST", own("entries"), args, signal);

export const jobsPath = (): string => own("jobs");

/** What a search came to: with words the most relevant, otherwise a page of the latest. */
export interface Search extends Listing { relevance: Record<string, number>; more: number }

export const PAGE = 50;
const MOST = 500;
type Filters = Record<string, string>;

/** The memories that the parameters of an address ask for; by words, those that have one, or are more probable than not. */
export async function search(params: Filters, signal: AbortSignal): Promise<Search> {
  const { q = "", kind = "", status = "active", end = "" } = params;
  const kinds = kind ? [kind] : null;
  if (status !== "active") {
    const memories = await call<Memory[]>("list", { status, kinds, matching: q || null, limit: MOST }, signal);
    return { memories: memories.reverse(), total: memories.length, end: 0, relevance: {}, more: 0 };
  }
  const filters = await conditions(params, signal);
  if (!q) return { ...(await listing({ filters, kinds, end: end === "" ? null : Number(end), limit: PAGE }, signal)), relevance: {}, more: 0 };
  const { hits: ranked, more: rest } = await call<Recall>("recall", { text: q, filters, kinds, limit: PAGE }, signal);
  const hits = ranked.filter(({ relevance, components }) => relevance === null || relevance >= 0.5 || (components.words ?? 0) > 0);
  const more = hits.length < ranked.length ? 0 : rest;
  const relevance = Object.fromEntries(hits.map((hit) => [hit.memory.id, hit.relevance ?? 0]));
  return { memories: hits.map((hit) => hit.memory), total: hits.length, end: 0, relevance, more };
}

/** The parameters of an address in the language of filters; null where they restrict nothing. */
async function conditions({ session, source, name, from, till }: Filters, signal: AbortSignal): Promise<object | null> {
  const all: object[] = [];
  if (session) all.push({ session: { contains: session } });
  if (source) all.push({ source: { contains: source } });
  if (name) {
    const links = await call<Link[]>("links", { key: name, by: "weight", limit: 5000 }, signal);
    all.push({ key: { in: [...new Set(links.flatMap((link) => [link.source, link.target]))].filter((key) => key !== name) } });
  }
  const span = { ...(from && { gte: instant(from) }), ...(till && { lt: instant(till, 1) }) };
  if (from || till) all.push({ or: [{ occurred_at: span }, { and: [{ occurred_at: { exists: false } }, { recorded_at: span }] }] });
  return all.length ? { and: all } : null;
}

/** The beginning of a day of this browser's time zone, or of a day after it. */
function instant(day: string, after = 0): string {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  return new Date(year, month - 1, date + after).toISOString();
}
