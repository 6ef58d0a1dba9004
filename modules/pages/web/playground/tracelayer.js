// A trace on the map, drawn on a canvas, so that ten thousand points are as fast as ten.

const colors =
  { raw: "#c0202b", outlier: "#8e3bb0", place: "#12336e", line: "#2f6fce", edge: "#ffffff", mark: "#ffb000" };
const arrowEvery = 90; // pixels
const reach = 12; // pixels from the pointer

export const TraceLayer = L.Layer.extend({
  initialize() {
    this.points = []; // {lat, lng}
    this.match = null; // the response, with details
    this.marked = -1;
    this.stretch = null; // [from, to] of the highlighted part of the line
  },

  onAdd(map) {
    // The pointer's highlights have their own canvas, so that the trace is only drawn when the map moves.
    const pane = map.getPane("overlayPane");
    [this._canvas, this._marks] = [0, 1].map(() => L.DomUtil.create("canvas", "trace-layer", pane));
    map.on("moveend zoomend resize", this.draw, this);
    map.on("zoomstart", this._hide, this);
    this.draw();
  },

  set(points, match = null) {
    Object.assign(this, { points, match, marked: -1, stretch: null });
    this.draw();
  },

  mark(index) {
    if (index === this.marked) return;
    this.marked = index;
    this._drawMarks();
  },

  markStretch(stretch) {
    this.stretch = stretch;
    this._drawMarks();
  },

  // near returns the index of the point nearest to a position in the map's container, or -1.
  near(at) {
    const { x, y } = this._map.containerPointToLayerPoint(at).subtract(this._corner);
    let best = reach * reach, found = -1;
    this._raw.forEach((p, i) => {
      const d = (p.x - x) ** 2 + (p.y - y) ** 2;
      if (d < best) [best, found] = [d, i];
    });
    return found;
  },

  _hide() { this._canvas.style.visibility = this._marks.style.visibility = "hidden"; },

  draw() {
    const map = this._map;
    if (!map) return;
    // The canvases are a third larger than the window, so that their edges do not show when the map moves.
    const size = map.getSize(), padding = size.multiplyBy(1 / 3).round();
    const full = size.add(padding.multiplyBy(2)), ratio = window.devicePixelRatio;
    const corner = this._corner = map.containerPointToLayerPoint(padding.multiplyBy(-1));
    for (const canvas of [this._canvas, this._marks]) {
      L.DomUtil.setPosition(canvas, corner);
      canvas.width = full.x * ratio;
      canvas.height = full.y * ratio;
      canvas.style.width = full.x + "px";
      canvas.style.height = full.y + "px";
      canvas.style.visibility = "";
      const context = canvas.getContext("2d");
      context.scale(ratio, ratio);
      context.lineJoin = context.lineCap = "round";
    }
    const at = (place) => map.latLngToLayerPoint(place).subtract(corner);
    const inside = (p) => p.x > -20 && p.y > -20 && p.x < full.x + 20 && p.y < full.y + 20;
    const context = this._canvas.getContext("2d");
    this._raw = this.points.map(at);
    this._snapped = this.match?.tracepoints.map((t) => (t.location ? at(t.location) : null));
    this._line = (this.match?.coordinates ?? []).map(at);
    stroke(context, this._line, 9, colors.edge);
    stroke(context, this._line, 6, colors.line);
    arrows(context, this._line, inside);
    this._drawPoints(context, inside);
    this._drawMarks();
  },

  _drawPoints(context, inside) {
    const { _raw: raw, _snapped: snapped } = this;
    context.lineWidth = 1;
    context.strokeStyle = colors.raw;
    context.beginPath();
    snapped?.forEach((to, i) => {
      if (!to || !inside(to) && !inside(raw[i])) return;
      context.moveTo(raw[i].x, raw[i].y);
      context.lineTo(to.x, to.y);
    });
    context.stroke();
    snapped?.forEach((to) => { if (to && inside(to)) dot(context, to, 2.5, colors.place); });
    if (!snapped) stroke(context, raw, 1.5, "rgba(192,32,43,.45)");
    raw.forEach((p, i) => {
      if (!inside(p)) return;
      const outlier = snapped && !snapped[i];
      dot(context, p, outlier ? 5 : 4, "rgba(255,255,255,.75)", outlier ? colors.outlier : colors.raw);
    });
  },

  _drawMarks() {
    const context = this._marks.getContext("2d");
    context.clearRect(0, 0, this._marks.width, this._marks.height);
    if (this.stretch) stroke(context, this._line.slice(this.stretch[0], this.stretch[1] + 1), 6, colors.mark);
    if (this.marked < 0) return;
    for (const p of [this._raw[this.marked], this._snapped?.[this.marked]]) {
      if (p) dot(context, p, 7, "rgba(255,176,0,.55)", colors.place);
    }
  },
});

function stroke(context, line, width, color) {
  if (line.length < 2) return;
  context.lineWidth = width;
  context.strokeStyle = color;
  context.beginPath();
  // Points on the same pixel as the one before are left out.
  const least = line.length > 5000 ? 1 : -1;
  let last = null;
  for (const p of line) {
    if (!last) context.moveTo(p.x, p.y);
    else if (Math.abs(p.x - last.x) + Math.abs(p.y - last.y) > least) context.lineTo(p.x, p.y);
    else continue;
    last = p;
  }
  context.stroke();
}

function dot(context, p, radius, fill, edge) {
  context.beginPath();
  context.arc(p.x, p.y, radius, 0, 2 * Math.PI);
  context.fillStyle = fill;
  context.fill();
  if (!edge) return;
  context.lineWidth = 1.8;
  context.strokeStyle = edge;
  context.stroke();
}

// arrows draws the direction of a line at intervals.
export function arrows(context, line, inside = () => true, color = "#ffffff", every = arrowEvery) {
  let next = every / 2;
  context.strokeStyle = color;
  context.lineWidth = 1.8;
  context.beginPath();
  for (let i = 1; i < line.length; i++) {
    const [a, b] = [line[i - 1], line[i]];
    const dx = b.x - a.x, dy = b.y - a.y, length = Math.hypot(dx, dy);
    for (; length > 0 && next <= length; next += every) {
      const x = a.x + dx * next / length, y = a.y + dy * next / length;
      if (!inside({ x, y })) continue;
      const ux = dx / length * 3.5, uy = dy / length * 3.5;
      context.moveTo(x - ux - uy, y - uy + ux);
      context.lineTo(x + ux * .6, y + uy * .6);
      context.lineTo(x - ux + uy, y - uy - ux);
    }
    next -= length;
  }
  context.stroke();
}
