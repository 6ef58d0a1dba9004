// Draws a place with MapLibre and leaves in window.result what came of it.

// render draws the style at a view, [latitude, longitude, zoom], until nothing is left to do.
export async function render(maplibre, style, [lat, lon, zoom]) {
  const errors = [];
  const map = new maplibre.Map({
    container: "map", style, center: [lon, lat], zoom, fadeDuration: 0, attributionControl: false,
    canvasContextAttributes: {preserveDrawingBuffer: true},
  });
  map.on("error", (event) => errors.push(event.error?.message ?? "an error without a message"));
  await new Promise((done) => map.once("idle", done));
  const features = {};
  for (const feature of map.queryRenderedFeatures()) {
    features[feature.sourceLayer] = (features[feature.sourceLayer] ?? 0) + 1;
  }
  window.result = {errors, features, colors: colors(map.getCanvas())};
}

// colors returns how many colours a picture of the canvas has.
function colors(canvas) {
  const copy = document.createElement("canvas");
  [copy.width, copy.height] = [canvas.width, canvas.height];
  const context = copy.getContext("2d");
  context.drawImage(canvas, 0, 0);
  return new Set(new Uint32Array(context.getImageData(0, 0, copy.width, copy.height).data.buffer)).size;
}

// protomaps returns the light style of Protomaps for our tiles, which have no layer `landcover`.
export function protomaps(basemaps) {
  const layers = basemaps.layers("protomaps", basemaps.namedFlavor("light"));
  return {
    version: 8,
    sources: {protomaps: {type: "vector", url: `${location.origin}/tiles/delaware.json`}},
    layers: layers.filter((layer) => layer["source-layer"] !== "landcover"),
  };
}
