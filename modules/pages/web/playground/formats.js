// Readers of traces, so that they can be shown before they are matched. A point is {lat, lng}, with time (RFC 3339) and
// accuracy (metres) if they are known.

export const maxBytes = 8 << 20;
export const maxPoints = 10000;

const unknown = "This cannot be read as a trace. GPX, GeoJSON, CSV, coordinates (latitude, longitude) and a complete " +
  "encoded polyline can.";

// read reads a trace in any of the formats. precision is that of an encoded polyline. Errors are for the user.
export function read(text, name = "", precision = 6) {
  if (text.length > maxBytes) throw new Error("The file is larger than 8 MiB.");
  const body = text.replace(/^\uFEFF/, "").trim();
  if (!body) throw new Error("There is nothing in it.");
  const points = body.startsWith("<") ? fromGPX(body)
    : /^[[{]/.test(body) && parses(body) ? fromJSON(JSON.parse(body))
      : /\.(geo)?json$/i.test(name) ? fail("This is not JSON.")
        : /^[^\n]*\blat/i.test(body) ? fromCSV(body)
          : /^[^\s,;]{2,}$/.test(body) && !/^[-\d.]+$/.test(body) ? fromPolyline(body, precision) : fromText(body);
  for (const [i, p] of points.entries()) {
    if (!(Math.abs(p.lat) <= 90 && Math.abs(p.lng) <= 180)) {
      throw new Error(`Point ${i + 1} is not a position: latitude ${p.lat}, longitude ${p.lng}.` +
        (Math.abs(p.lng) <= 90 ? " Are they swapped? The latitude comes first." : ""));
    }
  }
  if (points.length < 1) throw new Error("There are no points in it.");
  if (points.length > maxPoints)
    throw new Error(`It has ${points.length} points; ${maxPoints} can be matched at once.`);
  return points;
}

function fail(message) { throw new Error(message); }

function parses(text) {
  try { JSON.parse(text); return true; } catch { return false; }
}

function fromGPX(text) {
  const xml = new DOMParser().parseFromString(text, "application/xml");
  if (xml.getElementsByTagName("parsererror").length) throw new Error("This is not well-formed XML.");
  for (const tag of ["trkpt", "rtept", "wpt"]) {
    const found = xml.getElementsByTagNameNS("*", tag);
    if (found.length) return Array.from(found, (node) => point(node.getAttribute("lat"), node.getAttribute("lon"),
      node.getElementsByTagNameNS("*", "time")[0]?.textContent.trim()));
  }
  throw new Error("There are no points in this GPX file.");
}

function point(lat, lng, time, accuracy) {
  const number = (value) => (typeof value === "number" ? value : value?.toString().trim() ? Number(value) : NaN);
  const p = { lat: number(lat), lng: number(lng) };
  if (time !== undefined && time !== "") p.time = time;
  if (accuracy !== undefined && accuracy !== "") p.accuracy = number(accuracy);
  return p;
}

function fromJSON(value) {
  if (Array.isArray(value)) return value.map((p) => (Array.isArray(p) ? point(p[0], p[1])
    : point(p.lat, p.lng ?? p.lon, p.time, p.accuracy)));
  if (Array.isArray(value.path)) return fromJSON(value.path);
  const features = value.type === "FeatureCollection" ? value.features : [value];
  for (const feature of features) {
    const geometry = feature?.geometry ?? feature;
    if (geometry?.type !== "LineString") continue;
    const times = feature.properties?.coordTimes ?? feature.properties?.coordinateProperties?.times;
    return geometry.coordinates.map((c, i) => point(c[1], c[0], times?.[i]));
  }
  throw new Error("There is no LineString in this GeoJSON.");
}

function fromCSV(text) {
  const [head, ...rows] = text.split(/\r?\n/).filter((line) => line.trim());
  const separator = [",", ";", "\t"].find((s) => head.includes(s)) ?? ",";
  const cells = (line) => line.split(separator).map((c) => c.trim().replace(/^"(.*)"$/, "$1"));
  const names = cells(head).map((n) => n.toLowerCase());
  const at = (...wanted) => names.findIndex((n) => wanted.includes(n));
  const [lat, lng] = [at("lat", "latitude"), at("lng", "lon", "longitude")];
  const [time, accuracy] = [at("time", "timestamp"), at("accuracy")];
  if (lat < 0 || lng < 0) throw new Error("The table's first line must name the columns lat and lng.");
  return rows.map((row) => {
    const c = cells(row);
    return point(c[lat], c[lng], c[time], c[accuracy]);
  });
}

// fromText reads pairs of numbers with any separators: line breaks, braces, brackets.
function fromText(text) {
  if (/[^\d\s,;.+\-eE{}[\]()"]/.test(text)) {
    throw new Error(unknown);
  }
  const numbers = text.match(/[+-]?\d+(\.\d+)?([eE][+-]?\d+)?/g) ?? [];
  if (numbers.length % 2) throw new Error("There is a latitude without a longitude.");
  const points = [];
  for (let i = 0; i < numbers.length; i += 2) points.push(point(numbers[i], numbers[i + 1]));
  return points;
}

function fromPolyline(text, precision) {
  const scale = 10 ** precision;
  const numbers = [0, 0], points = [];
  let at = 0;
  while (at < text.length) {
    for (const k of [0, 1]) {
      let value = 0, factor = 1, byte;
      do {
        byte = text.charCodeAt(at++) - 63;
        if (!(byte >= 0 && byte < 64) || factor > 2 ** 35) throw new Error(unknown);
        value += (byte & 31) * factor;
        factor *= 32;
      } while (byte >= 32);
      numbers[k] += value % 2 ? -(value + 1) / 2 : value / 2;
    }
    points.push({ lat: numbers[0] / scale, lng: numbers[1] / scale });
  }
  return points;
}

// toGPX writes a line of [lat, lng].
export function toGPX(line) {
  const rows = line.map(([lat, lng]) => `<trkpt lat="${lat}" lon="${lng}"/>`).join("\n");
  return `<?xml version="1.0" encoding="UTF-8"?>\n<gpx version="1.1" creator="caddy-maps" ` +
    `xmlns="http://www.topografix.com/GPX/1/1">\n<trk><name>Matched</name>` +
    `<trkseg>\n${rows}\n</trkseg></trk></gpx>\n`;
}

// toGeoJSON writes a matched trace as a Feature.
export function toGeoJSON(answer) {
  const { coordinates, ...properties } = answer;
  const turned = (p) => p && [p[1], p[0]];
  properties.tracepoints = properties.tracepoints?.map((t) => ({ ...t, location: turned(t.location) }));
  const geometry = { type: "LineString", coordinates: coordinates.map(turned) };
  return JSON.stringify({ type: "Feature", geometry, properties });
}
