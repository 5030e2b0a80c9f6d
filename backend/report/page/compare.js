/* This run against another: totals, and layers by name, largest difference first. */
function drawComparison(model, choose) {
  const other = model.data.against;
  if (!other) return;
  byId("compare-section").hidden = false;
  byId("compare-link").hidden = false;
  byId("compare-title").textContent = `against ${other.title}`;
  const { report } = model.data, numbers = new Map(model.layers.map((row, i) => [row.name, i]));
  const cards = element("div", { class: "panel" });
  const rows = [
    ["cycles", report.cycles, other.cycles],
    ["exposed DMA", report.usage.exposed_dma, other.usage.exposed_dma],
    ["DMA busy", report.gdma.busy_cycles, other.gdma.busy_cycles],
    ["bytes loaded", report.gdma.bytes.load, other.gdma.bytes.load],
    ["bytes stored", report.gdma.bytes.store, other.gdma.bytes.store],
  ];
  const list = definitions(rows.map(([name, here, there]) => [name, words(here, there)]));
  cards.append(element("b", { text: `${report.model} ${report.quantize} on ${report.chip} against ` +
    `${other.model} ${other.quantize} on ${other.chip}` }), list);
  list.style.cssText = "display:grid;grid-template-columns:max-content 1fr;gap:2px 16px";
  cards.style.marginBottom = "12px";
  byId("compare-summary").append(cards);
  const number = (title, key) => ({ title, kind: "number", value: (row) => row[key],
    text: (row) => (row[key] === null ? "–" : count(row[key])) });
  const columns = [
    { title: "layer", kind: "name", value: (row) => row.name },
    { title: "op", value: (row) => opName(row.op) },
    number("cycles", "cycles"), number("other", "other_cycles"),
    { ...number("difference", "difference"), value: (row) => Math.abs(row.difference),
      text: (row) => signed(row.difference), paint: (cell, row) => {
        if (row.difference) cell.classList.add(row.difference < 0 ? "better" : "worse");
      } },
    number("compute", "bdc_cycles"), number("other", "other_bdc_cycles"),
    number("DMA", "gdma_cycles"), number("other", "other_gdma_cycles"),
  ];
  const table = new SortedTable(byId("compare"), columns, other.layers, (row) => {
    if (numbers.has(row.name)) choose(numbers.get(row.name));
  });
  table.sort(4);
}

const signed = (value) => (value > 0 ? `+${count(value)}` : count(value));

function words(here, there) {
  const change = there ? `, ${signed(here - there)} (${here >= there ? "+" : ""}` +
    `${(100 * (here / there - 1)).toFixed(1)}%)` : "";
  const made = element("span", { text: `${count(here)} against ${count(there)}${change}` });
  if (here !== there) made.className = here < there ? "better" : "worse";
  return made;
}
