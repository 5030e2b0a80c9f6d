/* What the graph shows: lines, and values between them. */

/* Rows that bring values into a group: those count as read by the rows that compute with them. */
const brings = (row) => row.group && row.op === "tpu.Load";

/* Groups, and layers of no group, in the order in which they begin to compute; the network's inputs
   before them, its outputs behind. */
function graphUnits(model, began) {
  const { inputs, outputs } = model.data.flows, groups = new Map(), units = [];
  model.layers.forEach((row, i) => {
    if (row.group && groups.has(row.group)) groups.get(row.group).rows.push(i);
    else {
      units.push({ kind: row.group ? "group" : "layer", group: row.group, rows: [i] });
      if (row.group) groups.set(row.group, units[units.length - 1]);
    }
  });
  const first = (unit) => unit.rows.reduce((found, row) =>
    (brings(model.layers[row]) ? found : Math.min(found, began[row])), Infinity);
  units.forEach((unit) => Object.assign(unit, { began: first(unit) }));
  return [...inputs.map((tensor, input) => ({ kind: "input", tensor, rows: [], input })),
    ...units.sort((a, b) => a.began - b.began || a.rows[0] - b.rows[0]),
    ...outputs.map((tensor, output) => ({ kind: "output", tensor, rows: [], output }))];
}

/* Bytes between lines, by value: [{ maker, name, ddr, readers: Map(line → bytes) }]. `lineOf` says on
   which line a row, or -1 - k of an input or output, stands. */
function graphRails(model, lineOf) {
  const rails = new Map();
  for (const kind of ["ddr", "also", "local"]) {
    const ddr = kind !== "local";
    for (const [maker, reader, moved] of model.data.flows[kind]) {
      const from = lineOf(maker, true), to = lineOf(reader, false);
      if (from === to) continue;
      const key = `${maker} ${ddr ? "ddr" : "local"}`;
      if (kind === "also" && rails.get(key)?.counted.has(to)) continue;  // one load for all on a line
      if (!rails.has(key)) {
        const name = maker < 0 ? model.data.flows.inputs[-1 - maker].name : model.layers[maker].name;
        rails.set(key, { maker: from, row: maker, name, ddr, readers: new Map(),
          counted: new Set() });
      }
      const { readers, counted } = rails.get(key);
      readers.set(to, (readers.get(to) ?? 0) + moved);
      if (kind === "ddr") counted.add(to);
    }
  }
  return [...rails.values()];
}

/* What rows take of others and give to others, in words for the panel. */
function flowPairs(model, rows) {
  const { flows } = model.data, { inputs, outputs } = flows, own = new Set(rows);
  const found = { takes: [], gives: [] };
  const title = (row, ends) => (row < 0 ? ends[-1 - row].name : model.layers[row].name);
  const ways = [["ddr", "by way of DDR"], ["local", "within local memory"]];
  if (rows.length === 1) ways.splice(1, 0, ["also", "by way of DDR, loaded for others too,"]);
  for (const [kind, way] of ways) {
    for (const [maker, reader, moved] of flows[kind]) {
      if (own.has(maker) === own.has(reader)) continue;
      if (own.has(reader)) found.takes.push(`${bytes(moved)} ${way} of ${title(maker, inputs)}`);
      else found.gives.push(`${bytes(moved)} ${way} to ${title(reader, outputs)}`);
    }
  }
  const list = (lines) => element("div", {}, ...lines.slice(0, 6).map((text) => element("div", { text })),
    ...(lines.length > 6 ? [`and ${lines.length - 6} more`] : []));
  return Object.entries(found).filter(([, lines]) => lines.length)
    .map(([word, lines]) => [word, list(lines)]);
}

/* A column for every rail, the shortest nearest to the lines; how many there are. */
function placeRails(rails) {
  const ends = [];
  for (const rail of rails) {
    const lines = [rail.maker, ...rail.readers.keys()];
    rail.first = Math.min(...lines);
    rail.last = Math.max(...lines);
  }
  rails.sort((a, b) => (a.last - a.first) - (b.last - b.first) || a.first - b.first);
  for (const rail of rails) {
    const free = (taken) => taken.every(([first, last]) => rail.last <= first || last <= rail.first);
    let column = ends.findIndex(free);
    if (column < 0) column = ends.push([]) - 1;
    ends[column].push([rail.first, rail.last]);
    rail.column = column;
  }
  return ends.length;
}

/* For every row, the cycle of its first compute command; of its first command where it has none. */
function firstComputed(model) {
  const began = model.spans.map(([start]) => start), seen = new Set();
  for (const core of model.data.cores) {
    const { layer, start } = model.data.queues[core.tiu];
    layer.forEach((row, i) => {
      began[row] = seen.has(row) ? Math.min(began[row], start[i]) : start[i];
      seen.add(row);
    });
  }
  return began;
}
