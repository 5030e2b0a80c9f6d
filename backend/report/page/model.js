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

/* From first to last command of every layer, over all engines. */
function layerSpans(data) {
  const spans = data.report.layers.map(() => [Infinity, 0]);
  for (const engine of Object.values(data.queues)) {
    engine.layer.forEach((layer, i) => {
      spans[layer][0] = Math.min(spans[layer][0], engine.start[i]);
      spans[layer][1] = Math.max(spans[layer][1], engine.start[i] + engine.cycles[i]);
    });
  }
  return spans;
}

/* The commands of the critical path in order of time, of all engines. */
function criticalChain(data) {
  const found = Object.entries(data.queues).flatMap(([which, queue]) => data.critical[which]
    .map((index) => ({ which, index, start: queue.start[index], cycles: queue.cycles[index] })));
  // A transfer of no cycles stands before what starts with it.
  found.sort((a, b) => a.start - b.start || a.cycles - b.cycles);
  return { commands: found, cover: new Cover(found.map((one) => one.start),
    found.map((one) => one.cycles)) };
}

/* A figure for every queue, by its name. */
const perQueue = (data, figure) => Object.fromEntries(Object.entries(data.queues)
  .map(([which, queue]) => [which, figure(queue, which)]));

/* An amount per cycle; a command that takes none has no rate. */
const perCycle = (amount, cycles) => (cycles ? amount / cycles : 0);

/* Bytes per cycle to and from DDR, of all cores. */
function ddrRate(data) {
  const parts = data.cores.map((core) => {
    const { start, cycles, bytes: moved, direction } = data.queues[core.gdma];
    return { start, cycles, rates: moved.map((one, i) =>
      (direction[i] === "local_to_local" ? 0 : perCycle(one, cycles[i]))) };
  });
  if (parts.length === 1) return new Cover(parts[0].start, parts[0].cycles, parts[0].rates);
  const changes = new Map(), add = (at, by) => changes.set(at, (changes.get(at) ?? 0) + by);
  for (const { start, cycles, rates } of parts) {
    start.forEach((at, i) => {
      if (!cycles[i]) return;
      add(at, rates[i]);
      add(at + cycles[i], -rates[i]);
    });
  }
  const times = [...changes.keys()].sort((a, b) => a - b);
  let sum = 0;
  return coverOfSteps(times, times.map((at) => (sum += changes.get(at))));
}

function buildModel(data) {
  const layers = data.report.layers;
  const group = (engine) => runs(engine, (i) => layers[engine.layer[i]].group || null);
  const layer = (engine) => runs(engine, (i) => engine.layer[i]);
  const used = (queue) => new Cover(queue.start, queue.cycles,
    queue.array.map((one, i) => perCycle(one, queue.cycles[i])));
  const ops = [...new Set([...layers].sort((a, b) => b.cycles - a.cycles).map((row) => row.op))];
  return {
    data, layers, total: data.report.cycles,
    groups: perQueue(data, group),
    runs: perQueue(data, layer),
    busy: perQueue(data, (queue) => new Cover(queue.start, queue.cycles)),
    rate: ddrRate(data),
    array: data.cores.map((core) => used(data.queues[core.tiu])),
    local: data.cores.map((core) => coverOfSteps(core.local.times, core.local.bytes)),
    spans: layerSpans(data),
    critical: perQueue(data, (_, which) => new Set(data.critical[which])),
    behind: perQueue(data, (queue) => new Map(queue.behind.map(([i, ...place]) => [i, place]))),
    awaits: perQueue(data, (queue) => new Map(queue.awaits)),
    chain: criticalChain(data),
    ops, opColour: (op) => PALETTE[Math.min(Math.max(0, ops.indexOf(op)), PALETTE.length - 1)],
  };
}

/* Which core a command is on, in front of what is said of it; nothing where there is one. */
const coreName = (model, which, behind = "") =>
  (model.data.cores.length > 1 ? `core ${model.data.queues[which].core}${behind}` : "");

const microseconds = (cycles, model) => cycles / model.data.chip.clock_hertz * 1e6;

function time(cycles, model) {
  const us = microseconds(cycles, model);
  return us >= 1000 ? `${(us / 1000).toFixed(3)} ms` : `${us.toFixed(us < 10 ? 3 : 1)} µs`;
}
