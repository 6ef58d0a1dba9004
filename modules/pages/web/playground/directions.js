// Directions: stops on the map, routes between them, and what can be reached from the first one.
import { byId, on, el, say, copyButton, download } from "./shared/dom.js";
import { readJSON } from "./shared/session.js";
import { readPosition } from "./coordinates.js";
import { isInside, metres, outside } from "./place.js";

const looks = {
  chosen: { color: "#2f6fce", weight: 6, opacity: .9 }, other: { color: "#7d8794", weight: 5, opacity: .7 },
  step: { color: "#ffb000", weight: 7, opacity: .9 }, area: { color: "#12336e", weight: 1, fillOpacity: .15 },
};
const minutes = [15, 10, 5];

const clock = (s) => (s < 3570 ? `${Math.max(1, Math.round(s / 60))} min`
  : `${Math.floor((s + 30) / 3600)} h ${Math.floor((s + 30) % 3600 / 60)} min`);
const text = ({ lat, lng }) => `${Number(lat.toFixed(6))},${Number(lng.toFixed(6))}`;

export function directionsPart(map, session, settings, curl) {
  if (!settings.routing) return { add: () => false, offers: () => [] };
  byId("directions").hidden = false;
  const message = byId("route-message"), profile = byId("route-profile");
  const lines = L.layerGroup().addTo(map), marks = L.layerGroup().addTo(map), areas = L.layerGroup().addTo(map);
  const highlight = L.polyline([], { ...looks.step, interactive: false }).addTo(map);
  let stops = [], routes = [], chosen = 0, asked = null, choosing = false;
  let toOnly = false; // the only stop is where to go

  const read = (value) => readPosition(value, (at) => isInside(map, at))[0];

  for (const name of settings.profiles) profile.append(el("option", { value: name }, name));

  // address is the request for the current stops. Its query is also what the curl line has.
  function address(format) {
    const query = new URLSearchParams({ origin: text(stops[0]), destination: text(stops.at(-1)), profile: profile.value });
    if (stops.length > 2) query.set("waypoints", stops.slice(1, -1).map(text).join(";"));
    else query.set("alternatives", "2");
    const avoid = [...byId("route-avoid").querySelectorAll("input:checked")].map((box) => box.value);
    if (avoid.length) query.set("avoid", avoid.join(","));
    query.set("language", navigator.language);
    if (format) query.set("format", format);
    return `${settings.routing}?${query}`;
  }

  // keep puts the stops into the address of the page.
  function keep() {
    map.stops = stops.length ? `&stops=${stops.map(text).join(";")}&profile=${profile.value}` : "";
    map.fire("moveend");
  }

  function showStops() {
    marks.clearLayers();
    stops.forEach((stop, i) => {
      const name = i === 0 && !toOnly ? "A" : i === stops.length - 1 ? "B" : String(i);
      L.marker(stop, { draggable: true, keyboard: false, autoPan: true, title: `Stop ${name}: drag to move`,
        icon: L.divIcon({ className: "stop", html: name, iconSize: [24, 24] }) })
        .on("dragend", ({ target }) => { stops[i] = target.getLatLng(); changed(); }).addTo(marks);
    });
    byId("stops").replaceChildren(...stops.map((stop, i) => el("li", {},
      el("input", { value: `${stop.lat.toFixed(5)}, ${stop.lng.toFixed(5)}`, "aria-label": `Stop ${i + 1}: latitude, longitude`,
        onchange: ({ target }) => {
          const at = read(target.value);
          if (!at) {
            say(message, "Type a latitude and a longitude, such as 39.1573, -75.5197.", "error");
            return;
          }
          stops[i] = at;
          changed();
        } }),
      el("button", { type: "button", "aria-label": `Move stop ${i + 1} up`, disabled: i === 0,
        onclick: () => { stops.splice(i - 1, 2, stops[i], stops[i - 1]); changed(); } }, "↑"),
      el("button", { type: "button", "aria-label": `Remove stop ${i + 1}`,
        onclick: () => { stops.splice(i, 1); changed(); } }, "×"))));
    byId("route-clear").disabled = !stops.length;
    byId("reach").disabled = !stops.length;
    byId("route-find").disabled = stops.length < 2;
  }

  function forget() {
    asked?.abort();
    [routes, chosen] = [[], 0];
    lines.clearLayers();
    areas.clearLayers();
    highlight.setLatLngs([]);
    byId("routes").hidden = true;
    say(message, "");
  }

  function changed() {
    toOnly &&= stops.length === 1;
    forget();
    showStops();
    keep();
    if (stops.length > 1) find();
  }

  // ask sends a request, and returns null if it failed or another one has begun.
  async function ask(to) {
    asked?.abort();
    const { signal } = asked = new AbortController();
    say(message, "Asking…", "busy");
    try {
      for (;;) {
        const answer = await session.reach(to, { signal });
        const wait = answer.status === 503 && answer.headers.get("Retry-After");
        if (!wait) return await readJSON(answer);
        say(message, "The server is preparing such routes. This takes a while the first time.", "busy");
        await new Promise((done) => setTimeout(done, 1000 * wait));
      }
    } catch (error) {
      if (error.name === "AbortError") return null;
      const far = stops.map((stop, i) => outside(map, stop, `Stop ${i + 1}`)).find(Boolean);
      say(message, far || error.message, "error");
      return null;
    }
  }

  async function find() {
    if (stops.length < 2) return;
    const answer = await ask(address());
    if (!answer) return;
    routes = answer.data.routes;
    choose(0);
    if (!map.getBounds().intersects(L.latLngBounds(routes[0].coordinates))) {
      map.fitBounds(routes[0].coordinates, { padding: [40, 40] });
    }
  }

  function choose(index) {
    chosen = index;
    lines.clearLayers();
    highlight.setLatLngs([]);
    routes.forEach((route, i) => {
      if (i !== chosen) L.polyline(route.coordinates, looks.other).on("click", () => choose(i)).addTo(lines);
    });
    L.polyline(routes[chosen].coordinates, looks.chosen).on("mousedown", drag).addTo(lines);
    byId("route-list").replaceChildren(...routes.map((route, i) => el("button", { type: "button",
      "aria-pressed": String(i === chosen), onclick: () => choose(i) }, `${clock(route.duration)} · ${metres(route.distance)}`,
    route.legs[0].summary && routes.length > 1 ? ` · ${route.legs[0].summary}` : "")));
    const { coordinates, legs } = routes[chosen];
    byId("route-steps").replaceChildren(...legs.flatMap((leg) => leg.steps).map((step) => {
      const part = coordinates.slice(step.from, step.to + 1);
      const show = () => highlight.setLatLngs(part.length > 1 ? part : []), hide = () => highlight.setLatLngs([]);
      return el("li", {}, el("button", { type: "button", onmouseenter: show, onfocus: show, onmouseleave: hide, onblur: hide,
        onclick: () => map.setView(part[0], Math.max(map.getZoom(), 16)) },
      el("bdi", {}, step.instruction), step.distance ? ` ${metres(step.distance)}` : ""));
    }));
    byId("routes").hidden = false;
    say(message, `The route takes ${clock(routes[chosen].duration)}, ${metres(routes[chosen].distance)}.`);
  }

  // drag pulls the line to a new stop.
  function drag(event) {
    L.DomEvent.stop(event);
    const { coordinates, legs } = routes[chosen];
    const near = (at) => coordinates.reduce((best, c, i) => {
      const d = map.distance(c, at);
      return d < best.d ? { d, i } : best;
    }, { d: Infinity, i: 0 }).i;
    const leg = legs.findIndex((l) => near(event.latlng) <= (l.steps.at(-1)?.to ?? Infinity));
    const ghost = L.marker(event.latlng, { interactive: false,
      icon: L.divIcon({ className: "stop", iconSize: [16, 16] }) }).addTo(map);
    const move = ({ latlng }) => ghost.setLatLng(latlng);
    map.dragging.disable();
    map.on("mousemove", move);
    map.once("mouseup", ({ latlng }) => {
      map.off("mousemove", move);
      map.dragging.enable();
      ghost.remove();
      if (map.distance(latlng, event.latlng) === 0) return;
      stops.splice(Math.max(leg, 0) + 1, 0, latlng);
      changed();
    });
  }

  // append adds a stop behind the others, or in front of the destination if there is no other.
  function append(at) {
    if (toOnly) setChoosing(false);
    stops.splice(toOnly ? 0 : stops.length, 0, at);
    changed();
  }

  // from and to set the first and the last stop.
  function from(at) {
    if (stops.length && !toOnly) stops[0] = at;
    else stops.unshift(at);
    changed();
  }

  function to(at) {
    if (stops.length > 1 || toOnly) stops[stops.length - 1] = at;
    else stops.push(at);
    toOnly = stops.length === 1;
    changed();
    if (!toOnly) return;
    setChoosing(true);
    say(message, "Where from? Click the map, press Enter on it, or add a stop.");
  }

  // The menu of the map offers what a position can be.
  map.on("contextmenu", ({ latlng }) => {
    const item = (label, set) => el("button", { type: "button", onclick: () => {
      map.closePopup();
      set(latlng);
    } }, label);
    L.popup().setLatLng(latlng).setContent(el("div", { class: "row", role: "group", "aria-label": "Directions" },
      item("From here", from),
      stops.length > 1 && item("Via here", (at) => { stops.splice(-1, 0, at); changed(); }),
      item("To here", to))).openOn(map);
  });

  async function reach() {
    const query = new URLSearchParams({ origin: text(stops[0]), minutes: minutes.join(","), profile: profile.value });
    const answer = await ask(`${settings.routing.replace(/route$/, "isochrone")}?${query}`);
    if (!answer) return;
    areas.clearLayers();
    const shape = L.geoJSON(answer, { style: looks.area, interactive: false }).addTo(areas);
    map.fitBounds(shape.getBounds(), { padding: [20, 20] });
    say(message, `Reachable in ${[...minutes].reverse().join(", ")} minutes from the first stop.`);
  }

  function setChoosing(on) {
    choosing = on;
    byId("route-choose").setAttribute("aria-pressed", on);
    map.getContainer().classList.toggle("drawing", on);
    if (on) say(message, "Click the map, or press Enter on it, for each stop.");
  }

  async function save(format, name, media) {
    try {
      download(name, media, await (await session.fetch(address(format))).text());
    } catch (error) {
      say(message, error.message, "error");
    }
  }

  on("route-choose", "click", () => setChoosing(!choosing));
  on("route-clear", "click", () => { stops = []; changed(); });
  on("route-form", "submit", (event) => { event.preventDefault(); find(); });
  on("route-add", "change", ({ target }) => {
    const at = read(target.value);
    if (!at) {
      say(message, "Type a latitude and a longitude, such as 39.1573, -75.5197.", "error");
      return;
    }
    target.value = "";
    append(at);
  });
  profile.addEventListener("change", changed);
  on("route-avoid", "change", changed);
  on("reach", "click", reach);
  on("route-geojson", "click", () => save("geojson", "route.geojson", "application/geo+json"));
  on("route-gpx", "click", () => save("gpx", "route.gpx", "application/gpx+xml"));
  byId("route-gpx").after(copyButton("Copy as curl", () => curl(address())));

  // The address of the page may have stops.
  const given = new URLSearchParams(location.hash.replace(/^#/, ""));
  stops = (given.get("stops") ?? "").split(";").map(read).filter(Boolean).slice(0, 25);
  if (settings.profiles.includes(given.get("profile"))) profile.value = given.get("profile");
  showStops();
  map.stops = stops.length ? `&stops=${stops.map(text).join(";")}&profile=${profile.value}` : "";

  return {
    // add adds a stop while the user chooses stops, and reports whether it did.
    add(at) {
      if (choosing) append(at);
      return choosing;
    },
    // offers returns buttons for directions to and from a position.
    offers: (at) => [["Directions to here", to], ["From here", from]].map(([label, set]) =>
      el("button", { type: "button", onclick: () => {
        set(at);
        message.scrollIntoView({ block: "nearest" });
      } }, label)),
    // start finds the route of the stops that the page's address had.
    start() { if (stops.length > 1 && !routes.length) find(); },
  };
}
