/* The timeline: zoom and pan over the tracks, tooltip, details. */
const AXIS = 22, GAP = 5;

class Timeline {
  constructor(model, select, moved) {
    this.model = model;
    this.select = select;
    this.moved = moved;
    this.command = null;
    this.canvas = byId("timeline");
    this.overview = byId("overview");
    this.tracks = buildTracks(model);
    this.height = AXIS + this.tracks.reduce((sum, track) => sum + track.height + GAP, 0);
    this.canvas.style.height = `${this.height}px`;
    this.overview.style.height = `${4 + 32 * model.data.cores.length}px`;
    this.from = 0;
    this.to = Math.max(1, model.total);
    this.chosen = -1;
    this.listen();
    this.show(this.from, this.to);
  }

  get width() { return Math.max(1, this.canvas.clientWidth - LABEL_WIDTH - 8); }
  x(time) { return LABEL_WIDTH + (time - this.from) / (this.to - this.from) * this.width; }
  time(x) { return this.from + x / this.width * (this.to - this.from); }

  /* Show a range, kept within the run and at least a few cycles long. */
  show(from, to) {
    const total = Math.max(1, this.model.total);
    const wanted = Math.max(8, to - from);
    // Rounding of a zoom and its opposite leaves no sliver at the ends.
    const length = wanted > total * (1 - 1e-9) ? total : wanted;
    this.from = Math.min(Math.max(0, (from + to - length) / 2), total - length);
    this.to = this.from + length;
    const range = byId("range");
    range.dataset.from = this.from;
    range.dataset.to = this.to;
    range.textContent = `cycles ${count(this.from)} to ${count(this.to)} ` +
      `(${time(this.to - this.from, this.model)})`;
    this.moved();
    this.request();
  }

  zoom(factor, at = (this.from + this.to) / 2) {
    this.show(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }

  pan(share) {
    const shift = share * (this.to - this.from), total = this.model.total;
    const kept = Math.min(Math.max(shift, -this.from), total - this.to);
    this.show(this.from + kept, this.to + kept);
  }

  showLayer(layer) {
    this.chosen = layer;
    const [from, to] = this.model.spans[layer], margin = Math.max(4, 0.1 * (to - from));
    this.show(from - margin, to + margin);
  }

  /* Move as little as it takes to see a command. */
  reveal({ which, index }) {
    const engine = this.model.data.queues[which], from = engine.start[index];
    const to = from + engine.cycles[index];
    if (from >= this.from && to <= this.to) return;
    const length = Math.max(this.to - this.from, 1.2 * (to - from)), at = (from + to) / 2;
    this.show(Math.max(0, at - length / 2), Math.max(0, at - length / 2) + length);
  }

  request() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = null;
      this.draw();
    });
  }

  draw() {
    const context = prepare(this.canvas, this.height);
    drawAxis(this, context);
    let top = AXIS;
    for (const track of this.tracks) {
      context.fillStyle = themed.faint;
      context.fillText(track.label, 8, top + Math.min(track.height, 40) / 2);
      context.save();
      track.draw(this, context, top);
      context.restore();
      top += track.height + GAP;
    }
    if (this.chosen >= 0) this.mark(context);
    drawOverview(this);
  }

  mark(context) {
    const [from, to] = this.model.spans[this.chosen];
    const left = Math.max(LABEL_WIDTH, this.x(from)), right = Math.min(this.x(to),
      LABEL_WIDTH + this.width);
    if (right < left) return;
    context.strokeStyle = themed.accent;
    context.lineWidth = 1.5;
    context.strokeRect(left, AXIS - 2, Math.max(1, right - left), this.height - AXIS);
    if (this.command) this.markCommand(context);
  }

  /* A frame around the command itself, in the row of its engine. */
  markCommand(context) {
    const { which, index } = this.command, engine = this.model.data.queues[which];
    let top = AXIS;
    for (const track of this.tracks) {
      if (track.engine === which) {
        const start = this.x(engine.start[index]);
        const end = this.x(engine.start[index] + engine.cycles[index]);
        const left = Math.max(LABEL_WIDTH, start), right = Math.min(end, LABEL_WIDTH + this.width);
        if (right < left) return;
        context.strokeStyle = themed.text;
        context.lineWidth = 2;
        context.strokeRect(left, top, Math.max(2, right - left), track.height);
      }
      top += track.height + GAP;
    }
  }

  hit(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    if (x < LABEL_WIDTH || x > LABEL_WIDTH + this.width) return null;
    let top = AXIS;
    for (const track of this.tracks) {
      if (y >= top && y < top + track.height) {
        return track.hit(this.time(x - LABEL_WIDTH), this, y - top);
      }
      top += track.height + GAP;
    }
    return null;
  }

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.release(event));
    canvas.addEventListener("pointerleave", hideTooltip);
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("dblclick", (event) => this.zoom(0.25, this.at(event)));
    byId("zoom-in").addEventListener("click", () => this.zoom(0.5));
    byId("zoom-out").addEventListener("click", () => this.zoom(2));
    byId("zoom-all").addEventListener("click", () => this.show(0, this.model.total));
    const move = (event) => {
      if (event.buttons !== 1) return;
      const box = this.overview.getBoundingClientRect();
      const share = (event.clientX - box.left - LABEL_WIDTH) / this.width;
      const at = share * this.model.total, half = (this.to - this.from) / 2;
      this.show(Math.max(0, at - half), Math.max(0, at - half) + 2 * half);
    };
    this.overview.addEventListener("pointerdown", move);
    this.overview.addEventListener("pointermove", move);
    new ResizeObserver(() => this.request()).observe(canvas);
  }

  at(event) {
    return this.time(event.clientX - this.canvas.getBoundingClientRect().left - LABEL_WIDTH);
  }

  wheel(event) {
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan(event.deltaX / this.width);
    else this.zoom(Math.exp(Math.sign(event.deltaY) * Math.min(1, Math.abs(event.deltaY) / 300)),
      this.at(event));
  }

  press(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.drag = { x: event.clientX, from: this.from, to: this.to, range: event.shiftKey,
      start: this.at(event), moved: false };
  }

  move(event) {
    if (!this.drag) {
      showTooltip(event, this.hit(event));
      return;
    }
    const shift = event.clientX - this.drag.x;
    this.drag.moved ||= Math.abs(shift) > 3;
    if (!this.drag.moved || this.drag.range) return;
    hideTooltip();
    const cycles = -shift / this.width * (this.drag.to - this.drag.from);
    const kept = Math.min(Math.max(cycles, -this.drag.from), this.model.total - this.drag.to);
    this.show(this.drag.from + kept, this.drag.to + kept);
  }

  release(event) {
    const drag = this.drag;
    this.drag = null;
    if (!drag) return;
    if (drag.moved && drag.range) {
      const end = this.at(event);
      this.show(Math.min(drag.start, end), Math.max(drag.start, end));
    } else if (!drag.moved) {
      const found = this.hit(event);
      hideTooltip();
      if (found?.which) this.select({ which: found.which, index: found.index }, found);
      else if (found?.layer !== undefined) this.select({ layer: found.layer }, found);
    }
  }

  key(event) {
    const actions = {
      "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2),
      ArrowUp: () => this.zoom(0.5), ArrowDown: () => this.zoom(2),
      ArrowLeft: () => this.pan(-0.2), ArrowRight: () => this.pan(0.2),
      Home: () => this.show(0, this.model.total),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }
}

/* A cleared canvas in the resolution of the screen. */
function prepare(canvas, height) {
  const scale = devicePixelRatio || 1, width = canvas.clientWidth;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.font = '11.5px system-ui, "Segoe UI", "DejaVu Sans", sans-serif';
  context.textBaseline = "middle";
  return context;
}

function drawAxis(view, context) {
  const rough = (view.to - view.from) / Math.max(2, view.width / 130);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((size) => size >= rough);
  context.strokeStyle = themed.grid;
  context.fillStyle = themed.faint;
  context.beginPath();
  for (let at = Math.ceil(view.from / step) * step; at <= view.to; at += step) {
    const x = view.x(at);
    context.moveTo(x, AXIS - 5);
    context.lineTo(x, view.height);
    const label = count(at), end = LABEL_WIDTH + view.width;
    if (x + 4 + context.measureText(label).width <= end) context.fillText(label, x + 4, AXIS / 2);
  }
  context.stroke();
  context.fillText("cycles", 8, AXIS / 2);
}

/* All engines over the whole run, and which part is shown. */
function drawOverview(view) {
  const { model } = view, { cores } = model.data, height = 4 + 32 * cores.length, context = prepare(view.overview, height), total = Math.max(1, view.model.total);
  const whole = { width: view.width, time: (x) => x / view.width * total };
  const rows = cores.flatMap((core, i) => [[model.busy[core.tiu], themed.compute, 3 + 32 * i],
    [model.busy[core.gdma], themed.dma, 19 + 32 * i]]);
  for (const [cover, colour, top] of rows) {
    context.fillStyle = colour;
    for (let x = 0; x < whole.width; x++) {
      const share = cover.mean(whole.time(x), whole.time(x + 1));
      context.fillRect(LABEL_WIDTH + x, top + 14 * (1 - share), 1, 14 * share);
    }
  }
  context.fillStyle = themed.faint;
  cores.forEach((core, i) => {
    context.fillText(`${coreName(model, core.tiu, ": ")}compute busy`, 8, 10 + 32 * i);
    context.fillText(`${coreName(model, core.gdma, ": ")}DMA busy`, 8, 26 + 32 * i);
  });
  context.strokeStyle = themed.accent;
  context.lineWidth = 2;
  const left = LABEL_WIDTH + view.from / total * view.width;
  context.strokeRect(left, 1, Math.max(3, (view.to - view.from) / total * view.width), height - 2);
}

function showTooltip(event, found) {
  const tip = byId("tooltip");
  if (!found) {
    hideTooltip();
    return;
  }
  tip.replaceChildren(element("b", { text: found.title }), definitions(found.pairs));
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const left = event.clientX + 16 + width > innerWidth ? event.clientX - width - 12 : event.clientX + 16;
  const top = event.clientY + 16 + height > innerHeight ? event.clientY - height - 12 : event.clientY + 16;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, top)}px`;
}

function hideTooltip() {
  byId("tooltip").hidden = true;
}

function drawLegend(model) {
  const kinds = new Set(model.data.cores.flatMap((core) => model.data.queues[core.tiu].instruction)
    .map((i) => instructionKind(model.data.instructions[i])));
  const ops = model.ops.filter(Boolean).slice(0, PALETTE.length - 1);
  const lines = [
    ["layers", ops.map((op) => [model.opColour(op), opName(op)])],
    ["compute", INSTRUCTION_WORDS.map((words, kind) => [INSTRUCTION_PALETTE[kind], words])
      .filter((entry, kind) => kinds.has(kind))],
    ["DMA", [["var(--load)", "load"], ["var(--store)", "store"], ["var(--copy)", "DDR to DDR"]]],
    ["critical path", [["var(--compute)", "compute"], ["var(--dma)", "DMA"]]],
    ["banks", [[`rgb(${READ})`, "read"], [`rgb(${WRITE})`, "written"]]],
  ];
  for (const [title, entries] of lines) {
    const line = element("div", {}, element("b", { text: title }));
    for (const [colour, words] of entries) {
      line.append(element("span", {}, element("i", { style: { background: colour } }), words));
    }
    byId("legend").append(line);
  }
}
