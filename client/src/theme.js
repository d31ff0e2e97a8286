// Colours of the scene, light or dark as the reader's system has it.

const DARK = {
  paper: "#14161a", ground: "#2b3038", groundDark: "#272c33", line: "#3a414b", fixed: "#6d7580",
  open: "#9aa3af", inside: "#4cc2ff", edge: "#ffa657", loose: "#c4a2ff", com: "#ffd84d", sky: "#dfe8f5", earth: "#4a4f57",
  trails: ["#ffd84d", "#7fb0ff", "#6fdc96", "#ff8a94", "#c4a2ff", "#5fd6e4", "#d9b981", "#a9b1bd", "#ffa657"],
};
const LIGHT = {
  paper: "#ffffff", ground: "#e9ecf0", groundDark: "#e1e5ea", line: "#cdd3da", fixed: "#9aa1ab",
  open: "#8b9099", inside: "#0b6fd0", edge: "#e06a00", loose: "#8a5bd6", com: "#c29400", sky: "#ffffff", earth: "#b9bec6",
  trails: ["#c29400", "#2563c9", "#1f8a4c", "#c6283c", "#7c4dcc", "#0b8a9a", "#8a6a3a", "#6b7280", "#c2600a"],
};

const query = window.matchMedia("(prefers-color-scheme: dark)");
const acts = new Set();
const isOnPaper = () => document.documentElement.classList.contains("paper"); // which is light

export function theme() { return query.matches && !isOnPaper() ? DARK : LIGHT; }

/** Call when the theme changes; returns what ends that. */
export function onThemeChange(act) {
  acts.add(act);
  return () => acts.delete(act);
}

/** Light while the page is printed, also where the reader wants it dark. */
export function usePaper(on) {
  document.documentElement.classList.toggle("paper", on);
  if (query.matches) tell();
}

function tell() { for (const act of acts) act(); }

query.addEventListener("change", tell);
