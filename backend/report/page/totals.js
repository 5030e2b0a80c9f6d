/* What the kinds of ops and the blocks of the network cost together. */
function drawTotals(model, search) {
  const { totals } = model.data.report;
  for (const [id, heading, rows] of [["ops", "op", totals.ops], ["blocks", "block", totals.blocks]]) {
    const number = (title, words, value, text) => ({ title, words, kind: "number", value,
      text: text ?? ((row) => count(value(row))) });
    const most = Math.max(1, ...rows.map((row) => row.cycles));
    const table = new SortedTable(byId(id), [
      { title: heading, kind: "name", value: (row) => opName(row.name) },
      number("layers", "how many there are", (row) => row.layers),
      number("cycles", "by which they moved the end of the run", (row) => row.cycles),
      { ...number("share", "of the run's cycles", (row) => row.cycles,
        (row) => percent(row.cycles / Math.max(1, model.total))), paint: (cell, row) => {
        cell.classList.add("share");
        cell.style.backgroundSize = `${100 * row.cycles / most}% 3px`;
        cell.style.backgroundPosition = "left bottom 1px";
      } },
      number("critical", "cycles of their commands on the critical path",
        (row) => row.critical_cycles),
      number("compute", "cycles of the compute engine", (row) => row.bdc_cycles),
      number("DMA", "cycles of the DMA engine", (row) => row.gdma_cycles),
    ], rows, (row) => search(row.name.startsWith("(") ? "" : row.name));
    table.sort(2);
  }
}

/* How far silicon is, and where the figures come from. */
function drawOrigin(model) {
  const { report } = model.data, pairs = [["model", `${report.model} ${report.quantize}`],
    ["chip", report.chip]];
  for (const key of ["version", "command", "seed"]) {
    if (report[key] !== null && report[key] !== undefined) pairs.push([key, String(report[key])]);
  }
  for (const [name, value] of Object.entries(report.hashes ?? {})) {
    if (typeof value === "string") pairs.push([name, element("code", { text: value })]);
    else for (const [file, hash] of Object.entries(value ?? {})) {
      pairs.push([file, element("code", { text: hash })]);
    }
  }
  byId("origin").append(definitions(pairs));
}
