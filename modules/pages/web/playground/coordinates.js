// Positions as people write them: in any order, in degrees, or with minutes and seconds, or as a geo: URI.

const number = "(\\d+(?:\\.\\d+)?)";
const label = "([NSEW]|lat(?:itude)?|lon(?:g(?:itude)?)?|lng) ?[:=]? ?";
const between = "(?: ?[,;/&] ?| |(?<=[NSEW°'\"]))";

// body matches a sign, degrees, and as many of minutes and seconds as count says.
const body = (count) => `([-+]?) ?${number}` + (count > 1 ? `(?: ?[°:] ?| )${number}` : "()") +
  (count > 2 ? `(?: ?[':] ?| )${number}` : "()") + ` ?${"°'\""[count - 1]}?`;

// The letters are in front of the numbers or behind them. Only with a letter or a degree sign may the two parts have
// different forms: "1 2 3" is no position.
const patterns = (counts) => counts.flatMap(([a, b]) => [
  new RegExp(`^${label}${body(a)}${between}(?:${label})?${body(b)}$`, "i"),
  new RegExp(`^${body(a)} ?([NSEW])?${between}${body(b)} ?([NSEW])?$`, "i"),
]);
const equal = patterns([[1, 1], [2, 2], [3, 3]]);
const mixed = patterns([[1, 2], [2, 1], [1, 3], [3, 1], [2, 3], [3, 2]]);

// degrees returns {value, axis} of the matched parts, axis "" if it is not said, or null if they are no angle.
function degrees(letters = "", sign, d, m, s) {
  const [degree, minute, second] = [d, m, s].map(Number), letter = letters.toLowerCase();
  if (m && (d.includes(".") || minute >= 60) || s && (m.includes(".") || second >= 60)) return null;
  if (sign === "-" && /^[ne]$/.test(letter)) return null;
  const value = degree + minute / 60 + second / 3600;
  const axis = !letter ? "" : /^(n|s|lat)/.test(letter) ? "lat" : "lng";
  return { value: sign === "-" || /^[sw]$/.test(letter) ? -value : value, axis };
}

function match(text) {
  for (const pattern of /[°NSEW]/i.test(text) ? [...equal, ...mixed] : equal) {
    const found = pattern.exec(text)?.slice(1);
    if (!found) continue;
    const inFront = pattern.source.startsWith("^" + label);
    const angles = [found.slice(0, 5), found.slice(5)].map((part) =>
      degrees(...inFront ? part : [part[4], ...part.slice(0, 4)]));
    if (angles.every(Boolean)) return angles;
  }
  return null;
}

// plain writes marks, words and brackets in one way.
function plain(text) {
  return text.replace(/[′’‘´`ʹ]/g, "'").replace(/[″“”˝]|''/g, '"').replace(/[º˚]/g, "°").replace(/[−–—]/g, "-")
    .replace(/\b([nsew])(?:orth|outh|ast|est)\b/gi, "$1").replace(/ *\bdeg(?:rees?)?\b/gi, "°")
    .replace(/ *\bmin(?:utes?)?\b/gi, "'").replace(/ *\bsec(?:onds?)?\b/gi, '"').replace(/\s+/g, " ")
    .replace(/^[ ([{]+|[ )\]}.,;/]+$/g, "");
}

const valid = ({ lat, lng }) => Math.abs(lat) <= 90 && Math.abs(lng) <= 180;

// fromURI reads geo:latitude,longitude. Android adds ?q=latitude,longitude(label).
function fromURI(text) {
  const [, lat, lng, more, query] = /^geo:(-?[\d.]+),(-?[\d.]+)([^?]*)(?:\?(.*))?$/i.exec(text) ?? [];
  if (!lat || /;crs=(?!wgs84(;|$))/i.test(more)) return [];
  const asked = new URLSearchParams(query).get("q");
  if (asked) return readPosition(asked.replace(/\(.*/, "")).filter(({ swapped }) => !swapped);
  return [{ lat: Number(lat), lng: Number(lng), swapped: false }].filter(valid);
}

// readPosition returns the positions {lat, lng, swapped} that a text may mean, the most likely first; none if it is not
// coordinates. swapped is that they are not in the order of the text. inside(position) reports whether a position is
// likely, such as inside a map.
export function readPosition(text, inside = () => false) {
  if (text.length > 120) return [];
  if (/^\s*geo:/i.test(text)) return fromURI(text.trim());
  const line = plain(text);
  // Without a decimal point a comma between digits may be one. In "1,2,3" none is.
  const decimal = /\d\.\d/.test(line) ? line : line.replace(/(\d),(\d)/g, "$1.$2");
  const [a, b] = !/\d,\d/.test(decimal) && match(decimal) || match(line) || [];
  if (!a || a.axis && a.axis === b.axis) return [];
  const written = { lat: a.value, lng: b.value, swapped: false }, other = { lat: b.value, lng: a.value };
  if (a.axis === "lng" || b.axis === "lat") return [{ ...other, swapped: false }].filter(valid);
  if (a.axis || b.axis || a.value === b.value) return [written].filter(valid);
  const both = [written, { ...other, swapped: true }].filter(valid);
  if (both.length < 2 || inside(both[0]) === inside(both[1])) return both;
  return inside(written) ? [written] : both.reverse();
}
