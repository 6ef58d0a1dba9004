// The results of reverse geocoding, as a list and on the map.
import { byId, el, say, copyButton } from "./shared/dom.js";

// metres formats a distance.
export const metres = (m) => (m < 1000 ? `${Math.round(m)} m` : `${(m / 1000).toFixed(m < 10000 ? 2 : 1)} km`);

// isInside reports whether a position is known to be inside the map.
export const isInside = (map, { lat, lng }) => Boolean(map.regionBounds?.contains([lat, lng]));

// kindOf names what a place is: its key and value in OpenStreetMap.
export const kindOf = ({ category, type }) => (category ? `${category}: ${type}` : "");

// outside returns what to say of a position outside the map, "" for one inside. what names the position.
export function outside(map, { lat, lng }, what) {
  if (!map.regionBounds || isInside(map, { lat, lng })) return "";
  const swapped = isInside(map, { lat: lng, lng: lat }) ? ` Did you mean ${lng}, ${lat}? The latitude comes first.` : "";
  return what + " lies outside this map." + swapped;
}

// addressOf formats an address as one line.
function addressOf(a = {}) {
  const road = [a.house_number, a.street].filter(Boolean).join(" ");
  return [road, a.suburb ?? a.hamlet, a.city, a.state, a.postcode, a.country].filter(Boolean).join(", ");
}

// placeFinder returns ask, which looks up what is at a position {lat, lng}, and show, which shows one place. offers
// returns buttons for a position.
export function placeFinder(map, session, settings, curl, offers) {
  const box = byId("places"), shapes = L.layerGroup().addTo(map);
  let asked = null;

  function choose(node, place, at) {
    for (const other of box.querySelectorAll(".place")) other.classList.toggle("chosen", other === node);
    shapes.clearLayers();
    L.circleMarker(at, { radius: 6, color: "#ffffff", weight: 2, fillColor: "#1d5fb4", fillOpacity: 1 }).addTo(shapes);
    if (!place) return;
    const look = { color: "#d1495b", weight: 3, fillOpacity: .12 };
    if (place.geometry) {
      L.geoJSON(place.geometry,
        { style: look, pointToLayer: (f, p) => L.circleMarker(p, { ...look, radius: 9 }) }).addTo(shapes);
    } else L.circleMarker(place.location, { ...look, radius: 9 }).addTo(shapes);
  }

  // list shows places, which a request to address has found at or near a position.
  function list(places, at, address) {
    const nodes = places.map((place) => {
      const node = el("div", { class: "place", dir: "auto" },
        el("button", { type: "button", onclick: () => choose(node, place, at) }, place.name || place.display_name),
        el("p", {}, addressOf(place.address)),
        el("p", { class: "quiet" }, [place.away, kindOf(place)].filter(Boolean).join(" · ")));
      return node;
    });
    box.className = "";
    box.replaceChildren(...nodes, el("div", { class: "row" }, ...offers(at),
      address && copyButton("Copy as curl", () => curl(address)),
      el("span", { class: "quiet" }, `${at.lat.toFixed(6)}, ${at.lng.toFixed(6)}`)));
    choose(nodes[0], places[0], at);
    // On a phone the list begins below the map.
    box.scrollIntoView({ block: matchMedia("(max-width: 700px)").matches ? "start" : "nearest" });
  }

  async function ask(at) {
    asked?.abort();
    const { signal } = asked = new AbortController();
    const address = `${settings.geocoding}?lat=${at.lat.toFixed(6)}&lon=${at.lng.toFixed(6)}&size=5&geometry=true`;
    say(box, "Asking…", "busy");
    choose(null, null, at);
    let results;
    try {
      results = (await session.json(address, { signal })).data.results;
    } catch (error) {
      if (error.name !== "AbortError") say(box, error.message, "error");
      return;
    }
    if (!results.length) {
      say(box, outside(map, at, "This place") || "There is nothing known here.");
      return;
    }
    for (const place of results) place.away = metres(place.distance);
    list(results, at, address);
  }

  function show(place, address) {
    asked?.abort();
    list([place], place.location, address);
  }

  return { ask, show };
}
