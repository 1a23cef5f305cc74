/** Light or dark: as the system has it, until the reader chooses. */
import { signal } from "@preact/signals";

const PLACE = "priming.theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

const chosen = signal<string | null>(stored());
/** The theme that is shown; the colours of the graph are read anew when it changes. */
export const theme = signal<"light" | "dark">("light");

export const calm = matchMedia("(prefers-reduced-motion: reduce)");

export function applyTheme(): void {
  theme.value = chosen.value === "light" || chosen.value === "dark" ? chosen.value : dark.matches ? "dark" : "light";
  document.documentElement.dataset.theme = theme.value;
}

export function toggleTheme(): void {
  chosen.value = theme.value === "dark" ? "light" : "dark";
  try {
    localStorage.setItem(PLACE, chosen.value);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
  applyTheme();
}

function stored(): string | null {
  try {
    return localStorage.getItem(PLACE);
  } catch {
    return null;
  }
}

dark.addEventListener("change", applyTheme);
