/** Texts from outside, made fit to be seen; times and numbers as people read them. */

/** Characters without a shape, or that change direction: shown by their code, so that they cannot mislead. */
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

/** A text with its hidden characters made visible, such as `⟨202E⟩`. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (letter) => (letter === "\r" ? "" : `⟨${letter.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`));
}

/** The beginning of a text, in one line. */
export function brief(text: string, letters: number): string {
  const line = visible(text.slice(0, letters * 4)).replace(/\s+/g, " ").trim();
  return line.length <= letters && text.length <= letters * 4 ? line : `${line.slice(0, letters - 1).trimEnd()}…`;
}

/** What answers of a long text: as many of its passages as fit, in their order, with … where text is left out. */
export function excerpt(text: string, passages: [number, number][], most: number): string | undefined {
  if (text.length <= most || !passages.length) return undefined;
  const letters = [...text];
  let size = 0;
  const fitting = passages.filter(([start, end], place) => (size += end - start) <= most || !place);
  let [shown, at] = ["", 0];
  for (const [start, end] of fitting.sort(([a], [b]) => a - b)) {
    const part = letters.slice(start, end).join("");
    shown = start === at ? shown + part : `${shown.trimEnd()} … ${part.trimStart()}`;
    at = end;
  }
  return at === letters.length ? shown.trimStart() : `${shown.trim()} …`;
}

/** The name of an entity or a file without the word for its kind, and any other key as it is. */
export const named = (key: string): string => visible(/^(entity|file):/.test(key) ? key.slice(key.indexOf(":") + 1) : key);

const days = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const minutes = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });
export const day = (at: string | number | null): string => (at === null ? "" : days.format(new Date(at)));
export const moment = (at: string | number | null): string => (at === null ? "" : minutes.format(new Date(at)));

export const percent = (share: number): string => {
  const value = share * 100;
  return `${value > 0 && value < 0.95 ? value.toFixed(1) : value.toFixed(0)}\u202f%`;
};
export const signed = (value: number, digits = 2): string => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(digits)}`;
export const count = (n: number, singular: string, plural = `${singular}s`): string => `${n.toLocaleString("en")} ${n === 1 ? singular : plural}`;
