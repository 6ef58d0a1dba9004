// What a page does with Leaflet Routing Machine and with MapLibre GL Directions: a route, then another waypoint between
// its ends. Each function returns what the library made of the answers.
const from = [-75.5244, 39.1582];
const via = [-75.54, 39.17];
const to = [-75.5466, 38.7746];

const onLine = (line, point) => line.some((p) => Math.abs(p[0] - point[0]) < 2e-5 && Math.abs(p[1] - point[1]) < 2e-5);

export async function leaflet(api, key, profile) {
  const map = L.map("map", { zoomControl: false, attributionControl: false }).setView([39, -75.5], 9);
  const latLng = ([lng, lat]) => L.latLng(lat, lng);
  const control = L.Routing.control({
    router: L.Routing.osrmv1({ serviceUrl: api, profile, requestParameters: { apiKey: key } }),
    fitSelectedRoutes: false,
  }).addTo(map);
  const found = () =>
    new Promise((resolve, reject) => {
      control.once("routesfound", ({ routes }) => resolve(routes));
      control.once("routingerror", ({ error }) => reject(error.message || error.status));
    });
  const describe = ({ name, summary, coordinates, instructions, waypoints, waypointIndices }) => ({
    name,
    metres: summary.totalDistance,
    seconds: summary.totalTime,
    points: coordinates.length,
    // Steps join up: where one ends, the next one begins.
    joined: instructions.every(({ index }) => index === 0 || coordinates[index].equals(coordinates[index - 1])),
    onLine: waypoints.every(({ latLng: { lng, lat } }) => onLine(coordinates.map((c) => [c.lng, c.lat]), [lng, lat])),
    waypoints: waypointIndices.length,
    texts: instructions.map(({ text }) => text),
    types: instructions.map(({ type }) => type),
  });
  let routes = found();
  control.setWaypoints([latLng(from), latLng(to)]);
  const two = (await routes).map(describe);
  routes = found();
  control.spliceWaypoints(1, 0, latLng(via));
  const three = (await routes).map(describe);
  return { two, three, rows: document.querySelectorAll(".leaflet-routing-alt tr").length };
}

export async function maplibre(api, key, profile, { default: Directions }) {
  const map = new maplibregl.Map({
    container: "map",
    style: { version: 8, sources: {}, layers: [] },
    center: [-75.5, 39],
    zoom: 8,
    attributionControl: false,
  });
  await map.once("load");
  const directions = new Directions(map, {
    api,
    profile,
    bearings: true,
    requestOptions: { alternatives: "true", overview: "full", steps: "true", geometries: "polyline6", apiKey: key },
  });
  let routes;
  directions.on("fetchroutesend", ({ data }) => (routes = data.directions.routes));
  const describe = async () => {
    const { features } = await map.getSource("maplibre-gl-directions").getData();
    const count = (type, route) =>
      features.filter(({ properties: p }) => p.type === type && (route === undefined || p.route === route)).length;
    const selected = features.filter(({ properties: p }) => p.route === "SELECTED").map((f) => f.geometry.coordinates);
    return {
      routes: routes.length,
      snapped: count("SNAPPOINT"),
      selected: selected.length,
      others: count(undefined, "ALT"),
      onLine: features.every((f) => f.properties.type !== "SNAPPOINT" || onLine(selected.flat(), f.geometry.coordinates)),
      seconds: routes[0].duration,
    };
  };
  await directions.setWaypoints([from, to]);
  const two = await describe();
  await directions.addWaypoint(via, 1);
  const three = await describe();
  const end = new Promise((resolve) => directions.on("fetchroutesend", resolve)); // its `once` never calls
  directions.waypointsBearings = [[0, 90], undefined, [180, 90]];
  await end;
  return { two, three, turned: routes[0].duration };
}
