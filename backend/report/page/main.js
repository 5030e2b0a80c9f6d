/* Unpack, build, connect. */
async function main() {
  readTheme();
  const model = buildModel(await unpack());
  const parts = {};
  const choose = (layer, move) => {
    parts.table.choose(layer, !move);
    parts.roofline.mark(layer);
    parts.timeline.chosen = layer;
    showDetails(describeLayer(model, layer));
    if (move) {
      parts.timeline.showLayer(layer);
      byId("time").scrollIntoView({ behavior: "smooth" });
    } else parts.timeline.request();
  };
  drawSummary(model);
  drawLegend(model);
  parts.timeline = new Timeline(model, choose);
  parts.table = layerTable(model, choose);
  parts.roofline = new Roofline(model, choose);
  drawComparison(model, choose);
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
