/* The head of the page: totals, how the engines overlap, and the bounds. */
function drawSummary(model) {
  const { report, chip, cores } = model.data, total = Math.max(1, model.total);
  const several = cores.length > 1, engines = total * cores.length;
  byId("subtitle").textContent = `estimated at ${chip.clock_hertz / 1e9} GHz · ` + (several
    ? `${cores.length} cores, ${DDR_WORDS[report.ddr]} · ` : "") +
    `${count(report.bdc.instructions)} compute and ` +
    `${count(report.gdma.instructions)} DMA commands · ${model.layers.length} layers`;
  const moved = Object.values(report.gdma.bytes).reduce((a, b) => a + b, 0);
  const seconds = total / chip.clock_hertz;
  const cards = [
    [count(model.total), `cycles (${report.milliseconds.toFixed(3)} ms)`],
    ...(several ? otherDdr(report, chip) : []),
    [percent(report.bdc.busy_cycles / engines), `compute engine${several ? "s" : ""} busy`],
    [percent(report.gdma.busy_cycles / engines), `DMA engine${several ? "s" : ""} busy`],
    [percent(report.usage.exposed_dma / total), "exposed DMA"],
    ...(report.gap ? [[`${report.gap.ratio.toFixed(2)}×`, "the gap: cycles over the floor of the " +
      "network"]] : []),
    ...(report.on_silicon ? [siliconCard(report.on_silicon)] : []),
    [percent(report.floor.array / total), "of the array's peak"],
    [`${short(2 * report.bdc.macs / seconds)}OP/s`, `${short(report.bdc.macs)} multiply-accumulates`],
    [bytes(moved), `DDR traffic, ${(moved / seconds / 1e9).toFixed(1)} GB/s`],
    [percent(report.local_memory.peak / report.local_memory.bytes_per_lane),
      `local memory at most, ${percent(report.local_memory.mean /
        report.local_memory.bytes_per_lane)} on average`],
  ];
  for (const [figure, words, title] of cards) {
    byId("cards").append(element("div", { class: "card", title }, element("b", { text: figure }),
      element("span", { text: words })));
  }
  drawUsage(total, model);
  drawFloor(report.floor, total, model);
}

const DDR_WORDS = { each: "each with all of the bandwidth of DDR",
  shared: "sharing the bandwidth of DDR" };

/* What the cycles are the other way. */
function otherDdr(report, chip) {
  const shares = report.ddr === "shared", cycles = report[shares ? "ddr_each" : "ddr_shared"];
  return [[count(cycles), `cycles if cores ${shares ? "had all of DDR's rate each" : "share DDR"} ` +
    `(${(cycles / chip.clock_hertz * 1e3).toFixed(3)} ms)`]];
}

/* What published times of programs of its kind lead to expect, or that there are too few. */
function siliconCard(found) {
  if (found.low === null) {
    return ["not known", `on silicon: ${found.rows || "no"} comparable times published of ${found.wanted}`];
  }
  return [`${found.low.toFixed(3)}–${found.high.toFixed(3)} ms`,
    `on silicon (published: ${found.rows} rows of ${found.wanted})`, found.networks.join(", ")];
}

function drawUsage(total, model) {
  const { report } = model.data, { floor } = report;
  (report.cores ?? [report]).forEach(({ usage }, core) => {
    if (report.cores) byId("usage").append(element("h3", { text: `core ${core}` }));
    byId("usage").append(...usageBar(usage, total));
  });
  const bound = floor.dma > floor.compute ? "DMA" : "compute";
  byId("usage").append(element("p", { class: "hint", text: `The run is ${bound}-bound: ` +
    `${count(Math.max(floor.dma, floor.compute))} of ${count(model.total)} cycles are commands of ` +
    `the ${bound === "DMA" ? "DMA" : "compute"} engine.` }));
}

function usageBar(usage, total) {
  const parts = [
    ["both engines", usage.both, "var(--both)"],
    ["DMA alone (exposed DMA)", usage.exposed_dma, "var(--dma)"],
    ["computing alone", usage.exposed_compute, "var(--compute)"],
    ["neither", usage.idle, "var(--idle)"],
  ];
  const stack = element("div", { class: "stack" }), keys = element("div", { class: "keys" });
  for (const [name, cycles, colour] of parts) {
    const width = `${100 * cycles / total}%`;
    stack.append(element("div", { title: `${name}: ${count(cycles)} cycles`,
      style: { width, background: colour } }));
    keys.append(element("i", { style: { background: colour } }), element("span", { text: name }),
      element("span", { class: "number", text: count(cycles) }),
      element("span", { class: "number", text: percent(cycles / total) }));
  }
  return [stack, keys];
}

function drawFloor(floor, total, model) {
  const bars = element("div", { class: "bars" }), several = model.data.cores.length > 1;
  const [most, even] = several ? [", of the core that has most", ", shared out evenly"] : ["", ""];
  const rows = [
    ["this run", model.total, "var(--accent)", "until the last command ends"],
    ["DMA-bound", floor.dma, "var(--dma)", `this program's DMA commands back to back${most}`],
    ["compute-bound", floor.compute, "var(--compute)",
      `this program's compute commands back to back${most}`],
    ["DDR floor", floor.ddr, "var(--even)",
      `weights, inputs and outputs moved once at peak rate${even}`],
    ["array floor", floor.array, "var(--odd)",
      `all multiply-accumulates at the array's peak${even}`],
  ];
  for (const [name, cycles, colour, words] of rows) {
    const bar = element("div", { class: "bar",
      style: { width: `${Math.max(0.3, 100 * cycles / total)}%`, background: colour } });
    bars.append(element("span", { text: name, title: words }),
      element("div", { class: "track", title: words }, bar),
      element("span", { class: "number", text: `${count(cycles)} · ${percent(cycles / total)}` }));
  }
  const best = Math.max(floor.array, floor.ddr);
  const times = best ? `${(model.total / best).toFixed(2)} times the longer of array floor and DDR ` +
    "floor, which no order of this program's commands beats" : "there is no floor of the program";
  const other = model.data.report.gap ? "; the gap is over that of the network, whose bytes move " +
    "at the rate that tensors reach" : "";
  byId("floor").append(bars, element("p", { class: "hint", text: `${times}${other}.` }));
}
