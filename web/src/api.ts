/** All requests to the server: operations of its table, jobs, the session, and what went wrong with them. */
import { signal } from "@preact/signals";
import { route } from "./router";
import type { Operation, Session } from "./types";
import { errors } from "./strings";

/** An error that the server answered; `code` is stable. `unreachable`: no answer came. */
export class ApiError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly status = 0,
  ) {
    super(message);
  }
}

/** Whether the server answered last. */
export const reachable = signal(true);
/** Who uses the page; null until the server said it. */
export const session = signal<Session | null>(null);

/** The namespace that is shown: that of the address, else the first. */
export function namespace(): string {
  return route.value.params.ns ?? session.value?.namespace ?? "default";
}

/** A request of the page, with the header by which the server knows it from another site's. */
export async function request<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const headers: Record<string, string> = { "X-Priming": "page" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response: Response;
  try {
    const content = body === undefined ? null : JSON.stringify(body);
    response = await fetch(path, { method, headers, body: content, signal: signal ?? null, credentials: "same-origin" });
  } catch (error) {
    if (signal?.aborted) throw error;
    reachable.value = false;
    throw new ApiError("unreachable", errors.unreachable);
  }
  reachable.value = true;
  const text = await response.text();
  const answer = parsed(text);
  if (response.ok) return answer as T;
  const { code, message } = (answer as { error?: { code: string; message: string } } | null)?.error ?? { code: "internal", message: text };
  if (response.status === 401 && session.value) session.value = { ...session.value, needed: true, token: null };
  throw new ApiError(code, message, response.status);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The answer of an operation of the table, in the namespace that is shown. */
export function call<T>(operation: string, args: object = {}, signal?: AbortSignal): Promise<T> {
  return request<T>("POST", `/v1/${encodeURIComponent(namespace())}/${operation}`, args, signal);
}

/** The memories and links of `graph` around one memory, or of the most linked. */
export async function graph<T>(args: object, signal?: AbortSignal): Promise<T> {
  return JSON.parse(await call<string>("graph", { format: "json", ...args }, signal)) as T;
}

export const undo = (operation_id: string): Promise<Operation> => call<Operation>("undo", { operation_id });

export interface Job {
  id: string;
  operation: string;
  status: "waiting" | "running" | "done" | "failed" | "cancelled";
  done: number;
  total: number | null;
  result: unknown;
  error: { code: string; message: string } | null;
}

const jobPath = (part: string): string => `/v1/${encodeURIComponent(namespace())}/jobs/${part}`;
export const beginJob = (operation: string, args: object = {}): Promise<Job> => request("POST", jobPath(operation), args);
export const job = (id: string, signal?: AbortSignal): Promise<Job> => request("GET", jobPath(id), undefined, signal);
export const dropJob = (id: string): Promise<Job> => request("DELETE", jobPath(id));
