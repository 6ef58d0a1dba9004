// The playground: connects its parts, and holds the token.
import { Session, takeTokenFromAddress, readJSON } from "./shared/session.js";
import { byId, curl, el, on, say } from "./shared/dom.js";
import { showPages } from "./shared/pages.js";
import { openMap, showTiles, showView } from "./map.js";
import { placeFinder } from "./place.js";
import { tracePart } from "./trace.js";
import { networkLayer, legend } from "./network.js";

const settings = await (await fetch("settings.json")).json();

// trouble shows an error, and the form for a token if one is missing.
function trouble(error) {
  say(byId("trouble"), error.message, "error");
  if (error.status === 401 || error.status === 403) byId("token-part").open = true;
}

const session = new Session({ changed: showAccess });

// guest gets a token for an anonymous visitor.
async function guest() {
  const { data } = await readJSON(await fetch("token", { method: "POST", credentials: "omit" }));
  return { token: data.accessToken, expiresIn: data.expiresIn };
}

function showAccess() {
  const until = new Date(session.expires).toLocaleTimeString([], { timeStyle: "short" });
  byId("access").replaceChildren(...!session.token ? ["A token is needed."]
    : session.renew ? ["You are an anonymous visitor."]
      : ["Your token", ...(session.claims.org ? [" of the organization ", el("bdi", {}, session.claims.org)] : []),
        ` is valid${session.expires ? " until " + until : ""}.`]);
  if (session.token) say(byId("trouble"), "");
}

// asCurl returns a request as a command line, with the token only if the user wants that.
const asCurl = (address, options) => curl(address, options, byId("with-token").checked ? session.token : "");

showPages();
const map = openMap(byId("map"));
map.createPane("network").style.zIndex = 300; // between the map and the drawings on it
const trace = tracePart(map, session, settings, asCurl);
const ask = placeFinder(map, session, settings, asCurl);

const at = (place) => { if (!trace.add(place)) ask(place); };
map.on("click", (event) => at(event.latlng));
map.getContainer().addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target === map.getContainer()) at(map.getCenter());
});
on("ask-form", "submit", (event) => {
  event.preventDefault();
  const [lat, lng] = byId("ask-at").value.split(/[\s,;]+/).filter(Boolean).map(Number);
  if (!(Math.abs(lat) <= 90 && Math.abs(lng) <= 180)) {
    say(byId("places"), "Type a latitude and a longitude, such as 39.1573, -75.5197.", "error");
    return;
  }
  map.setView([lat, lng], Math.max(map.getZoom(), 15));
  ask({ lat, lng });
});

let network = null;
async function showNetwork() {
  const on = byId("network").checked;
  network?.remove();
  network = null;
  byId("legend").hidden = !on;
  if (!on) return;
  byId("legend").replaceChildren(...legend());
  try {
    network = (await networkLayer(session, settings, trace.profile.value, trouble)).addTo(map);
  } catch (error) {
    trouble(error);
  }
}
on("network", "change", showNetwork);
trace.profile.addEventListener("change", showNetwork);

// start shows the map with the current token. It is called again for each new token.
let shown = null;
async function start() {
  if (!session.token) return;
  try {
    if (shown) {
      shown.base.rerenderTiles();
      return;
    }
    shown = await showTiles(map, session, settings, trouble);
    const [west, south, east, north] = shown.tiles.bounds;
    map.regionBounds = L.latLngBounds([south, west], [north, east]);
  } catch (error) {
    trouble(error);
  }
}

on("token-form", "submit", (event) => {
  event.preventDefault();
  session.use(byId("token").value.trim());
  event.target.reset();
  byId("token-part").open = false;
  start();
});

// The address may get a token while the page is open. The token is read before a view is shown, which rewrites the
// address. It replaces only the token of an anonymous visitor, because anyone may have made the link.
function tokenFromAddress() {
  const token = takeTokenFromAddress();
  if (token && session.token && !session.renew) {
    trouble(new Error("This page has a token already. To use the link's, open the link in a new tab."));
    return false;
  }
  if (token) session.use(token);
  return Boolean(token);
}
addEventListener("hashchange", () => {
  const given = tokenFromAddress();
  showView(map);
  if (given) start();
});

if (!tokenFromAddress() && settings.guest) {
  session.renew = guest;
  await session.refresh().catch(trouble);
}
if (!session.token) {
  showAccess();
  byId("token-part").open = true;
}
await start();
document.documentElement.dataset.ready = "true";
