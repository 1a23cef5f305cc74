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
  ask: "What do you want to know?",
};
