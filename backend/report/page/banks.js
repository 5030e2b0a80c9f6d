/* Banks of local memory by time: who reads and writes them, as one image per frame. */
const READ = [52, 168, 120], WRITE = [232, 132, 40];

class BankTrack {
  constructor(model, core) {
    this.model = model;
    this.core = core;
    this.banks = model.data.chip.banks;
    this.row = model.data.cores.length > 1 ? 5 : 9;
    this.height = this.banks * this.row + 2;
    this.label = "local-memory banks";
    this.covers = [];
    for (let bank = 0; bank < this.banks; bank++) {
      this.covers.push({ reads: this.side("reads", bank), writes: this.side("writes", bank) });
    }
    this.canvas = document.createElement("canvas");
  }

  /* One cover for each engine; the commands of one engine do not overlap. */
  side(key, bank) {
    return [this.core.tiu, this.core.gdma].map((which) => {
      const engine = this.model.data.queues[which], starts = [], cycles = [];
      engine[key].forEach((mask, i) => {
        if (mask >> bank & 1) {
          starts.push(engine.start[i]);
          cycles.push(engine.cycles[i]);
        }
      });
      return new Cover(starts, cycles);
    });
  }

  draw(view, context, top) {
    const width = Math.floor(view.width);
    this.canvas.width = width;
    this.canvas.height = this.banks;
    const painter = this.canvas.getContext("2d"), image = painter.createImageData(width, this.banks);
    for (let bank = 0; bank < this.banks; bank++) this.paint(view, image, bank, width);
    painter.putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(this.canvas, LABEL_WIDTH, top + 1, width, this.banks * this.row);
    context.strokeStyle = themed.grid;
    context.beginPath();
    for (let bank = 4; bank < this.banks; bank += 4) {
      context.moveTo(LABEL_WIDTH, top + 1 + bank * this.row);
      context.lineTo(LABEL_WIDTH + width, top + 1 + bank * this.row);
    }
    context.stroke();
    context.fillStyle = themed.faint;
    for (let bank = 0; bank < this.banks; bank += 4) {
      context.fillText(String(bank), LABEL_WIDTH - 20, top + 1 + (bank + 0.5) * this.row);
    }
  }

  paint(view, image, bank, width) {
    const { reads, writes } = this.covers[bank];
    const sums = [...reads, ...writes].map((cover) => cover.until(view.from));
    for (let x = 0; x < width; x++) {
      const to = view.time(x + 1), cycles = to - view.time(x), share = [0, 0];
      [...reads, ...writes].forEach((cover, i) => {
        const sum = cover.until(to);
        share[i >> 1] += (sum - sums[i]) / cycles;
        sums[i] = sum;
      });
      const read = Math.min(1, share[0]), write = Math.min(1, share[1]), both = read + write;
      if (both <= 0) continue;
      const at = 4 * (bank * width + x);
      for (let c = 0; c < 3; c++) image.data[at + c] = (READ[c] * read + WRITE[c] * write) / both;
      image.data[at + 3] = 60 + 195 * Math.max(read, write);
    }
  }

  hit(time, view, offset) {
    const bank = Math.min(this.banks - 1, Math.floor((offset - 1) / this.row)), pairs = [];
    for (const which of [this.core.tiu, this.core.gdma]) {
      const i = this.model.busy[which].at(time), engine = this.model.data.queues[which];
      if (i < 0) continue;
      const uses = [engine.reads[i] >> bank & 1 ? "reads" : "", engine.writes[i] >> bank & 1 ?
        "writes" : ""].filter(Boolean).join(" and ");
      if (uses) pairs.push([`${engine.engine === "tiu" ? "compute" : "DMA"} ${uses}`,
        element("code", { text: engine.text[i] })]);
    }
    const first = bank * this.model.data.chip.bank_bytes;
    const last = first + this.model.data.chip.bank_bytes - 1;
    pairs.unshift(["bytes of a lane", `0x${first.toString(16)} to 0x${last.toString(16)}`]);
    return { title: `${coreName(this.model, this.core.tiu, ", ")}bank ${bank}`, pairs };
  }
}

function bankWords(reads, writes) {
  const list = (mask) => {
    const found = [];
    for (let bank = 0; mask >> bank; bank++) if (mask >> bank & 1) found.push(bank);
    return found.join(" ");
  };
  return [reads ? `reads ${list(reads)}` : "", writes ? `writes ${list(writes)}` : ""]
    .filter(Boolean).join(", ");
}
