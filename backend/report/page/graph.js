/* The graph of layer groups: who reads what of whom, in the order of the program. A value is a rail
   from the line that makes it to the last that reads it. A group is one line until it is opened. */
const TRANSFERS = new Set(["tpu.Load", "tpu.Store"]);
const LINE = 26, RAIL = 9, MOST_RAILS = 230;

class Graph {
  constructor(model, select, changed) {
    Object.assign(this, { model, select, changed, open: new Set(), chosen: -1 });
    this.began = firstComputed(model);
    this.units = graphUnits(model, this.began);
    const groups = this.units.filter((unit) => unit.kind === "group");
    byId("graph-open").addEventListener("click", () => this.setOpen(groups.map((one) => one.group)));
    byId("graph-close").addEventListener("click", () => this.setOpen([]));
    byId("graph-buttons").hidden = !groups.length;
    this.draw();
  }

  setOpen(groups) {
    this.open = new Set(groups);
    this.draw();
    this.changed();
  }

  toggle(group) {
    this.setOpen(this.open.has(group) ? [...this.open].filter((one) => one !== group)
      : [...this.open, group]);
  }

  /* The lines that are seen now, and on which each row stands. */
  lines() {
    const lines = [], places = new Map();
    for (const unit of this.units) {
      const isOpen = this.open.has(unit.group) && unit.kind === "group";
      unit.rows.forEach((row) => places.set(row, lines.length));
      lines.push({ unit, rows: unit.rows, isOpen });
      if (!isOpen) continue;
      const members = unit.rows.filter((row) => !brings(this.model.layers[row]));
      for (const row of members.sort((a, b) => this.began[a] - this.began[b] || a - b)) {
        places.set(row, lines.length);
        lines.push({ unit, rows: [row], member: true });
      }
    }
    const ends = (key) => new Map(lines.map((line, i) => [-1 - line.unit[key], i]));
    const inputs = ends("input"), outputs = ends("output");
    const lineOf = (row, makes) => (row >= 0 ? places.get(row) : (makes ? inputs : outputs).get(row));
    return { lines, lineOf };
  }

  draw() {
    const { lines, lineOf } = this.lines();
    this.rails = graphRails(this.model, lineOf);
    this.shown = lines;
    const columns = placeRails(this.rails);
    this.step = Math.max(2, Math.min(RAIL, MOST_RAILS / columns));
    this.width = Math.ceil(columns * this.step) + 22;
    const box = byId("graph");
    box.style.setProperty("--rails", `${this.width}px`);
    this.svg = shape("svg", { width: this.width, height: lines.length * LINE });
    this.drawRails();
    box.replaceChildren(this.head(), element("div", { class: "lines" }, this.svg,
      ...lines.map((line, i) => this.line(line, i))));
    byId("graph-count").textContent = this.words();
    this.mark(this.chosen);
  }

  words() {
    const moved = this.model.data.flows.ddr.reduce((sum, [, , one]) => sum + one, 0);
    const kinds = [["group", "group"], ["layer", "layer"]].map(([kind, word]) => {
      const many = this.units.filter((unit) => unit.kind === kind).length;
      return `${many} ${word}${many === 1 ? "" : "s"}`;
    });
    return `${kinds.join(", ")} of no group; ${bytes(moved)} of values read from DDR`;
  }

  drawRails() {
    const edge = this.width - 8, middle = (line) => line * LINE + LINE / 2;
    for (const rail of this.rails) {
      const x = edge - 8 - rail.column * this.step, top = middle(rail.maker) + 3;
      const parts = [`M${edge},${top}H${x}`];
      for (const line of rail.readers.keys()) {
        parts.push(`M${x},${top}V${middle(line) - 3}H${edge - 2}`);
      }
      const path = shape("path", { d: parts.join(""), class: rail.ddr ? "ddr" : "local",
        "stroke-width": (1 + 0.35 * Math.max(0, Math.log2(this.size(rail) / 8192))).toFixed(1) });
      const heads = [...rail.readers.keys()].map((line) =>
        `M${edge - 4},${middle(line) - 6}l5,3l-5,3z`).join("");
      const head = shape("path", { d: heads, class: `head ${rail.ddr ? "ddr" : "local"}` });
      rail.parts = [path, head];
      path.addEventListener("pointermove", (event) => showTooltip(event, this.describe(rail)));
      path.addEventListener("pointerleave", hideTooltip);
      if (rail.row >= 0) path.addEventListener("click", () => this.select({ layer: rail.row }));
      this.svg.append(path, head);
    }
  }

  size(rail) {
    return Math.max(1, ...rail.readers.values());
  }

  describe(rail) {
    const readers = [...rail.readers].slice(0, 6).map(([line, moved]) =>
      [`read by ${this.title(this.shown[line])}`, bytes(moved)]);
    const more = rail.readers.size - readers.length;
    return { title: rail.name, pairs: [["by way of", rail.ddr ? "DDR" : "local memory"],
      ["made by", this.title(this.shown[rail.maker])], ...readers,
      ...(more > 0 ? [["and", `${more} more`]] : [])] };
  }

  title({ unit, rows, member }) {
    if (unit.kind === "group" && !member) return `group ${unit.group}`;
    return unit.tensor ? unit.tensor.name : this.model.layers[rows[0]].name;
  }

  line(line, index) {
    const { unit, rows, member, isOpen } = line, sum = (key) =>
      rows.reduce((total, row) => total + key(this.model.layers[row]), 0);
    const made = element("div", { class: `node ${unit.kind}${member ? " member" : ""}` });
    made.tabIndex = 0;
    made.style.top = `${index * LINE}px`;
    made.append(this.name(line, isOpen));
    if (unit.tensor) made.append(element("span", { class: "ops", text: `${unit.kind}, ` +
      bytes(unit.tensor.bytes) }));
    else {
      const cycles = sum((row) => row.cycles), taken = this.rails
        .reduce((all, rail) => all + (rail.ddr && rail.readers.get(index) || 0), 0);
      made.append(element("span", { class: "ops" }, ...this.ops(rows)));
      const moved = [this.weights(line), taken, sum((row) => row.bytes.store)];
      const figures = [...moved.map((one) => (one ? bytes(one) : "")), count(cycles),
        percent(cycles / Math.max(1, this.model.total))];
      made.append(...figures.map((text) => element("span", { class: "figure", text })));
    }
    made.addEventListener("click", () => this.pick(line));
    made.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target === made) this.pick(line);
    });
    line.node = made;
    return made;
  }

  head() {
    const words = ["", "weights", "values read", "stored", "cycles", "share"];
    return element("div", { class: "node head" }, element("span", { class: "name" }),
      ...words.map((text) => element("span", { class: "figure", text })));
  }

  name(line, isOpen) {
    const text = this.title(line), name = element("span", { class: "name", title: text });
    if (line.unit.kind === "group" && !line.member) {
      const button = element("button", { class: "link", text: isOpen ? "▾" : "▸",
        title: isOpen ? "close the group" : "open the group" });
      button.type = "button";
      button.addEventListener("click", (event) => {
        event.stopPropagation();
        this.toggle(line.unit.group);
      });
      name.append(button);
    }
    name.append(element("span", { class: "end" }, element("bdi", { text })));
    return name;
  }

  /* The kinds of ops of a line, the most expensive first. */
  ops(rows) {
    const cycles = new Map();
    for (const row of rows.map((one) => this.model.layers[one])) {
      if (row.op && !(rows.length > 1 && TRANSFERS.has(row.op))) cycles.set(row.op, (cycles.get(row.op) ?? 0) + row.cycles);
    }
    return [...cycles].sort((a, b) => b[1] - a[1]).map(([op]) => element("span", {},
      element("i", { style: { background: this.model.opColour(op) } }), `${opName(op)} `));
  }

  weights(line) {
    const { data } = this.model, rows = new Set(line.rows);
    return data.flows.weights.reduce((sum, [row, moved]) => sum + (rows.has(row) ? moved : 0), 0);
  }

  pick(line) {
    if (line.unit.tensor) return;
    const layer = line.rows[0];
    this.select({ layer }, line.unit.kind === "group" && !line.member
      ? describeGroup(this.model, line.unit.group) : undefined, line);
  }

  /* The line that a layer stands on, and its rails; within its box it comes into sight. */
  mark(layer, at) {
    this.chosen = layer;
    const holds = (line) => line.rows.includes(layer);
    const inside = this.shown.findIndex((line) => line.member && holds(line));
    const found = at ? this.shown.indexOf(at) : inside >= 0 ? inside : this.shown.findIndex(holds);
    this.shown.forEach((line, i) => line.node.classList.toggle("chosen", i === found));
    byId("graph").classList.toggle("marked", found >= 0);
    for (const rail of this.rails) {
      const on = rail.maker === found || rail.readers.has(found);
      rail.parts.forEach((part) => part.classList.toggle("on", on));
    }
    const box = byId("graph-box"), top = found * LINE;  // below the head, which stays in sight
    if (found < 0) return;
    if (top < box.scrollTop || top + 2 * LINE > box.scrollTop + box.clientHeight) {
      box.scrollTop = top - box.clientHeight / 2;
    }
  }
}
