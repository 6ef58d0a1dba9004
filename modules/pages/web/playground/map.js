// The map, whose tiles are requested with the token in a header, and whose view is kept in the address.
import { ApiError, readJSON } from "./shared/session.js";
import { paper, paintRules, labelRules } from "./style.js";

const retries = [500, 1500, 4000]; // milliseconds between attempts at a tile

// source makes a source of tiles for protomaps-leaflet. failed is called with a permanent error.
function source(session, address, failed) {
  return {
    async getZxy(z, x, y, signal) {
      const at = address.replace("{z}", z).replace("{x}", x).replace("{y}", y);
      for (let attempt = 0; ; attempt++) {
        let answer = null;
        try {
          answer = await session.fetch(at, { signal });
        } catch (error) {
          if (error.name === "AbortError") throw error;
        }
        if (answer?.status === 204) return undefined;
        if (answer?.ok) return { data: await answer.arrayBuffer() };
        const passes = !answer || answer.status === 429 || answer.status >= 500;
        if (passes && attempt < retries.length) {
          await new Promise((done) => setTimeout(done, retries[attempt]));
          signal.throwIfAborted();
          continue;
        }
        const error = answer ? await readJSON(answer).catch((e) => e)
          : new ApiError(0, "The server cannot be reached.");
        failed(error);
        // The error is shown already; an AbortError keeps it out of the browser's console.
        throw new DOMException("no tile", "AbortError");
      }
    },
  };
}

// layer makes a layer of vector tiles that looks the same at every pixel density.
export function layer(session, address, maxZoom, options, failed) {
  return protomapsL.leafletLayer({
    url: source(session, address, failed), maxDataZoom: maxZoom, attribution: "", noWrap: true, ...options,
  });
}

// viewOf reads the view from a fragment: map=zoom/latitude/longitude.
function viewOf(fragment) {
  const text = new URLSearchParams(fragment.replace(/^#/, "")).get("map");
  const parts = (text ?? "").split("/").map(Number);
  if (parts.length !== 3 || !parts.every(Number.isFinite)) return null;
  const [zoom, lat, lng] = parts;
  return zoom >= 0 && zoom <= 20 && Math.abs(lat) <= 90 && Math.abs(lng) <= 180 ? { zoom, center: [lat, lng] } : null;
}

// openMap makes the Leaflet map in an element.
export function openMap(element) {
  const map = L.map(element, { maxZoom: 19, minZoom: 2 });
  map.attributionControl.setPrefix(false);
  L.control.scale().addTo(map);
  map.zoomControl.getContainer().setAttribute("role", "group");
  if (!showView(map)) map.fitWorld(); // until the region is known, and if there is no map of it
  const keep = () => {
    const { lat, lng } = map.getCenter();
    const digits = Math.max(2, Math.ceil(map.getZoom() / 3));
    history.replaceState(history.state, "",
      `#map=${map.getZoom()}/${lat.toFixed(digits)}/${lng.toFixed(digits)}${map.stops ?? ""}`);
  };
  map.on("moveend", keep);
  return map;
}

// showView shows the view in the address, and reports whether there is one.
export function showView(map) {
  const view = viewOf(location.hash);
  if (view) map.setView(view.center, view.zoom);
  return Boolean(view);
}

// showTiles loads the TileJSON of the region and adds the tiles to the map, at the TileJSON's centre unless the address
// has a view. It returns the TileJSON.
export async function showTiles(map, session, settings, failed) {
  const tiles = await session.json(`${settings.tiles}/${settings.region}.json`).catch((error) => {
    if (error.status === 404) error.message = "There is no map here: " + error.message;
    throw error;
  });
  // The page uses its own origin instead of the address in the TileJSON.
  const address = `${settings.tiles}/${settings.region}/{z}/{x}/{y}.mvt`;
  const [west, south, east, north] = tiles.bounds;
  if (!viewOf(location.hash)) map.fitBounds([[south, west], [north, east]], { animate: false });
  const options = { paintRules: paintRules(), labelRules: labelRules(navigator.language), backgroundColor: paper };
  const base = layer(session, address, tiles.maxzoom, options, failed).addTo(map);
  map.attributionControl.addAttribution(plain(tiles.attribution));
  return { tiles, base };
}

// plain escapes a text: Leaflet treats attributions as HTML.
function plain(text) {
  const holder = document.createElement("div");
  holder.textContent = new DOMParser().parseFromString(text ?? "", "text/html").body.textContent;
  return holder.innerHTML;
}
