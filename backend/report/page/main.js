/* Unpack, build, connect. */
async function main() {
  readTheme();
  const model = buildModel(await unpack());
  const state = { selected: null }, parts = { state };
  /* A command, a layer, or nothing. The window and the view of the timeline stay where they are. */
  const select = (what, found, line) => {
    const layer = !what ? -1 : what.which ? model.data.queues[what.which].layer[what.index]
      : what.layer;
    state.selected = what;
    parts.table.choose(layer);
    parts.roofline.mark(layer);
    parts.graph.mark(layer, line);
    parts.timeline.chosen = layer;
    parts.timeline.command = what?.which ? what : null;
    parts.panel.show(what && (found ?? (what.which ? describeCommand(model, what.which, what.index)
      : describeLayer(model, layer))));
    parts.timeline.request();
    parts.link?.save();
  };
  /* From a table or the roofline: the timeline shows the layer. */
  const choose = (layer) => {
    select({ layer });
    parts.timeline.showLayer(layer);
    byId("time").scrollIntoView();
  };
  const follow = (what) => {
    select(what);
    if (what) parts.timeline.reveal(what);
  };
  const search = (words) => {
    byId("filter").value = words;
    byId("filter").dispatchEvent(new Event("input"));
    byId("layer-section").scrollIntoView();
  };
  drawSummary(model);
  drawLegend(model);
  drawTotals(model, search);
  drawOrigin(model);
  parts.panel = new Panel(model, follow);
  parts.timeline = new Timeline(model, select, () => parts.link?.save());
  parts.table = layerTable(model, choose);
  parts.roofline = new Roofline(model, choose);
  parts.graph = new Graph(model, select, () => parts.link?.save());
  drawComparison(model, choose);
  parts.link = new Link(parts);
  byId("filter").addEventListener("input", () => parts.link.save());
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") select(null);
  });
  document.querySelectorAll(".scroll").forEach(showThatItScrolls);
  parts.link.restore(select);
  const repaint = () => {
    readTheme();
    parts.timeline.request();
  };
  byId("theme").addEventListener("click", () => {
    toggleTheme();
    repaint();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  document.documentElement.dataset.ready = "true";
}

main().catch((error) => {
  const failure = byId("failure");
  failure.hidden = false;
  failure.textContent = `This page cannot be shown: ${error.message}. It needs a browser of 2024 or later.`;
  throw error;
});
