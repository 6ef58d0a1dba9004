// The matcher's road network over the map: speeds, directions and forbidden turns.
import { layer } from "./map.js";
import { arrows } from "./tracelayer.js";
import { el } from "./shared/dom.js";

export const minZoom = 12;
const speeds = [[15, "#7a5195"], [35, "#3f6fb5"], [55, "#2a9d8f"],
  [75, "#8ab83c"], [95, "#f2a541"], [Infinity, "#d1495b"]];
const colorOf = (speed) => speeds.find(([most]) => speed <= most)[1];

const oneWay = {
  draw: (context, lines, z, f) =>
    lines.forEach((line) => arrows(context, line, undefined, "#1d232b", z > 15 ? 70 : 45)),
};
const turn = {
  draw(context, [[p]]) {
    context.fillStyle = "#ffffff";
    context.strokeStyle = "#b3261e";
    context.lineWidth = 2;
    context.beginPath();
    context.arc(p.x, p.y, 5, 0, 2 * Math.PI);
    context.moveTo(p.x - 3.5, p.y - 3.5);
    context.lineTo(p.x + 3.5, p.y + 3.5);
    context.fill();
    context.stroke();
  },
};

// networkLayer makes the layer of a profile's network.
export async function networkLayer(session, settings, profile, failed) {
  const base = `${settings.tiles}/${settings.region}/network/${profile}`;
  const { maxzoom } = await session.json(base + ".json");
  const { LineSymbolizer, exp } = protomapsL;
  // The layer shows tiles at twice their size, and there are none below their minZoom.
  return layer(session, base + "/{z}/{x}/{y}.mvt", Math.min(maxzoom, 15), {
    minZoom: minZoom + 1, pane: "network", labelRules: [], paintRules: [
      { dataLayer: "roads", symbolizer: new LineSymbolizer({ color: (z, f) => colorOf(f.props.speed), perFeature: true,
        width: exp(1.4, [[12, 1.2], [16, 3.5], [19, 6]]), opacity: .85, lineCap: "round" }) },
      { dataLayer: "roads", minzoom: 14, filter: (z, f) => f.props.oneway, symbolizer: oneWay },
      { dataLayer: "turns", minzoom: 15, symbolizer: turn },
    ],
  }, failed);
}

// legend explains the colours and signs.
export function legend() {
  const row = (text, paint) => {
    const canvas = el("canvas", { width: 34, height: 14 });
    canvas.setAttribute("aria-hidden", "true");
    paint(canvas.getContext("2d"));
    return el("div", { class: "legend" }, canvas, text);
  };
  const bar = (color) => (context) => { context.fillStyle = color; context.fillRect(0, 4, 34, 5); };
  const rows = speeds.map(([most, color], i) => row(
    most === Infinity ? `faster than ${speeds[i - 1][0]} km/h` : `up to ${most} km/h`, bar(color)));
  rows.push(
    row("one way", (context) => {
      bar("#bbbbbb")(context);
      arrows(context, [{ x: 0, y: 6.5 }, { x: 34, y: 6.5 }], undefined, "#1d232b", 17);
    }),
    row("forbidden turn", (context) => turn.draw(context, [[{ x: 17, y: 7 }]])),
    el("p", { class: "quiet" }, `Shown from zoom ${minZoom + 1}; arrows from 14, turns from 15.`));
  return rows;
}
