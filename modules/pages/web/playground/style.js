// The style of the map: rules of protomaps-leaflet for the Protomaps basemap schema, version 4.

export const paper = "#dfe2e4"; // where there is no map
const water = "#a9cde6";
const sans = "system-ui, 'DejaVu Sans', sans-serif";

const areas = [
  ["#cfe3bd", "forest wood nature_reserve national_park protected_area scrub orchard"],
  ["#e9edd6", "farmland farmyard"],
  ["#d3e8c5", "park garden golf_course recreation_ground playground dog_park zoo grass meadow"],
  ["#d9e6cf", "cemetery"],
  ["#bfe0cf", "pitch stadium"],
  ["#d5e6e2", "wetland"],
  ["#f3e9c6", "beach sand"],
  ["#efe4de", "school university college kindergarten library townhall"],
  ["#f3dede", "hospital"],
  ["#ebe6ee", "industrial commercial railway military"],
  ["#e8e6ea", "aerodrome runway taxiway"],
  ["#ebe8e2", "pedestrian footway platform bare_rock"],
  ["#f4f9fb", "glacier"],
];

// Roads, the least important first, so that important ones are on top. Widths are pixels by zoom.
const minor = (p) => p.kind === "minor_road", major = (p) => p.kind === "major_road";
const service = (p) => p.kind_detail === "service", small = (p) => /^(sec|ter)/.test(p.kind_detail ?? "tertiary");
const roads = [
  ["#ffffff", "#d8d2c8", [[13, .5], [15, 2], [17, 5], [19, 11]], (p) => minor(p) && service(p)],
  ["#ffffff", "#cfc8bc", [[11, .4], [13, 1.6], [15, 5], [17, 11], [19, 22]], (p) => minor(p) && !service(p)],
  ["#fffbe0", "#cdbf93", [[9, .5], [12, 1.8], [15, 6.5], [17, 13], [19, 24]], (p) => major(p) && small(p)],
  ["#fbe3a4", "#d2ae66", [[6, .5], [9, 1.2], [12, 2.6], [15, 8], [17, 15], [19, 27]], (p) => major(p) && !small(p)],
  ["#f5bf66", "#c58d35", [[3, .5], [7, 1.3], [10, 2.4], [12, 3.6], [15, 9.5], [17, 17], [19, 30]],
    (p) => p.kind === "highway"],
];

const has = (words) => {
  const set = new Set(words.split(" "));
  return (z, f) => set.has(f.props.kind);
};
const width = (stops, more = 0) => {
  const at = protomapsL.exp(1.5, stops);
  return (z, f) => at(z) * (f?.props.is_link ? .65 : 1) + more;
};

export function paintRules() {
  const { PolygonSymbolizer, LineSymbolizer, exp } = protomapsL;
  const fill = (dataLayer, color, filter, more = {}) =>
    ({ dataLayer, filter, symbolizer: new PolygonSymbolizer({ fill: color, ...more }) });
  const line = (dataLayer, filter, symbol, from) =>
    ({ dataLayer, filter, minzoom: from,
      symbolizer: new LineSymbolizer({ lineCap: "round", lineJoin: "round", ...symbol }) });
  const isArea = (z, f) => f.geomType === 3, isLine = (z, f) => f.geomType === 2;
  const stream = exp(1.6, [[9, .6], [14, 1.2], [18, 9]]), river = exp(1.6, [[9, .6], [14, 3], [18, 9]]);
  const runway = exp(1.6, [[10, 1], [14, 8], [18, 60]]), taxiway = exp(1.6, [[11, .5], [14, 2], [18, 20]]);
  const rules = [fill("earth", "#f4f1eb", isArea)];
  for (const [color, kinds] of areas) rules.push(fill("landuse", color, has(kinds)));
  rules.push(
    fill("water", water, isArea),
    line("water", (z, f) => isLine(z, f) && !f.props.tunnel, { color: water, perFeature: true,
      width: (z, f) => (f.props.kind_detail === "stream" ? stream : river)(z) }),
    line("landuse", has("pier"), { color: "#edeae4", width: 3 }, 13),
    line("roads", has("pier"), { color: "#edeae4", width: exp(1.5, [[13, 1], [18, 9]]) }, 13),
    line("roads", has("aeroway"), { color: "#dcd8e2", width: (z, f) =>
      (f.props.kind_detail === "runway" ? runway : taxiway)(z) }),
    { ...fill("buildings", "#ddd6ca", has("building"), { stroke: "#c4bbad", width: (z) => (z > 15 ? .7 : 0) }),
      minzoom: 13 },
    line("boundaries", isLine, { color: "#9b85b0", dash: [6, 4], dashColor: "#9b85b0",
      dashWidth: (z, f) => (f.props.kind === "country" ? 2 : f.props.kind === "region" ? 1.5 : .8), perFeature: true }),
    line("roads", has("ferry"), { dash: [5, 5], color: "#6f97b8", width: 1 }, 9),
    line("roads", has("path"), { dash: [4, 2], color: "#b7a38c", width: exp(1.4, [[13, .6], [18, 2.4]]),
      lineCap: "butt" }, 14));
  const tunnel = (f) => f.props.is_tunnel;
  for (const casing of [true, false]) {
    for (const [color, edge, widths, is] of roads) {
      rules.push(line("roads", (z, f) => is(f.props), { perFeature: true, width: width(widths, casing ? 1.6 : 0),
        color: casing ? (z, f) => (tunnel(f) ? "#ddd6cb" : edge) : (z, f) => (tunnel(f) ? "#f7f3ea" : color),
      }, casing ? Math.max(widths[0][0], is({ kind: "highway" }) ? 9 : 11) : widths[0][0]));
    }
  }
  rules.push(
    line("roads", has("rail"), { color: "#9a968f", width: exp(1.4, [[10, .5], [14, 1.2], [18, 3]]) }, 10),
    line("roads", has("rail"), { dash: [3, 6], color: "#f4f1eb", width: exp(1.4, [[13, .4], [18, 1.8]]),
      lineCap: "butt" }, 13),
    line("roads", has("aerialway"), { color: "#8f8b85", width: 1 }, 12));
  return rules;
}

// shields show the first number of a road in the middle of a stretch, not too often.
function shields() {
  const shield = new protomapsL.ShieldSymbolizer({ labelProps: ["ref"], font: `600 10px ${sans}`, fill: "#262b33",
    background: "#ffffff", padding: 3 });
  return {
    place(layout, lines, f) {
      const text = String(f.props.ref ?? f.props.shield_text).split(";")[0].trim();
      const line = lines.reduce((longest, l) => (l.length > longest.length ? l : longest));
      const placed = shield.place(layout, [[line[line.length >> 1]]], { ...f, props: { ref: text } });
      for (const one of placed ?? []) Object.assign(one, { deduplicationKey: text, deduplicationDistance: 220 });
      return placed;
    },
  };
}

export function labelRules(language) {
  const { CenteredTextSymbolizer, LineLabelSymbolizer, CircleSymbolizer, GroupSymbolizer,
    OffsetTextSymbolizer } = protomapsL;
  const labelProps = ["name:" + language, "name:" + language.split("-")[0], "name"];
  const halo = { stroke: "rgba(255,255,255,.9)", width: 1.6 };
  const shown = (z, f) => !(f.props.min_zoom > z + 1);
  const label = (dataLayer, filter, font, fill, minzoom, more = {}) => ({ dataLayer, minzoom,
    filter: (z, f) => shown(z, f) && filter(z, f),
    symbolizer: new CenteredTextSymbolizer({ labelProps, font: `${font} ${sans}`, fill, ...halo, ...more }),
    sort: (a, b) => (b.population_rank ?? 0) - (a.population_rank ?? 0) || (a.min_zoom ?? 0) - (b.min_zoom ?? 0) });
  const along = (dataLayer, filter, font, fill, minzoom) => ({ dataLayer, filter, minzoom,
    symbolizer: new LineLabelSymbolizer({ labelProps, font: `${font} ${sans}`, fill, ...halo }) });
  const detail = (...details) => (z, f) => details.includes(f.props.kind_detail);
  return [
    label("places", has("country"), "600 15px", "#4a4458", 3),
    { ...label("places", has("region"), "600 13px", "#80748f", 4, { letterSpacing: 1.5 }), maxzoom: 8 },
    label("places", detail("city"), "600 16px", "#262b33", 5),
    label("places", detail("town"), "600 13px", "#30363f", 8),
    label("places", detail("village"), "13px", "#3d434c", 10),
    { dataLayer: "roads", minzoom: 7,
      filter: (z, f) => f.props.shield_text && (f.props.kind === "highway" || f.props.kind === "major_road" && z > 9),
      symbolizer: shields() },
    along("roads", has("highway major_road"), "12px", "#3b3527", 12),
    label("places", has("macrohood neighbourhood"), "12px", "#5a5f68", 12),
    label("places", detail("hamlet", "isolated_dwelling", "locality", "farm", "allotments"), "12px", "#5a5f68", 13),
    label("water", (z, f) => f.geomType === 1, "italic 12px", "#3f6d94", 11),
    along("water", (z, f) => f.geomType === 2, "italic 12px", "#3f6d94", 13),
    along("roads", has("minor_road"), "11px", "#4a453c", 15),
    along("roads", has("path"), "10px", "#6b5d4b", 17),
    { dataLayer: "pois", minzoom: 14, filter: (z, f) => f.props.name && shown(z, f),
      sort: (a, b) => (a.min_zoom ?? 0) - (b.min_zoom ?? 0),
      symbolizer: new GroupSymbolizer([
        new CircleSymbolizer({ radius: 2.5, fill: "#8a6d3b", stroke: "#ffffff", width: 1.2 }),
        new OffsetTextSymbolizer({ labelProps, font: `11px ${sans}`, fill: "#5f4a26", ...halo,
          offsetX: 6, offsetY: 5 }),
      ]) },
  ];
}
