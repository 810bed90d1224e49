/** Light or dark: as the system says, until somebody chooses; the choice is kept in this browser. */

const KEY = "penstock-theme";
const CHOICES = ["system", "light", "dark"];

/** What is chosen: system, light or dark. */
export function theme() {
  const kept = localStorage.getItem(KEY);
  return CHOICES.includes(kept) ? kept : "system";
}

/** Take the next of the three. */
export function nextTheme() {
  const chosen = CHOICES[(CHOICES.indexOf(theme()) + 1) % CHOICES.length];
  localStorage.setItem(KEY, chosen);
  applyTheme();
  return chosen;
}

/** Show what is chosen. */
export function applyTheme() {
  const chosen = theme();
  if (chosen === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
}
