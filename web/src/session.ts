/** Who uses the page: signing in with a token and out again. */
import { request, session } from "./api";
import type { Session } from "./types";

export async function loadSession(): Promise<void> {
  session.value = await request<Session>("GET", "/session").catch(() => session.value);
}

export async function signIn(token: string): Promise<void> {
  session.value = await request<Session>("POST", "/session", { token });
}

export async function signOut(): Promise<void> {
  session.value = await request<Session>("DELETE", "/session");
}

/** Whether the token of the session, or the lack of need for one, lets it do what needs this kind. */
export function may(kind: "read" | "write" | "admin"): boolean {
  const order = ["read", "write", "admin"];
  const { value } = session;
  return value !== null && (!value.needed || (value.token !== null && order.indexOf(value.token.kind) >= order.indexOf(kind)));
}
