/* The rows of the timeline: what each draws, and what lies under the mouse. */
const LABEL_WIDTH = 148;

/* Boxes for intervals; where there are more than pixels, the covered share as height. */
class BoxTrack {
  constructor(label, height, cover, colour, title, describe) {
    Object.assign(this, { label, height, cover, colour, title, describe });
  }

  draw(view, context, top) {
    const [first, last] = this.cover.within(view.from, view.to);
    if (last - first > 2 * view.width) this.drawShares(view, context, top);
    else for (let i = first; i < last; i++) this.drawBox(view, context, top, i);
  }

  drawShares(view, context, top) {
    for (let x = 0; x < view.width; x++) {
      const from = view.time(x), to = view.time(x + 1), share = this.cover.mean(from, to);
      if (share <= 0) continue;
      const [first, last] = this.cover.within(from, to);
      const height = Math.max(1, share * (this.height - 2));
      context.fillStyle = this.colour((first + last - 1) >> 1);
      context.fillRect(LABEL_WIDTH + x, top + this.height - 1 - height, 1, height);
    }
  }

  drawBox(view, context, top, i) {
    const left = Math.max(view.x(this.cover.starts[i]), LABEL_WIDTH);
    const right = Math.min(view.x(this.cover.ends[i]), LABEL_WIDTH + view.width);
    const width = Math.max(right - left, 0.7);
    context.fillStyle = this.colour(i);
    context.fillRect(left, top + 1, width > 3 ? width - 0.6 : width, this.height - 2);
    if (width < 18) return;
    context.fillStyle = "#ffffff";
    context.fillText(fit(context, this.title(i), width - 8), left + 4, top + this.height / 2);
  }

  hit(time) {
    const i = this.cover.at(time);
    return i < 0 ? null : this.describe(i);
  }
}

/* The first of several wordings that is not too wide. A single one may lose its beginning: the end
   of a layer's name says most. */
function fit(context, wordings, width) {
  const fits = (text) => context.measureText(text).width <= width;
  if (Array.isArray(wordings)) return wordings.find(fits) ?? "";
  if (fits(wordings)) return wordings;
  for (let length = Math.min(wordings.length - 1, Math.ceil(width / 3)); length > 2; length--) {
    const text = `…${wordings.slice(-length)}`;
    if (fits(text)) return text;
  }
  return "";
}

/* A figure over time as an area: the mean over every pixel. */
class AreaTrack {
  constructor(label, height, cover, most, colour, words) {
    Object.assign(this, { label, height, cover, most, colour, words });
  }

  draw(view, context, top) {
    const bottom = top + this.height - 1;
    context.fillStyle = this.colour();
    context.beginPath();
    context.moveTo(LABEL_WIDTH, bottom);
    for (let x = 0; x < view.width; x++) {
      const share = Math.min(1, this.cover.mean(view.time(x), view.time(x + 1)) / this.most);
      const y = bottom - share * (this.height - 3);
      context.lineTo(LABEL_WIDTH + x, y);
      context.lineTo(LABEL_WIDTH + x + 1, y);
    }
    context.lineTo(LABEL_WIDTH + view.width, bottom);
    context.fill();
  }

  hit(time, view) {
    const half = (view.to - view.from) / view.width / 2;
    const value = this.cover.mean(time - half, time + half);
    return { title: this.label, pairs: [["value", this.words(value)]] };
  }
}

/* The head of a core's rows: its name, and a line across. */
class HeadTrack {
  constructor(title) {
    Object.assign(this, { title, label: "", height: 18 });
  }

  draw(view, context, top) {
    context.fillStyle = themed.faint;
    context.fillRect(LABEL_WIDTH, top + this.height / 2, view.width, 1);
    context.fillStyle = themed.text;
    context.font = context.font.replace("11.5px", "bold 11.5px");
    context.fillText(this.title, 8, top + this.height / 2);
  }

  hit() {
    return null;
  }
}

/* What an engine does: groups, layers, and the commands themselves. */
function engineTracks(model, which) {
  const { data } = model, queue = data.queues[which];
  const words = queue.engine === "tiu" ? "compute" : "DMA";
  const group = () => new BoxTrack(`groups (${words})`, 18, model.groups[which].cover,
    (i) => (model.groups[which].ids[i] % 2 ? themed.odd : themed.even),
    (i) => [`group ${model.groups[which].ids[i]}`, String(model.groups[which].ids[i])],
    (i) => describeGroup(model, model.groups[which].ids[i]));
  const layer = new BoxTrack(`layers (${words})`, 22, model.runs[which].cover,
    (i) => model.opColour(model.layers[model.runs[which].ids[i]].op),
    (i) => model.layers[model.runs[which].ids[i]].name,
    (i) => describeLayer(model, model.runs[which].ids[i]));
  const commands = queue.engine === "tiu"
    ? new BoxTrack("compute (TIU)", 34, model.busy[which],
      (i) => INSTRUCTION_PALETTE[instructionKind(data.instructions[queue.instruction[i]])],
      (i) => wordings(data.instructions[queue.instruction[i]]),
      (i) => describeCommand(model, which, i))
    : new BoxTrack("DMA (GDMA)", 34, model.busy[which],
      (i) => directionColour(queue.direction[i]),
      (i) => [`${queue.direction[i].replaceAll("_", " ")} ${bytes(queue.bytes[i])}`,
        bytes(queue.bytes[i])],
      (i) => describeCommand(model, which, i));
  Object.assign(commands, { engine: which });
  return [...(model.layers.some((row) => row.group) ? [group()] : []), layer, commands];
}

function buildTracks(model) {
  const { data } = model, { chip, cores } = data, several = cores.length > 1;
  const { commands, cover } = model.chain;
  const computes = (i) => data.queues[commands[i].which].engine === "tiu";
  const chain = new BoxTrack("critical path", 14, cover,
    (i) => (computes(i) ? themed.compute : themed.dma),
    (i) => (computes(i) ? ["compute", "C"] : ["DMA", "D"]),
    (i) => describeCommand(model, commands[i].which, commands[i].index));
  const gigabytes = chip.clock_hertz / 1e9, rate = Math.max(chip.load, chip.store);
  const ddr = new AreaTrack(several ? "DDR of all cores" : "DDR bandwidth", 30, model.rate,
    rate * (data.report.ddr === "each" ? cores.length : 1), () => themed.load,
    (value) => `${(value * gigabytes).toFixed(1)} GB/s`);
  const ofCore = (core, i) => [
    ...(several ? [new HeadTrack(`core ${i}`)] : []),
    ...engineTracks(model, core.tiu),
    new AreaTrack("array utilisation", 30, model.array[i], 1, () => themed.compute, percent),
    ...engineTracks(model, core.gdma), ...(several ? [] : [ddr]),
    new AreaTrack("local memory in use", 34, model.local[i], chip.local_bytes, () => themed.local,
      (value) => `${bytes(Math.round(value))} per lane, ${percent(value / chip.local_bytes)}`),
    new BankTrack(model, core),
  ];
  return [chain, ...(several ? [ddr] : []), ...cores.flatMap(ofCore)];
}

/* Of an instruction: with its form, without. */
const wordings = (name) => [name, name.split(".")[0]];

function describeCommand(model, which, i) {
  const engine = model.data.queues[which], row = model.layers[engine.layer[i]];
  const pairs = [
    ["core", coreName(model, which).replace("core ", "")],
    ["layer", row.name], ["op", row.op], ["group", row.group ? String(row.group) : "none"],
    ["cycles", `${count(engine.cycles[i])}, from ${count(engine.start[i])}`],
  ];
  if (engine.engine === "gdma") {
    const rate = perCycle(engine.bytes[i], engine.cycles[i]) * model.data.chip.clock_hertz / 1e9;
    pairs.push([engine.direction[i].replaceAll("_", " "),
      `${bytes(engine.bytes[i])}, ${rate.toFixed(1)} GB/s`]);
  } else if (engine.array[i]) {
    pairs.push(["array", percent(engine.array[i] / engine.cycles[i])]);
  }
  pairs.push(["banks", bankWords(engine.reads[i], engine.writes[i])]);
  pairs.push(["command", element("code", { text: engine.text[i] })]);
  return { title: model.data.instructions[engine.instruction[i]], pairs, layer: engine.layer[i],
    which, index: i };
}

function describeLayer(model, layer) {
  const row = model.layers[layer], moved = row.bytes.load + row.bytes.store + row.bytes.ddr_to_ddr;
  return { title: row.name, layer, pairs: [
    ["op", row.op], ["group", row.group ? String(row.group) : "none"],
    ["cycles", `${count(row.cycles)} (${percent(row.cycles / model.total)} of the run)`],
    ["compute", `${count(row.bdc_cycles)} cycles`], ["DMA", `${count(row.gdma_cycles)} cycles`],
    ["critical path", `${count(row.critical_cycles)} cycles`],
    ["DDR traffic", bytes(moved)], ...flowPairs(model, [layer]), ["boundary", row.boundary],
  ] };
}

function describeGroup(model, number) {
  const members = model.layers.filter((row) => row.group === number);
  const sum = (key) => members.reduce((total, row) => total + row[key], 0);
  const ends = members.map((row) => row.boundary).filter(Boolean);
  return { title: `group ${number}`, pairs: [
    ["layers", `${members.length}, ${members[0].name} … ${members[members.length - 1].name}`],
    ["cycles", count(sum("cycles"))], ["compute", `${count(sum("bdc_cycles"))} cycles`],
    ["DMA", `${count(sum("gdma_cycles"))} cycles`],
    ...flowPairs(model, members.map((row) => model.layers.indexOf(row))),
    ["boundary", ends[ends.length - 1]],
  ], layer: model.layers.indexOf(members[0]) };
}
