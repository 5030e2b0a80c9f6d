/* Colours: those of the style sheet for canvases, and one per kind of thing. */
const PALETTE = ["#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#e15759", "#3ba3a0", "#c9a227",
  "#9c755f", "#d37295", "#7f8c9b"];
/* Other colours than those of ops, as a colour means one thing. */
const INSTRUCTION_PALETTE = ["#2b5c8a", "#6f9a3c", "#8c8c3f", "#a0567b", "#4b8f8c", "#b0784a",
  "#6b5b95", "#5f6b78", "#5f6b78", "#5f6b78"];
const INSTRUCTIONS = {
  CONV: 0, MM: 0, MM2: 0, PorD: 1, AR: 2, CMP: 2, LIN: 2, VC: 2, SFU: 3, TRANS_BC: 4, SG: 5, SGL: 5,
  RQ_DQ: 6,
};
const INSTRUCTION_WORDS = ["products", "pools, depthwise", "arithmetic", "special functions",
  "transposes", "gathers", "requantisation"];
const themed = {};

function readTheme() {
  const probe = element("span", { style: { display: "none" } });
  document.body.append(probe);
  const names = ["back", "panel", "line", "grid", "text", "faint", "accent", "compute", "load",
    "store", "copy", "local", "idle", "dma", "both", "odd", "even"];
  for (const name of names) {
    probe.style.color = `var(--${name})`;
    themed[name] = getComputedStyle(probe).color;
  }
  probe.remove();
}

const directionColour = (direction) => ({ load: themed.load, store: themed.store,
  ddr_to_ddr: themed.copy }[direction] ?? themed.local);

function instructionKind(name) {
  const form = name.split(".")[0];
  return INSTRUCTIONS[form] ?? INSTRUCTIONS[form.replace(/^s/, "")] ?? 9;
}

function toggleTheme() {
  const dark = getComputedStyle(document.documentElement).colorScheme === "dark" ||
    (!document.documentElement.dataset.theme &&
      matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "light" : "dark";
}
