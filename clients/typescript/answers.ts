import assert from "node:assert/strict";
import type { Client } from "openapi-fetch";
import type { paths } from "./maps.js";

// drive is through the middle of Dover, with some metres of error.
export const drive =
  "[{39.15727,-75.52930},{39.15738,-75.52808},{39.15769,-75.52686},{39.15779,-75.52568},{39.15803,-75.52462}]";

export async function places(client: Client<paths>): Promise<void> {
  const params = { query: { lat: 39.1572548, lon: -75.5197123, size: 3, geometry: true, language: "en" } };
  const found = await client.GET("/v2/search/reverse-geocoding", { params });
  assert(found.data);
  const sent = await client.GET("/v2/search/reverse-geocoding", { params, parseAs: "text" });
  const { query, results } = found.data.data;
  assert.equal(query, "39.157255,-75.519712");
  assert.equal(results.length, 3);
  for (const place of results) {
    // The server sent the very digits that are read.
    assert(sent.data?.includes(`"location":{"lat":${place.location.lat},"lng":${place.location.lng}}`), sent.data);
  }
  const coverage = await client.GET("/v2/search/coverage");
  assert.equal(coverage.data?.data.regions[0]?.name, "delaware");
}

export async function traces(client: Client<paths>): Promise<void> {
  const path = "/api/route/matching";
  const plain = await client.GET(path, { params: { query: { path: drive, radius: 10, details: true } } });
  assert(plain.data && "coordinates" in plain.data);
  const [first] = plain.data.coordinates;
  assert(Math.abs((first?.[0] ?? 0) - 39.157) < 0.01, "latitude before longitude");
  assert.equal(plain.data.tracepoints?.length, 5);
  assert(plain.data.ways && plain.data.ways.length > 0);

  const encoded = await client.GET(path, { params: { query: { path: drive, format: "polyline6" } } });
  assert(encoded.data && "polyline" in encoded.data);
  const feature = await client.GET(path, { params: { query: { path: drive, format: "geojson" } } });
  assert(feature.data && "geometry" in feature.data);
  const [start] = feature.data.geometry.coordinates;
  assert(Math.abs((start?.[1] ?? 0) - 39.157) < 0.01, "longitude before latitude");

  const timed = await client.POST(path, {
    body: {
      path: [
        { lat: 39.15727, lng: -75.5293, time: "2026-05-01T10:00:00Z", accuracy: 5 },
        { lat: 39.15738, lng: -75.52808, time: 1777629615.25 },
      ],
      details: true,
    },
  });
  assert(timed.data && "coordinates" in timed.data && (timed.data.duration ?? 0) > 0);
}

export async function tiles(client: Client<paths>): Promise<void> {
  const described = await client.GET("/tiles/{region}.json", { params: { path: { region: "delaware" } } });
  assert.equal(described.data?.tilejson, "3.0.0");
  assert(described.data.vector_layers.some(({ id }) => id === "roads"));
  const tile = await client.GET("/tiles/{region}/{z}/{x}/{y}.mvt", {
    params: { path: { region: "delaware", z: 14, x: 4755, y: 6252 } },
    parseAs: "arrayBuffer",
  });
  assert(tile.data instanceof ArrayBuffer && tile.data.byteLength > 1000);
  const none = await client.GET("/tiles/{region}/{z}/{x}/{y}.mvt", {
    params: { path: { region: "delaware", z: 16, x: 0, y: 0 } },
  });
  assert.deepEqual(none.error, { error: "there is no such tile" });
  const style = await client.GET("/tiles/{region}/style.json", { params: { path: { region: "delaware" } } });
  assert.equal(style.data?.version, 8);
}

// mistakes are answered with errors that have types.
export async function mistakes(client: Client<paths>): Promise<void> {
  const reverse = await client.GET("/v2/search/reverse-geocoding", { params: { query: { lat: 91, lon: 0 } } });
  assert(reverse.error && "code" in reverse.error && reverse.error.code === "FAILED_VALIDATION");
  const short = await client.GET("/api/route/matching", { params: { query: { path: "[{1,2}]" } } });
  assert.equal(short.error?.error.code, "InvalidInput");
  const sea = await client.GET("/api/route/matching", { params: { query: { path: "[{1,2},{1,2.001}]" } } });
  assert.equal(sea.error?.error.code, "NoRoute");
}
