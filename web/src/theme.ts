/* theme - light and dark: as the system says until somebody chooses; the choice is kept where the browser lets it. */
import { byId } from "./dom";

const listeners: (() => void)[] = [];

/* Storage may be refused, as on file addresses. */
function stored(): string | null {
  try {
    return localStorage.getItem("cg-theme");
  } catch {
    return null;
  }
}

function set(theme: string): void {
  document.documentElement.dataset.theme = theme;
  const other = theme === "dark" ? "Light" : "Dark";
  byId("cg-theme").textContent = other;
  byId("cg-theme").setAttribute("aria-label", `Switch to ${other.toLowerCase()} colours`);
  for (const listener of listeners) listener();
}

export function toggleTheme(): void {
  const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  set(theme);
  try {
    localStorage.setItem("cg-theme", theme);
  } catch {
    // Then it holds for this visit.
  }
}

export function startTheme(): void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const chosen = stored();
  set(chosen === "dark" || chosen === "light" ? chosen : system.matches ? "dark" : "light");
  system.addEventListener("change", () => stored() === null && set(system.matches ? "dark" : "light"));
  byId("cg-theme").addEventListener("click", toggleTheme);
  // Paper is white; pictures are drawn for it, before views that listen as well lay out what is printed.
  let before = "light";
  addEventListener("beforeprint", () => {
    before = document.documentElement.dataset.theme ?? "light";
    set("light");
  });
  addEventListener("afterprint", () => set(before));
}

export function onTheme(listener: () => void): void {
  listeners.push(listener);
}

export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
