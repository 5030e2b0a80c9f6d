/* The view as the part of the address behind `#view:`, so that a link or a reload restores it. */
class Link {
  constructor(parts) {
    this.parts = parts;
    this.pending = null;
  }

  /* Soon: a drag changes the view sixty times a second. */
  save() {
    clearTimeout(this.pending);
    this.pending = setTimeout(() => this.write(), 150);
  }

  write() {
    const { timeline, state } = this.parts, words = new URLSearchParams();
    const whole = timeline.from <= 0 && timeline.to >= timeline.model.total;
    if (!whole) words.set("cycles", `${Math.round(timeline.from)}-${Math.round(timeline.to)}`);
    const { selected } = state;
    if (selected?.which) words.set("command", `${selected.which}-${selected.index}`);
    else if (selected) words.set("layer", timeline.model.layers[selected.layer].name);
    const open = [...this.parts.graph.open].sort((a, b) => a - b);
    if (open.length) words.set("groups", open.join("-"));
    if (byId("filter").value) words.set("search", byId("filter").value);
    const text = words.toString();
    try {
      const bare = location.href.split("#")[0];
      history.replaceState(null, "", text ? `#view:${text}` : bare);
    } catch {
      // A page inside another one has no address of its own.
    }
  }

  /* What the address asks for: what it names and this run does not have is left out. */
  restore(select) {
    if (!location.hash.startsWith("#view:")) return;
    const words = new URLSearchParams(location.hash.slice("#view:".length));
    const { timeline } = this.parts, { model } = timeline;
    if (words.has("search")) {
      byId("filter").value = words.get("search");
      byId("filter").dispatchEvent(new Event("input"));
    }
    const { graph } = this.parts, known = new Set(model.layers.map((row) => row.group));
    const open = (words.get("groups") ?? "").split("-").map(Number).filter((one) => one && known.has(one));
    if (open.length) graph.setOpen(open);
    const [which, index] = (words.get("command") ?? "").split("-");
    const layer = model.layers.findIndex((row) => row.name === words.get("layer"));
    if (model.data.queues[which]?.start[Number(index)] !== undefined) {
      select({ which, index: Number(index) });
    } else if (layer >= 0) select({ layer });
    const [from, to] = (words.get("cycles") ?? "").split("-").map(Number);
    if (to > from) timeline.show(from, to);
  }
}
