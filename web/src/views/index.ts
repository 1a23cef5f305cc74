/** The views, in the order of their tabs. A view is a file of this folder with a component as its default export,
 * loaded when it is first shown, and a line here. Its sentences are a section of `strings.ts`, its styles a file of
 * `styles/` that it imports itself. */
import type { ComponentType } from "preact";

export interface View {
  id: string;
  title: string;
  load: () => Promise<{ default: ComponentType }>;
  /** Whether it has no tab: it is reached by links. */
  hidden?: boolean;
}

export const views: readonly View[] = [
  { id: "recall", title: "Recall", load: () => import("./recall") },
  { id: "browse", title: "Browse", load: () => import("./browse") },
  { id: "time", title: "Time", load: () => import("./time") },
  { id: "care", title: "Care", load: () => import("./care") },
  { id: "operate", title: "Operate", load: () => import("./operate") },
  { id: "memory", title: "Memory", load: () => import("./memory"), hidden: true },
];
