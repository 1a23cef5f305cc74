/** The server's metrics, which are written for Prometheus, as people read them. */

export interface Figures {
  inFlight: number;
  namespaces: number;
  jobs: number;
  operations: { name: string; requests: number; failed: number; mean: number }[];
}

const PATH = "/metrics";

export async function figures(signal: AbortSignal): Promise<Figures | null> {
  const response = await fetch(PATH, { signal, credentials: "same-origin", headers: { "X-Priming": "page" } });
  return response.ok ? parsed(await response.text()) : null;
}

/** The figures of a text of metrics: a line is a name, labels, and a number. */
export function parsed(text: string): Figures {
  const result: Figures = { inFlight: 0, namespaces: 0, jobs: 0, operations: [] };
  const all = new Map<string, { requests: number; failed: number; seconds: number; timed: number }>();
  for (const line of text.split("\n")) {
    const [, metric = "", labels = "", number = ""] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    const value = Number(number);
    if (metric === "priming_in_flight") result.inFlight = value;
    if (metric === "priming_open_namespaces") result.namespaces = value;
    if (metric === "priming_jobs") result.jobs = value;
    const name = /operation="([^"]*)"/.exec(labels)?.[1];
    if (name === undefined) continue;
    const own = all.get(name) ?? { requests: 0, failed: 0, seconds: 0, timed: 0 };
    all.set(name, own);
    if (metric === "priming_requests_total") {
      own.requests += value;
      if (!/status="[123]/.test(labels)) own.failed += value;
    }
    if (metric === "priming_request_seconds_sum") own.seconds += value;
    if (metric === "priming_request_seconds_count") own.timed += value;
  }
  result.operations = [...all]
    .map(([name, { requests, failed, seconds, timed }]) => ({ name, requests, failed, mean: timed ? seconds / timed : 0 }))
    .filter(({ requests }) => requests > 0)
    .sort((a, b) => b.requests - a.requests);
  return result;
}

const UNITS = ["B", "kB", "MB", "GB", "TB"];

export function size(bytes: number): string {
  let unit = 0;
  let value = bytes;
  for (; value >= 1000 && unit < UNITS.length - 1; unit++) value /= 1000;
  return `${value < 10 && unit ? value.toFixed(1) : value.toFixed(0)} ${UNITS[unit]}`;
}
