/** The address after the hash, `#/view/part?name=value`: what is shown, so that a reload and a link show it again. */
import { signal } from "@preact/signals";

export interface Route {
  view: string;
  /** What of the view, such as the key of a memory; empty: its beginning. */
  part: string;
  params: Record<string, string>;
}

export const HOME = "recall";

export function parse(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [view = "", ...parts] = path.split("/");
  return { view: decoded(view) || HOME, part: decoded(parts.join("/")), params: Object.fromEntries(new URLSearchParams(query)) };
}

export function address({ view, part, params }: Route): string {
  const query = new URLSearchParams(Object.entries(params).filter(([, value]) => value !== "")).toString();
  return `#/${encodeURIComponent(view)}${part && `/${encodeURIComponent(part)}`}${query && `?${query}`}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const route = signal(parse(location.hash));
addEventListener("hashchange", () => (route.value = parse(location.hash)));

/** The address of a view in the namespace that is shown, for a link. */
export function to(view: string, params: Record<string, string> = {}, part = ""): string {
  const { ns } = route.value.params;
  return address({ view, part, params: ns ? { ns, ...params } : params });
}

export function go(view: string, params: Record<string, string> = {}, part = ""): void {
  location.hash = to(view, params, part);
}

/** Change parameters of what is shown; an empty value takes one away. Without a step for the browser's way back. */
export function adjust(params: Record<string, string>): void {
  const now = { ...route.value, params: { ...route.value.params, ...params } };
  history.replaceState(null, "", address(now));
  route.value = parse(location.hash);
}
