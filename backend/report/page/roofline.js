/* Operations per cycle over operations per byte, under what array, lanes and DDR allow. */
const SVG = "http://www.w3.org/2000/svg";

function shape(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

class Roofline {
  constructor(model, choose) {
    this.model = model;
    this.choose = choose;
    this.svg = byId("roofline");
    const { chip, report } = model.data, mode = report.quantize;
    this.array = 2 * (chip.array_peak[mode] ?? chip.array_peak.F16);
    this.vector = chip.vector_peak[mode] ?? chip.vector_peak.F16;
    this.points = model.layers.map((row, index) => this.point(row, index))
      .filter((point) => point !== null);
    new ResizeObserver(() => this.draw()).observe(this.svg);
    this.draw();
  }

  point(row, index) {
    const moved = row.bytes.load + row.bytes.store + row.bytes.ddr_to_ddr;
    const cycles = Math.max(row.bdc_cycles, row.gdma_cycles);
    if (!row.operations || !cycles) return null;
    return { row, index, x: moved ? row.operations / moved : Infinity, y: row.operations / cycles };
  }

  draw() {
    const width = this.svg.clientWidth || 900, height = this.svg.clientHeight || 460;
    const box = { left: 70, right: width - 30, top: 20, bottom: height - 44 };
    const finite = this.points.map((point) => point.x).filter(Number.isFinite);
    const knee = this.array / this.model.data.chip.load;
    this.xs = scale([...finite, knee * 4, 0.1], box.left, box.right - 30);
    this.ys = scale([...this.points.map((point) => point.y), this.array * 1.5, 1], box.bottom, box.top);
    this.svg.replaceChildren();
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.drawGrid(box);
    this.drawRoofs(box);
    const parts = [...this.points].sort((a, b) => b.row.cycles - a.row.cycles);
    for (const point of parts) this.drawPoint(point, box);
  }

  drawGrid(box) {
    for (const at of this.xs.ticks) {
      const x = this.xs(at);
      this.svg.append(shape("line", { class: "axis", x1: x, x2: x, y1: box.top, y2: box.bottom }),
        shape("text", { x, y: box.bottom + 16, "text-anchor": "middle" }, short(at)));
    }
    for (const at of this.ys.ticks) {
      const y = this.ys(at);
      this.svg.append(shape("line", { class: "axis", x1: box.left, x2: box.right, y1: y, y2: y }),
        shape("text", { x: box.left - 6, y: y + 4, "text-anchor": "end" }, short(at)));
    }
    this.svg.append(
      shape("text", { x: (box.left + box.right) / 2, y: box.bottom + 36, "text-anchor": "middle" },
        "operations per byte of DDR traffic"),
      shape("text", { x: 16, y: (box.top + box.bottom) / 2, "text-anchor": "middle",
        transform: `rotate(-90 16 ${(box.top + box.bottom) / 2})` }, "operations per cycle"));
  }

  drawRoofs(box) {
    const rate = this.model.data.chip.load, knee = this.array / rate, low = this.xs.low;
    const start = [this.xs(low), this.ys(Math.max(low * rate, this.ys.low))];
    const bend = [this.xs(knee), this.ys(this.array)], flat = this.ys(this.vector);
    const slope = Math.atan2(bend[1] - start[1], bend[0] - start[0]) * 180 / Math.PI;
    const path = `M${start} L${bend} L${box.right},${bend[1]}`;
    this.svg.append(shape("path", { class: "roof", d: path }),
      shape("line", { class: "roof", "stroke-dasharray": "5 4", x1: this.xs(this.vector / rate),
        x2: box.right, y1: flat, y2: flat }),
      shape("text", { x: box.right - 4, y: bend[1] - 12, "text-anchor": "end" },
        `array: ${short(this.array)} operations per cycle`),
      shape("text", { x: box.right - 4, y: flat - 6, "text-anchor": "end" },
        `lanes: ${short(this.vector)} per cycle`),
      shape("text", { x: 40, y: -12, transform: `translate(${start}) rotate(${slope})` },
        `DDR: ${rate} bytes per cycle`));
  }

  drawPoint(point, box) {
    const x = Number.isFinite(point.x) ? this.xs(point.x) : box.right - 8;
    const radius = 3 + 40 * Math.sqrt(point.row.cycles / Math.max(1, this.model.total));
    const circle = shape("circle", { cx: x, cy: this.ys(point.y), r: radius.toFixed(1),
      fill: this.model.opColour(point.row.op), "data-layer": point.index });
    const found = describeLayer(this.model, point.index);
    found.pairs.push(["per byte", Number.isFinite(point.x) ? short(point.x) : "no DDR traffic"]);
    found.pairs.push(["per cycle", `${short(point.y)} operations`]);
    circle.addEventListener("pointermove", (event) => showTooltip(event, found));
    circle.addEventListener("pointerleave", hideTooltip);
    circle.addEventListener("click", () => this.choose(point.index));
    this.svg.append(circle);
  }

  mark(layer) {
    for (const circle of this.svg.querySelectorAll("circle")) {
      circle.classList.toggle("chosen", Number(circle.dataset.layer) === layer);
    }
  }
}

/* A logarithmic scale that holds all values, with its ticks. */
function scale(values, from, to) {
  const low = Math.min(...values), high = Math.max(...values);
  const at = (value) => from + (to - from) * Math.log(value / low) / Math.log(high / low);
  at.low = low;
  at.ticks = [];
  for (let power = Math.ceil(Math.log10(low)); 10 ** power <= high; power++) at.ticks.push(10 ** power);
  return at;
}
