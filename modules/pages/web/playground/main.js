// The playground: connects its parts, and holds the token.
import { Session, takeTokenFromAddress, readJSON } from "./shared/session.js";
import { byId, curl, el, on, say } from "./shared/dom.js";
import { showHeader, showWho } from "./shared/header.js";
import { openMap, showTiles, showView } from "./map.js";
import { placeFinder } from "./place.js";
import { directionsPart } from "./directions.js";
import { searchBox } from "./search.js";
import { tracePart } from "./trace.js";
import { networkLayer, legend } from "./network.js";

const settings = await (await fetch("settings.json")).json();

// trouble shows an error, and the form for a token if one is missing.
function trouble(error) {
  say(byId("trouble"), error.message, "error");
  if (error.status === 401 || error.status === 403) byId("token-part").open = true;
}

// guest gets a token for an anonymous visitor.
async function guest() {
  const { data } = await readJSON(await fetch("token", { method: "POST", credentials: "omit" }));
  return { token: data.accessToken, expiresIn: data.expiresIn };
}

const session = new Session("access", { guest: settings.guest && guest, changed: showAccess });

let last = "";
function showAccess() {
  const { token, claims, expires, isGuest, fellBack, accepted } = session;
  byId("no-token").hidden = Boolean(token);
  byId("access").replaceChildren(...!token ? []
    : isGuest ? [fellBack ? "The token is not valid, or not any more. You are an anonymous visitor now."
      : "You are an anonymous visitor."]
      : !accepted ? ["The token is being checked."]
        : [token.startsWith("mpk_") ? "Your publishable key" : "Your token",
          ...claims.org ? [" of the organization ", el("bdi", {}, claims.org)] : [], " is valid",
          ...expires ? [" until ", new Date(expires).toLocaleTimeString([], { timeStyle: "short" })] : [], "."]);
  if (token && token !== last) say(byId("trouble"), "");
  last = token;
  showWho();
}

// asCurl returns a request as a command line, with the token only if the user wants that.
const asCurl = (address, options) => curl(address, options, byId("with-token").checked ? session.token : "");

showHeader();
const map = openMap(byId("map"));
map.createPane("network").style.zIndex = 300; // between the map and the drawings on it
const trace = tracePart(map, session, settings, asCurl);
const directions = directionsPart(map, session, settings, asCurl);
const { ask, show } = placeFinder(map, session, settings, asCurl, directions.offers);
searchBox(map, session, settings, { ask, show });

const at = (place) => { if (!trace.add(place) && !directions.add(place)) ask(place); };
map.on("click", (event) => at(event.latlng));
map.getContainer().addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target === map.getContainer()) at(map.getCenter());
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
    directions.start?.();
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
  if (!token || token === session.token) return false;
  if (session.token && !session.isGuest) {
    trouble(new Error("This page has a token already. To use the link's, sign out or open it in a new tab."));
    return false;
  }
  session.use(token);
  return true;
}
addEventListener("hashchange", () => {
  const given = tokenFromAddress();
  showView(map);
  if (given) start();
});

session.restore();
if (!tokenFromAddress() && !session.token && settings.guest) await session.refresh().catch(trouble);
if (!session.token) {
  showAccess();
  byId("token-part").open = true;
}
await start();
document.documentElement.dataset.ready = "true";
