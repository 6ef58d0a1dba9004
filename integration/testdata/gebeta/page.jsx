// A page that uses @gebeta/tiles as its README shows, with the access token of a refresh. The refresh token is in the
// fragment of the page's address.
import { createRef } from "react";
import { createRoot } from "react-dom/client";
import GebetaMap from "@gebeta/tiles";

const api = "https://mapapi.gebeta.app";

async function refresh(path, token) {
  const answer = await fetch(api + path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Device-ID": "a-device" },
    body: JSON.stringify({ refresh_token: token }),
  });
  return answer.status === 200 ? (await answer.json()).data : { status: answer.status };
}

async function run() {
  const first = await refresh("/api/v1/external/auth/refresh", location.hash.slice(1));
  const { accessToken } = await refresh("/api/v1/external/refresh", first.refreshToken);
  const map = createRef();
  await new Promise((resolve) =>
    createRoot(document.getElementById("map")).render(
      <GebetaMap ref={map} apiKey={accessToken} center={[-75.524, 39.158]} zoom={14} onMapLoaded={resolve} />,
    ),
  );
  const instance = map.current.getMapInstance();
  await new Promise((resolve) => (instance.loaded() ? resolve() : instance.once("idle", resolve)));
  const features = {};
  for (const { sourceLayer } of instance.queryRenderedFeatures()) {
    if (sourceLayer) features[sourceLayer] = (features[sourceLayer] ?? 0) + 1;
  }
  map.current.addPath([[-75.524, 39.158], [-75.52, 39.16]], { color: "#ff0000" });
  const place = await fetch(`${api}/v2/search/reverse-geocoding?lat=39.158&lon=-75.524&accessToken=${accessToken}`);
  const wrong = await fetch(`${api}/v2/search/reverse-geocoding?lat=39.158&lon=-75.524&accessToken=${first.refreshToken}`);
  return {
    features,
    places: (await place.json()).data.results.length,
    wrong: wrong.status,
    hint: wrong.headers.get("WWW-Authenticate"),
  };
}

run().then(
  (result) => (window.result = result),
  (error) => (window.result = { failed: String(error) }),
);
