/** Every sentence that the page shows, in English; a section for each view. */

export const app = {
  name: "Priming",
  question: "Ask your memory",
  ask: "Ask",
  namespace: "Namespace",
  theme: { dark: "Dark", light: "Light", toggle: "Switch between dark and light" },
  help: "Keys",
  signOut: "Sign out",
  views: "Views",
  skip: "Skip to content",
  home: "To the question and its graph",
  notThere: (view: string): string => `There is no view “${view}”.`,
  lost: "The server does not answer. Is it still running? This page tries again by itself.",
  dismiss: "Dismiss",
  undo: "Undo",
  undone: "Taken back.",
  loading: "Loading…",
  again: "Try again",
};

export const keys = {
  title: "Keys",
  everywhere: "Everywhere",
  here: "Here",
  question: "ask a question",
  help: "show these keys",
  view: (title: string): string => `go to ${title}`,
  theme: "switch between dark and light",
  close: "Close",
};

export const signing = {
  title: "Sign in",
  about: "This store has tokens, so the page needs one. Whoever runs the server makes it:",
  command: "priming token new '*' --name \"my browser\"",
  token: "Token",
  enter: "Sign in",
  note: "The token is exchanged for a session of this browser; signing out or revoking the token ends it.",
};

export const errors = {
  unreachable: "The server does not answer: see whether “priming open” or “priming serve” still runs.",
  title: "That did not work",
};

export const first = {
  title: "Nothing is remembered yet",
  about: "Remember something from the command line, let an agent do it, or look around with an example first.",
  command: "priming remember \"Grace looks after Falcon.\"",
  example: "Fill with an example",
  exampleAbout: "32 notes of a small ferry company, a few weeks of its winter, with the names and files that link them. One undo takes them out again.",
  filling: "Storing…",
  filled: (memories: number): string => `${memories} memories are stored. Ask them something.`,
  readOnly: "Your token may only read; another that may write can store an example.",
};

export const graph = {
  cue: "the question",
};

export const walk = {
  label: "The graph: arrows lead from a memory to those around it",
  begin: "walk over the graph by the arrows",
  before: "in the graph: the neighbour before", after: "in the graph: the next neighbour",
  onwards: "in the graph: on to what is linked to it", back: "in the graph: back to where you came from",
  open: "in the graph: open the memory's page", leave: "leave the graph",
  said: (name: string, kind: string, links: number, relation: string): string => `${name}, ${kind}, ${links} linked${relation && `; ${relation}`}`,
};

/** Names of kinds, as people say them. */
export const kinds: Record<string, string> = {
  episode: "episode",
  fact: "fact",
  procedure: "procedure",
  behavior: "rule",
  correction: "correction",
  failure: "failure",
  pattern: "pattern",
  entity: "name",
  file: "file",
};

export const recall = {
  title: "Recall",
  graph: "The graph around the answer: the question in the middle, then what it matched, then what that leads to",
  stale: "Something was changed since.",
  askAgain: "Ask again",
  fit: "Show all",
  zoomIn: "Closer",
  zoomOut: "Further away",
  play: "Play the spread",
  pause: "Pause",
  step: "Step of the spread",
  stepText: (step: number, of: number, active: number): string => (step === 0 ? `Anchors: ${active} matched` : `Hop ${step} of ${of}: ${active} active`),
  settings: "Settings",
  profile: "Profile",
  budget: "Tokens of the text",
  budgetNone: "no limit",
  limit: "Hits at most",
  terms: "Terms of the sum",
  termsAbout: "What is switched off is left out of every hit's sum.",
  termsOn: "Switch all on",
  hits: "Hits",
  none: "Nothing fits well enough",
  noneAbout: "The best is shown by --floor 0 on the command line; other words may fit better.",
  degraded: "Some memories wait for their vectors, so they are matched by words alone.",
  notRecorded: "A recall of another time is not recorded, so its hits cannot be judged.",
  more: (n: number): string => `${n} more were ranked beyond the limit.`,
  path: "How it was reached",
  direct: "The question itself matches it.",
  sum: "Why this probability",
  sumAbout: "Log-odds: +0.7 doubles the odds, −0.7 halves them.",
  total: "sum",
  parts: "Parts of its score",
  text: "As an agent gets it",
  tokens: (n: number): string => `${n.toLocaleString("en")} tokens`,
  omitted: (key: string, reason: string): string => `left out: ${key} (${reason})`,
  copy: "Copy",
  copied: "Copied.",
  open: "Its page",
  verdicts: { used: "Used", "not-relevant": "Not relevant", "not-useful": "Not useful" } as Record<string, string>,
  verdict: (verdict: string, key: string): string => `${verdict}: ${key}`,
  judge: "Verdicts move links and weights, so that the next recall is better.",
  moved: "What moved",
  movedNone: "No link moved; the cue is recorded.",
  keys: { next: "next hit", previous: "previous hit", used: "the hit was used", notRelevant: "it is not relevant", notUseful: "it is not useful", undo: "take the last verdict back", play: "play or pause the spread", open: "open the hit's page" },
  undoNothing: "There is no verdict of this page to take back.",
  asOf: {
    title: "As of",
    now: "now",
    known: "What was known",
    valid: "What was true",
    slider: "Time of the answer",
    back: "Back to now",
  },
  whole: {
    title: "Everything",
    about: (nodes: number, links: number): string => `${nodes.toLocaleString("en")} memories and names, ${links.toLocaleString("en")} links.`,
    more: (n: number): string => `${n.toLocaleString("en")} more, with fewer links, are not drawn.`,
    ask: "Ask something, and watch what it brings up.",
    strongest: "The strongest links are drawn.",
    again: "Something was changed: draw it again",
    hint: "/ leads to the question, g into the graph, ? shows all keys.",
    chosen: "Chosen",
    placing: "Finding places…",
    label: "The graph of all memories; choose one to read it",
  },
};

export const memory = {
  title: "Memory",
  pick: "Choose a memory: in an answer, in the graph, or by its key in the address.",
  text: "Text",
  all: "Look through all memories",
  facts: { kind: "Kind", speaker: "Said by", occurred: "Happened", recorded: "Recorded", from: "True from", until: "True until", session: "Session", source: "Source", trust: "Trust", tags: "Tags", status: "Status", weight: "Weight", uses: "Used", confidence: "Confidence", metadata: "Metadata", when: "When" },
  helped: (helped: number, failed: number): string => `${helped} helped, ${failed} did not`,
  asOf: "This is the text as of another time.",
  notThen: "It was not there, or not true, at that time.",
  versions: "Versions",
  version: (n: number): string => `Version ${n}`,
  recorded: (from: string, to: string): string => `known ${to ? `from ${from} to ${to}` : `since ${from}`}`,
  valid: (from: string, to: string): string => (to ? `true ${from ? `from ${from} ` : ""}until ${to}` : from ? `true since ${from}` : "always true"),
  links: "Links",
  noLinks: "Nothing is linked to it.",
  why: "Why recalls return it, or not",
  verdicts: "Verdicts",
  noVerdicts: "Nobody has judged it yet.",
  operations: "What happened to it",
  weights: "Its weights over time",
  noWeights: "No weight of it has moved yet: verdicts and sleep move them.",
};

export const time = {
  title: "Time",
  strengths: "Strength of links over time",
  strengthsAbout: "Mean and median weight, from the first operation until now.",
  mean: "mean",
  median: "median",
  links: "links",
  noStrengths: "There are no links yet, so there is nothing to draw.",
  oscillating: "Links that swing",
  oscillatingAbout: "Their weights rose and fell in turns: verdicts disagree about them.",
  noOscillating: "No link swings: verdicts agree.",
  turns: (n: number): string => `${n} turns`,
  diff: "What changed",
  from: "From",
  until: "Until",
  question: "Compare the answer to",
  compare: "Compare",
  spans: { day: "a day", week: "a week", month: "a month", all: "everything" } as Record<string, string>,
  noChange: "Nothing changed in this time.",
  memories: "Memories",
  moved: "Links",
  answers: "Answer",
  whats: { known: "new", gone: "gone", superseded: "superseded", reverted: "reverted", restored: "restored", made: "new link", removed: "link removed", moved: "moved", new: "new", up: "up", down: "down", same: "as before", restated: "other text" } as Record<string, string>,
  rank: (before: number | null, after: number | null): string => `${before ?? "–"} → ${after ?? "–"}`,
};

/** What each term of a hit's sum says. */
export const terms: Record<string, string> = {
  constant: "against any memory, before anything is known",
  size: "more memories, more to choose from",
  words: "words it shares with the question",
  meaning: "how near it is in meaning",
  near: "words near in meaning",
  vocabulary: "how much of the question the store knows",
  date: "of the time that is asked for",
  named: "the question names it",
  rest: "has what the best hit lacks",
  outdated: "a later memory says otherwise",
  other: "said by somebody else than asked for",
  asks: "it asks, rather than answers",
  information: "names, numbers and news in it",
  session: "its conversation fits",
  answered: "it follows such a question",
  context: "its conditions fit",
  feedback: "verdicts for questions like this",
  use: "how much it is used and remembered",
  arrival: "what led to it over links",
  rivals: "how well the others fit",
  spread: "activation over links",
  next: "links to the next turn",
  names: "links by names and files",
};

const number = (n: number): string => n.toLocaleString("en");

/** Lists of any view. */
export const rows = {
  before: "section before", after: "section after", next: "next row", previous: "row before",
  noPart: "There is no such section.",
  cancel: "Cancel",
  working: "at work",
  ofTotal: (done: number, total: number): string => `${number(done)} of ${number(total)}`,
  more: (left: number): string => `Show more of the ${number(left)} others`,
  others: (n: number): string => ` and ${number(n)} more`,
  nothing: "nothing",
  everywhere: "applies everywhere",
  signs: { "+": "new", "−": "gone", "~": "changed" } as Record<string, string>,
  tables: { memories: "memory", versions: "text of", links: "link", verdicts: "verdict on", pairs: "pair", runs: "run", relations: "relation" } as Record<string, string>,
  fields: { retired_at: "replaced", valid_from: "true from", valid_to: "true until" } as Record<string, string>,
  jobs: { sleep: "Sleep", verify: "Verify", remember_many: "Remember", reembed: "Embed anew", export_lines: "Export", import_lines: "Import", ablate: "Ablate" } as Record<string, string>,
};

export const browse = {
  title: "Browse",
  sections: { "": "Memories", sessions: "Sessions", rules: "Rules", names: "Names" },
  found: "Memories",
  open: "open the memory",
  focus: "search in the list",
  words: "Find memories",
  narrow: "Narrow down",
  kind: "Kind", all: "all", status: "Status", active: "active", session: "Session", source: "Source", from: "From", till: "Until",
  mentions: (name: string): string => `mentions ${name}`,
  none: "There are no memories here.",
  noMatch: "Nothing matches.",
  clear: "Show everything",
  byWords: (shown: number, more: number): string => (more > 0 ? `The ${shown} that fit best; ${number(more)} more fit less` : `${shown} that fit, the best first`),
  range: (from: number, till: number, total: number): string => `${number(from)}–${number(till)} of ${number(total)} ${total === 1 ? "memory" : "memories"}`,
  pages: "Pages", newer: "Newer", older: "Older",
  version: (n: number): string => `version ${n}`,
  edit: "Edit", forget: "Forget", restore: "Restore", cancel: "Cancel",
  save: "Save as a new version",
  text: "Text",
  earlier: "The earlier text stays in its history.",
  saved: (key: string): string => `${key} has a new version.`,
  unsaved: "The new version is not in the log.",
  forgotten: (key: string): string => `${key} is forgotten.`,
  restored: (key: string): string => `${key} is back.`,
};

export const timeline = {
  none: "No sessions are captured yet.",
  how: "With your consent Priming stores what each session of an agent was about: what was asked, what came of it, files and commits.",
  command: "priming setup claude-code --capture on",
  all: "all of this session",
  then: "Then", answered: "What came of it", changed: "Files", commits: "Commits",
  more: (n: number): string => `${n} more`,
};

export const rules = {
  none: "There are no rules yet.",
  how: "Correct your agent in plain words, and a rule is learned; or teach it one:",
  command: "priming learn \"Use uv instead of pip.\" --language python",
  words: "Find rules",
  noMatch: "No rule has these words.",
  number: (n: number): string => `${number(n)} ${n === 1 ? "rule" : "rules"}`,
  quiet: "quiet",
  origin: "What told it",
  shown: "shown", confirmed: "confirmed", overridden: "overridden",
  share: (confirmed: number, judged: number): string => `followed ${confirmed} of ${judged} times`,
  unjudged: "no verdicts yet",
  page: "Its page", learnedFrom: "Learned from", overrides: "Overrides", overriddenBy: "Overridden by", conflicts: "In conflict with",
};

export const names = {
  words: "Find names",
  open: "show what mentions it",
  none: "No name has these letters.",
  theme: "theme",
  forms: { session: "session", term: "term", file: "file" } as Record<string, string>,
};

export const care = {
  title: "Care",
  sections: { "": "Contradictions", log: "Log", sleep: "Sleep", quiet: "Quiet rules", aliases: "Aliases", fading: "Fading", loop: "Loop" },
  page: "its page",
};

export const pairs = {
  none: "Nothing contradicts.",
  noneAbout: "When two facts give a subject different values, or two rules disagree, they wait here for your word.",
  rules: "two rules", earlier: "Earlier", later: "Later", value: "says",
  older: "The earlier holds", newer: "The later holds", both: "Both hold",
  bothHold: "Both hold.",
  holds: (key: string): string => `${key} holds; the other is deprecated.`,
};

export const quiet = {
  none: "No rule is quiet.",
  noneAbout: "A rule that was mostly overridden of late is told by its name at most, and waits here for your word.",
  instead: "What was done instead",
  confirm: "It holds", drop: "Drop it",
  reason: "it is not followed",
  confirmed: (key: string): string => `${key} is confirmed.`,
  dropped: (key: string): string => `${key} is deprecated.`,
};

export const log = {
  key: "Memory", kind: "Operation", source: "Learned", until: "Before", only: "Only what was learned",
  kinds: ["remember", "supersede", "forget", "feedback", "learn", "link", "sleep", "merge", "deprecate", "restore", "undo", "rollback", "run-start", "run-end", "import"],
  sources: [["", "in any way"], ["conscious", "consciously"], ["automatic", "automatically"], ["manual", "by hand"]] as const,
  none: "Nothing was done that fits.",
  older: "Older operations",
  open: "show what it changed",
  undone: "undone", undo: "Undo this",
  undid: (kind: string): string => `${kind} is undone.`,
  noChanges: "It changed nothing.",
  rollBackHere: "Roll back to before this…",
  rollBackTo: (at: string): string => `Roll back to ${at}`,
  rollBack: "Roll back", rolledBack: "Rolled back.",
};

export const sleep = {
  about: "A night tidies the memory: unused links fade, duplicates are marked, episodes get a gist, procedures merge. See what it would do, and choose.",
  readOnly: "Your token may only read: sleep needs one that may write.",
  stages: "Stages",
  does: {
    decay: "removes links that have faded", light: "marks episodes that repeat an earlier one", deep: "sums up related episodes",
    skill: "keeps the best of procedures that mean the same", prune: "archives what rarely helped",
    link: "merges lessons that mean the same, and links what is similar",
  } as Record<string, string>,
  propose: "Propose a night", again: "Propose again",
  nothing: "There is nothing to tidy.",
  apply: (n: number): string => `Apply ${number(n)} ${n === 1 ? "item" : "items"}`,
  applied: (n: number): string => `${number(n)} ${n === 1 ? "item is" : "items are"} applied.`,
  chooseAll: "Choose all", chooseNone: "Choose none",
  by: (stage: string): string => `by ${stage}`,
  flip: "choose the item, or not", open: "show evidence and changes", evidence: "Evidence and changes",
  left: (n: number): string => `Left alone: ${number(n)}`,
};

export const aliases = {
  none: "No names are known to mean the same.",
  noneAbout: "When a text says that somebody goes by another name, the two can become one here.",
  merge: "They are the same",
  merged: (alias: string, name: string): string => `${alias} is now ${name}.`,
  reasons: { said: "a text says so", part: "a part of the full name, in the same session" } as Record<string, string>,
};

export const fading = {
  none: "Nothing important is fading.",
  noneAbout: "Important memories that nobody used for long appear here before they are hard to recall.",
  since: "last used",
  falls: (now: string, later: string): string => `${now} now, ${later} in a week`,
  keep: "Still useful",
  kept: (key: string): string => `${key} counts as used.`,
  reason: "it was fading",
};

export const loop = {
  none: "The loop has pursued no objective yet.",
  how: "The loop plans tasks for an objective, has an agent do them, and checks each by its gate.",
  command: "priming loop run \"Release version 2.2\"",
  open: "show its tasks", more: "Show more",
  delivered: (n: number, of: number): string => `${n} of ${of} tasks delivered`,
  subgoal: "a subgoal", helped: "Helped", stored: "Stored", gate: "gate",
  waits: (about: string): string => `It waits: ${about}`,
  attempt: (n: number): string => `attempt ${n}`,
  gated: (status: string, exit: number | null, seconds: number): string => `gate ${status}${exit === null ? "" : ` (${exit})`} · ${seconds.toFixed(1)} s`,
  output: "What the gate printed",
};

export const operate = {
  title: "Operate",
  sections: { "": "Health", namespaces: "Namespaces", jobs: "Jobs", tokens: "Tokens" },
};

export const health = {
  figures: ["memories", "names", "links", "operations", "recalls stored", "on disk"],
  server: "Server", state: "State", ready: "ready", version: "Version", profile: "Profile", embedder: "Embedder", waiting: "Without vectors",
  unwritable: "the store can be read, but not written now",
  holds: "Kinds", linked: "Relations",
  validate: "Look for faults", verify: "Read every row",
  compared: "the rules of the store hold",
  read: (rows: number, operations: number): string => `${number(rows)} rows and ${number(operations)} operations were read`,
  sound: (n: number, what: string): string => (n === 0 ? `No faults: ${what}.` : `${n} ${n === 1 ? "fault" : "faults"}.`),
  since: "Since the server started",
  now: (requests: number, namespaces: number, jobs: number): string => `At work now: requests ${requests}, open namespaces ${namespaces}, jobs ${jobs}`,
  columns: ["Operation", "Requests", "Refused or failed", "Time on average"],
};

export const namespaces = {
  title: "Namespaces",
  about: "Each namespace is a memory of its own. It begins with the first that is remembered in it.",
  columns: ["Name", "Memories", "Links", "Operations"],
  shown: "shown", other: "Another namespace", open: "Open",
};

export const jobs = {
  sleep: "Sleep now", verify: "Verify the store",
  none: "No jobs.",
  noneAbout: "Long work, such as a night of sleep, goes on in the server while you do something else.",
  statuses: { waiting: "waits", running: "at work", done: "done", failed: "failed", cancelled: "cancelled" } as Record<string, string>,
  forget: "Forget this job",
};

export const tokens = {
  title: "Tokens",
  notYours: "Tokens are for a token of the kind admin for all namespaces.",
  command: "priming token new '*' --kind admin",
  none: "There are no tokens: whoever uses this machine can use this store.",
  columns: ["Name", "Namespace", "Kind", "Made", "Last used", "Expires", "State"],
  everywhere: "all", never: "never", yours: "yours", revoke: "Revoke", isRevoked: "revoked",
  ask: (name: string, own: boolean): string => (own ? `Revoke ${name}? This page uses it: you will be signed out.` : `Revoke ${name}? What uses it is refused at once, for good.`),
  revoked: (name: string): string => `${name} is revoked.`,
  make: "Make a token",
  first: "The first token closes the server to all who have none. It is of the kind admin for all namespaces, and this page is signed in with it.",
  name: "For whom", example: "Ada's editor", namespace: "Namespace, * for all", kind: "May", days: "Days until it expires",
  kinds: [["read", "read"], ["write", "read and write"], ["admin", "do everything"]] as const,
  secret: "The secret of the new token",
  once: "Copy it now: only its digest is stored, so nobody can show it again.",
  copy: "Copy", copied: "Copied.", hide: "I have it",
};
