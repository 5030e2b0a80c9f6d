/* The table of layers. */
function layerTable(model, choose) {
  const rows = model.layers.map((row, index) => ({ ...row, index }));
  const number = (title, words, value, text) => ({ title, words, kind: "number", value,
    text: text ?? ((row) => count(value(row))) });
  const moved = (title, key) => number(title, "bytes of DDR traffic", (row) => row.bytes[key],
    (row) => (row.bytes[key] ? bytes(row.bytes[key]) : ""));
  const share = (value) => (row) => (row.bdc_cycles ? percent(value(row)) : "");
  const used = (row) => (row.bdc_cycles ? row.array_cycles / row.bdc_cycles : -1);
  const grouped = rows.some((row) => row.group || row.boundary);
  const columns = [
    number("#", "in the order of the program", (row) => row.index + 1),
    { title: "layer", kind: "name", value: (row) => row.name },
    { title: "op", value: (row) => opName(row.op) },
    ...(grouped ? [number("group", "layer group", (row) => row.group, (row) => row.group || "")] : []),
    number("cycles", "by which the layer moved the end of the run", (row) => row.cycles),
    { ...number("share", "of the run's cycles", (row) => row.cycles,
      (row) => percent(row.cycles / Math.max(1, model.total))), paint: paintShare(model) },
    number("critical", "cycles of its commands on the critical path",
      (row) => row.critical_cycles),
    number("compute", "cycles of the compute engine", (row) => row.bdc_cycles),
    number("DMA", "cycles of the DMA engine", (row) => row.gdma_cycles),
    { title: "bound", words: "the engine it keeps busy longer", value: bound },
    number("array use", "multiply-accumulates of what the array could do in its compute cycles",
      used, share(used)),
    ...[["load", "load"], ["store", "store"], ["DDR to DDR", "ddr_to_ddr"]]
      .filter(([, key]) => rows.some((row) => row.bytes[key]))
      .map(([title, key]) => moved(title, key)),
    number("MACs", "multiply-accumulates", (row) => row.macs, (row) => (row.macs ? short(row.macs) : "")),
    ...(grouped ? [{ title: "boundary", words: "why the layer group ends here, or none begins",
      kind: "words", value: (row) => row.boundary }] : []),
  ];
  const table = new SortedTable(byId("layers"), columns, rows, (row) => choose(row.index));
  const filter = byId("filter");
  const apply = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = table.filter((row) => {
      const text = `${row.name} ${row.op} ${row.boundary}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    byId("layer-count").textContent = `${shown} of ${rows.length}`;
  };
  filter.addEventListener("input", apply);
  apply();
  table.sort(columns.findIndex((column) => column.title === "cycles"));
  return table;
}

const opName = (op) => op.replace("tpu.", "");

const bound = (row) => (row.bdc_cycles >= row.gdma_cycles ? "compute" : "DMA");

function paintShare(model) {
  const most = Math.max(1, ...model.layers.map((row) => row.cycles));
  return (cell, row) => {
    cell.classList.add("share");
    cell.style.backgroundSize = `${100 * row.cycles / most}% 3px`;
    cell.style.backgroundPosition = "left bottom 1px";
  };
}
