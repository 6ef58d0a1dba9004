// The search box: positions, and places by their names and addresses if the site has search. It is a combobox: the
// focus stays in the box, and the arrow keys choose from the list below it.
import { byId, el, on, say } from "./shared/dom.js";
import { readPosition } from "./coordinates.js";
import { isInside, kindOf, metres } from "./place.js";

const pause = 150; // milliseconds without typing before a request
const most = 8; // results, and recent searches

const noSearch = "There is no search here: type a latitude and a longitude, such as 39.1573, -75.5197.";

// recentSearches keeps the last places that were chosen in the browser, until they are cleared.
function recentSearches(key) {
  const isPlace = (p) => typeof p?.name === "string" && Number.isFinite(p.location?.lat) && Number.isFinite(p.location?.lng);
  const list = () => {
    try {
      return JSON.parse(localStorage.getItem(key) ?? "[]").filter(isPlace).slice(0, most);
    } catch { // the browser may forbid storage, and the user may write there
      return [];
    }
  };
  const change = (set) => { try { set(); } catch { /* the page works without */ } };
  const same = (a, b) => a.name === b.name && a.location.lat === b.location.lat && a.location.lng === b.location.lng;
  return {
    list,
    add({ id, name, display_name, category, type, location, address }) {
      const place = { id, name, display_name, category, type, location, address };
      const kept = [place, ...list().filter((other) => !same(place, other))].slice(0, most);
      change(() => localStorage.setItem(key, JSON.stringify(kept)));
    },
    clear: () => change(() => localStorage.removeItem(key)),
  };
}

// zoomOf returns the zoom that shows a place in its surroundings.
function zoomOf({ name, category, type, address = {} }) {
  const settlements = { country: 5, state: 7, region: 8, county: 9, city: 12, town: 13, village: 14, suburb: 14 };
  if (category === "place") return settlements[type] ?? (address.house_number ? 17 : 15);
  if (category === "boundary") {
    return name === address.country ? 5 : name === address.state ? 7 : name === address.county ? 9 : 12;
  }
  return category === "highway" ? 16 : /^(natural|landuse|waterway)$/.test(category) ? 14 : 17;
}

// rest is what an address says besides the name.
function rest({ name, display_name: all = "" }) {
  return all.startsWith(name) ? all.slice(name.length).replace(/^[\s,]+/, "") : all;
}

// searchBox connects the box. ask(position) shows what is at a position, show(place, address) a place that was found by
// a request.
export function searchBox(map, session, settings, { ask, show }) {
  const form = byId("ask-form"), box = byId("ask-at"), popup = byId("found-part"), list = byId("found");
  const markers = L.layerGroup().addTo(map), recent = recentSearches("maps.recent." + settings.region);
  let items = [], active = -1, asked = null, timer = 0;

  if (!settings.search) {
    box.placeholder = "Latitude, longitude";
    byId("ask-label").textContent = "Latitude, longitude";
  }

  const position = ({ lat, lng, swapped }) => {
    const text = `${lat.toFixed(5)}, ${lng.toFixed(5)}`;
    return { name: text, label: swapped ? `Did you mean ${text}?` : text, display_name: "latitude, longitude",
      location: { lat, lng } };
  };
  const readBox = () => readPosition(box.value, (at) => isInside(map, at)).map(position);

  function close() {
    popup.hidden = true;
    box.setAttribute("aria-expanded", "false");
    markers.clearLayers();
    setActive(-1);
  }

  // stop ends the request that is under way, or about to begin.
  function stop() {
    clearTimeout(timer);
    asked?.abort();
  }

  function setActive(index) {
    active = index;
    Array.from(list.children, (node, i) => node.setAttribute("aria-selected", String(i === index)));
    for (const marker of markers.getLayers()) marker.getElement()?.classList.toggle("chosen", marker.index === index);
    const node = list.children[index];
    if (node) box.setAttribute("aria-activedescendant", node.id);
    else box.removeAttribute("aria-activedescendant");
    node?.scrollIntoView({ block: "nearest" });
  }

  // open shows places, with numbers in the list and on the map unless they are recent ones, or a message.
  function open(places, { message = "", kind = "", old = false } = {}) {
    items = places;
    const center = map.getCenter();
    list.replaceChildren(...items.map((place, i) => el("div", { class: "option", role: "option", id: "found-" + i,
      onclick: () => choose(place) },
    !old && el("span", { class: "stop", "aria-hidden": "true" }, String(i + 1)),
    el("div", {}, el("bdi", { class: "name" }, place.label ?? (place.name || place.display_name)),
      el("div", { class: "rest", dir: "auto" }, rest(place)),
      el("div", { class: "quiet" }, [kindOf(place), metres(map.distance(center, place.location))].filter(Boolean).join(" · "))))));
    markers.clearLayers();
    if (!old) {
      items.forEach((place, i) => {
        const marker = L.marker(place.location, { keyboard: false, title: place.name, zIndexOffset: -i,
          icon: L.divIcon({ className: "stop found", html: String(i + 1), iconSize: [24, 24] }) });
        marker.index = i;
        marker.on("click", () => choose(place)).addTo(markers);
      });
    }
    list.hidden = !items.length;
    byId("recent-part").hidden = !old;
    say(byId("found-message"), message, kind);
    byId("found-count").textContent = items.length ? `${items.length} ${old ? "recent searches" : "results"}` : "";
    popup.hidden = false;
    box.setAttribute("aria-expanded", String(items.length > 0));
    setActive(-1);
  }

  // choose goes to a place, and keeps it if it is from the list.
  function choose(place) {
    stop();
    if (items.includes(place)) recent.add(place);
    close();
    box.value = place.name || place.display_name;
    if (matchMedia("(pointer: coarse)").matches) box.blur(); // the keyboard covers a phone's page
    const zoom = place.category ? zoomOf(place) : Math.max(map.getZoom(), 15);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) map.setView(place.location, zoom, { animate: false });
    else map.flyTo(place.location, zoom, { duration: .8 });
    if (place.category) show(place, place.found);
    else ask(place.location);
  }

  async function search(autocomplete) {
    stop();
    const { signal } = asked = new AbortController(), { lat, lng } = map.getCenter().wrap();
    const query = new URLSearchParams({ query: box.value.trim(), limit: most, autocomplete,
      proximity: `${lat.toFixed(5)},${lng.toFixed(5)}`, zoom: map.getZoom() });
    const found = `${settings.search}?${query}`;
    let places;
    try {
      places = (await session.json(found, { signal })).data.results;
    } catch (error) {
      const message = error.code === "INSUFFICIENT_SCOPE" ? "The token does not allow search: it lacks the scope GEOCODING."
        : error.status === 404 ? noSearch : error.message;
      if (!signal.aborted) open([], { message, kind: "error" });
      return;
    }
    if (signal.aborted) return;
    for (const place of places) place.found = found;
    open(places, { message: places.length ? "" : "Nothing is found." });
    if (autocomplete || !places.length) return;
    setActive(0);
    if (!places.some(({ location }) => map.getBounds().contains(location))) {
      map.fitBounds(L.latLngBounds(places.map(({ location }) => location)), { padding: [40, 40], maxZoom: 15 });
    }
  }

  function openRecent() {
    const places = recent.list();
    if (places.length) open(places, { old: true });
    else close();
  }

  function typed() {
    stop();
    const text = box.value.trim(), positions = readBox();
    if (!text) openRecent();
    else if (positions.length) open(positions);
    else if (!settings.search) open([], { message: noSearch });
    else if (/^[ -~]$/.test(text)) close(); // one letter says too little, one ideograph does not
    else timer = setTimeout(() => search(true), pause);
  }

  box.addEventListener("input", (event) => { if (!event.isComposing) typed(); });
  box.addEventListener("compositionend", typed);
  box.addEventListener("focus", () => { if (!box.value) openRecent(); });
  box.addEventListener("keydown", (event) => {
    if (event.isComposing) return; // a key for the input method
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && popup.hidden) typed();
    else if (step && items.length) setActive((active + step + items.length + (active < 0 && step < 0)) % items.length);
    else if (event.key === "Escape" && popup.hidden) box.value = "";
    else return;
    event.preventDefault();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const best = items[active] ?? readBox()[0];
    if (best) choose(best);
    else if (!settings.search) {
      stop();
      open([], { message: noSearch, kind: "error" });
    } else if (box.value.trim()) search(false);
    else box.focus();
  });
  list.addEventListener("mousedown", (event) => event.preventDefault()); // the focus stays in the box
  on("recent-clear", "click", () => {
    recent.clear();
    close();
    box.focus();
  });
  // The list stays open while the map is moved.
  form.addEventListener("focusout", ({ relatedTarget: to }) => {
    if (!document.hasFocus() || form.contains(to) || map.getContainer().contains(to)) return;
    stop();
    close();
  });
  map.on("click", () => { stop(); close(); });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.defaultPrevented) { stop(); close(); }
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey ||
      event.target.closest("input:not([type=checkbox]), textarea, select")) return;
    event.preventDefault();
    box.focus();
    box.select();
  });
}
