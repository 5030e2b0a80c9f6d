/* The run: columns of commands as they came, and what follows from them. */
async function unpack() {
  const text = byId("data").textContent;
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

/* Commands that follow each other and belong together, as intervals from first to last; those
   whose key is null belong to nothing. */
function runs(engine, key) {
  const found = { starts: [], cycles: [], ids: [] };
  let last = null;
  engine.start.forEach((start, i) => {
    const id = key(i), end = start + engine.cycles[i];
    if (id !== null && id === last) {
      found.cycles[found.cycles.length - 1] = end - found.starts[found.starts.length - 1];
    } else if (id !== null) {
      found.starts.push(start);
      found.cycles.push(engine.cycles[i]);
      found.ids.push(id);
    }
    last = id;
  });
  return { cover: new Cover(found.starts, found.cycles), ids: found.ids };
}

/* From first to last command of every layer, over both engines. */
function layerSpans(data) {
  const spans = data.report.layers.map(() => [Infinity, 0]);
  for (const engine of [data.tiu, data.gdma]) {
    engine.layer.forEach((layer, i) => {
      spans[layer][0] = Math.min(spans[layer][0], engine.start[i]);
      spans[layer][1] = Math.max(spans[layer][1], engine.start[i] + engine.cycles[i]);
    });
  }
  return spans;
}

/* The commands of the critical path in order of time, of both engines. */
function criticalChain(data) {
  const found = ["tiu", "gdma"].flatMap((which) => data.critical[which].map((index) =>
    ({ which, index, start: data[which].start[index], cycles: data[which].cycles[index] })));
  // A transfer of no cycles stands before what starts with it.
  found.sort((a, b) => a.start - b.start || a.cycles - b.cycles);
  return { commands: found, cover: new Cover(found.map((one) => one.start),
    found.map((one) => one.cycles)) };
}

function buildModel(data) {
  const layers = data.report.layers;
  const group = (engine) => runs(engine, (i) => layers[engine.layer[i]].group || null);
  const layer = (engine) => runs(engine, (i) => engine.layer[i]);
  const rates = data.gdma.bytes.map((moved, i) =>
    data.gdma.direction[i] === "local_to_local" ? 0 : moved / data.gdma.cycles[i]);
  const shares = data.tiu.array.map((used, i) => used / data.tiu.cycles[i]);
  const ops = [...new Set([...layers].sort((a, b) => b.cycles - a.cycles).map((row) => row.op))];
  return {
    data, layers, total: data.report.cycles,
    groups: { tiu: group(data.tiu), gdma: group(data.gdma) },
    runs: { tiu: layer(data.tiu), gdma: layer(data.gdma) },
    busy: { tiu: new Cover(data.tiu.start, data.tiu.cycles),
      gdma: new Cover(data.gdma.start, data.gdma.cycles) },
    rate: new Cover(data.gdma.start, data.gdma.cycles, rates),
    array: new Cover(data.tiu.start, data.tiu.cycles, shares),
    local: coverOfSteps(data.local.times, data.local.bytes),
    spans: layerSpans(data),
    critical: { tiu: new Set(data.critical.tiu), gdma: new Set(data.critical.gdma) },
    held: { tiu: new Set(data.tiu.held), gdma: new Set(data.gdma.held) },
    chain: criticalChain(data),
    ops, opColour: (op) => PALETTE[Math.min(Math.max(0, ops.indexOf(op)), PALETTE.length - 1)],
  };
}

const microseconds = (cycles, model) => cycles / model.data.chip.clock_hertz * 1e6;

function time(cycles, model) {
  const us = microseconds(cycles, model);
  return us >= 1000 ? `${(us / 1000).toFixed(3)} ms` : `${us.toFixed(us < 10 ? 3 : 1)} µs`;
}
