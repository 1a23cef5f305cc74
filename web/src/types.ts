/** The server's values that the page reads: the fields of the library's, as JSON has them. */

export interface Token {
  id: string;
  namespace: string;
  name: string | null;
  kind: "read" | "write" | "admin";
}

export interface Session {
  /** Whether the store has tokens, so that requests need one. */
  needed: boolean;
  token: Token | null;
  namespaces: string[];
  /** The namespace that is shown first. */
  namespace: string;
  version: string;
  profiles: string[];
  /** The terms that recall can leave out. */
  terms: string[];
}

export interface Use {
  uses: number;
  last_used_at: string | null;
  helped: number;
  failed: number;
  confirmed: number;
  followed: number;
  overridden: number;
}

export interface Memory {
  id: string;
  key: string;
  kind: string;
  content: string;
  gist: string;
  heading: string | null;
  session: string | null;
  speaker: string | null;
  when: Record<string, unknown>;
  tags: string[];
  metadata: Record<string, unknown>;
  source: string | null;
  trust: string;
  importance: number;
  outcome: string | null;
  occurred_at: string | null;
  recorded_at: string;
  retired_at: string | null;
  valid_from: string | null;
  valid_to: string | null;
  version: number;
  status: string;
  weight: number;
  confidence: number;
  use: Use;
}

export interface Step {
  source: string;
  relation: string;
  target: string;
  amount: number;
}

export interface Hit {
  memory: Memory;
  score: number;
  /** Log-odds by name, which add up to those of the relevance, in profiles that have one. */
  components: Record<string, number>;
  path: Step[];
  relevance: number | null;
  superseded_by: number | null;
  /** Where the passages of a long text begin and end, in characters of Python, those that answer first. */
  passages: [number, number][];
}

export interface Recall {
  recall_id: string;
  hits: Hit[];
  reason: string | null;
  degraded: string[];
  text: string;
  omitted: { key: string; reason: string; tokens: number }[];
  profile: string;
  notice: string | null;
  confidence: number | null;
  timings: Record<string, number>;
  spread: Record<string, number>[];
  carried: Step[];
  recorded: boolean;
  more: number;
}

export interface Change {
  table: string;
  key: string;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
}

export interface Operation {
  id: string;
  kind: string;
  at: string;
  actor: string | null;
  source: string | null;
  reason: string | null;
  changes: Change[];
  undone_by: string | null;
  message: string | null;
  via: string | null;
  session: string | null;
}

export interface Link {
  source: string;
  target: string;
  relation: string;
  weight: number;
  sign: number;
  created_at: string;
  last_activated: string | null;
  given: boolean;
}

export interface Status {
  version: string;
  namespace: string;
  profile: string;
  memories: number;
  links: number;
  operations: number;
  generation: string;
  reason: string | null;
  waiting: number;
}
