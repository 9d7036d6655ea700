/** Light or dark: the system's choice until the reader chooses. The choice is stored where the browser allows it. */

import { effect, type Signal, signal } from "@preact/signals";

export type Theme = "light" | "dark";
const KEY = "clausewise-theme";

export function themeSignal(window: Window): Signal<Theme> {
  const asksForDark = window.matchMedia("(prefers-color-scheme: dark)");
  const theme = signal<Theme>(stored(window) ?? (asksForDark.matches ? "dark" : "light"));
  let isChosen = stored(window) !== null;
  asksForDark.addEventListener("change", (event) => {
    if (!isChosen) theme.value = event.matches ? "dark" : "light";
  });
  let isFirst = true;
  effect(() => {
    window.document.documentElement.dataset["theme"] = theme.value;
    if (!isFirst) {
      isChosen = true;
      keep(window, theme.value);
    }
    isFirst = false;
  });
  return theme;
}

function stored(window: Window): Theme | null {
  try {
    const value = window.localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : null;
  } catch {
    return null; // a sandboxed frame has no storage
  }
}

function keep(window: Window, theme: Theme): void {
  try {
    window.localStorage.setItem(KEY, theme);
  } catch {
    // see above
  }
}
