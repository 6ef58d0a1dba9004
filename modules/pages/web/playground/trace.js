// A trace: its input, its match, and how they are shown.
import { byId, on, el, say, copyButton, download } from "./shared/dom.js";
import { read, toGPX, toGeoJSON, maxBytes } from "./formats.js";
import { TraceLayer } from "./tracelayer.js";
import { windowedList } from "./list.js";
import { metres, outside } from "./place.js";

const clock = (s) => (s < 90 ? `${Math.round(s)} s` : `${Math.floor(s / 60)} min ${Math.round(s % 60)} s`);
const maxWays = 200; // rows of the list of roads

export function tracePart(map, session, settings, curl) {
  const layer = new TraceLayer().addTo(map);
  const message = byId("trace-message"), profile = byId("profile"), radius = byId("radius");
  let points = [], answer = null, asked = null, drawing = false;

  for (const name of settings.profiles) profile.append(el("option", { value: name }, name));

  const list = windowedList(byId("points"), {
    row(i) {
      const p = points[i], t = answer?.tracepoints[i];
      const at = `${p.lat.toFixed(5)}, ${p.lng.toFixed(5)}`;
      if (!t) return { text: `${i + 1}. ${at}` };
      if (!t.matched) return { text: `${i + 1}. outlier · ${at}`, class: "outlier" };
      return { text: `${i + 1}. ${t.name || "unnamed road"} · ${t.distance.toFixed(1)} m · ${at}` };
    },
    chosen: (i) => layer.mark(i),
    opened: (i) => map.setView(points[i], Math.max(map.getZoom(), 17)),
  });
  map.on("mousemove", (event) => {
    if (!points.length) return;
    const i = layer.near(event.containerPoint);
    if (i === layer.marked) return;
    layer.mark(i);
    if (i >= 0) list.select(i);
  });

  // show shows points on the map and in the list, without a match.
  function show(next) {
    asked?.abort();
    [points, answer] = [next, null];
    layer.set(points);
    list.show(points.length);
    byId("points-title").textContent = `Points (${points.length})`;
    byId("points-part").hidden = !points.length;
    byId("result").hidden = true;
    byId("clear").disabled = byId("undo").disabled = !points.length;
    byId("match").disabled = points.length < 2;
    say(message, "");
  }

  function take(text, name, precision) {
    try {
      show(read(text, name, precision));
    } catch (error) {
      say(message, error.message, "error");
      return;
    }
    map.fitBounds(points, { padding: [40, 40], maxZoom: 17 });
    if (points.length > 1) match();
    else say(message, "This is one point. A match needs two or more.");
  }

  async function takeFile(file) {
    if (file.size > maxBytes) say(message, "The file is larger than 8 MiB.", "error");
    else take(await file.text(), file.name);
  }

  function body() {
    const path = points.map(({ time, ...p }) =>
      (time === undefined ? p : { ...p, time: /^-?[\d.]+$/.test(time) ? Number(time) : time }));
    const request = { path, details: true, profile: profile.value };
    if (radius.value) request.radius = Number(radius.value);
    return JSON.stringify(request);
  }

  const address = settings.matching + "/";
  const options = () => ({ method: "POST", headers: { "Content-Type": "application/json" }, body: body() });

  async function match() {
    if (points.length < 2) return;
    asked?.abort();
    const { signal } = asked = new AbortController();
    say(message, "Matching…", "busy");
    try {
      answer = await session.json(address, { ...options(), signal });
    } catch (error) {
      if (error.name === "AbortError") return;
      const far = points.map((p) => outside(map, p, "The trace"));
      say(message, far.every(Boolean) ? far[0] : error.message, "error");
      return;
    }
    layer.set(points, answer);
    list.show(points.length);
    showResult();
  }

  function showResult() {
    const outliers = answer.tracepoints.filter((t) => !t.matched).length;
    const measures = [["Distance", metres(answer.distance)], ["Duration", clock(answer.duration)],
      ["Points", points.length], ["Outliers", outliers]];
    if (answer.confidence !== undefined) measures.push(["Confidence", (answer.confidence * 100).toFixed(1) + " %"]);
    byId("measures").replaceChildren(...measures.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
    byId("ways").replaceChildren(...roads().map(({ name, from, to }) => {
      const length = answer.coordinates.slice(from, to).reduce((sum, c, i) =>
        sum + map.distance(c, answer.coordinates[from + i + 1]), 0);
      const on = () => layer.markStretch([from, to]), off = () => layer.markStretch(null);
      return el("li", {}, el("button", { type: "button", onmouseenter: on, onfocus: on, onmouseleave: off, onblur: off,
        onclick: () => map.fitBounds(answer.coordinates.slice(from, to + 1), { maxZoom: 17 }) },
      el("bdi", {}, name || "unnamed road"), ` ${metres(length)}`));
    }));
    byId("result").hidden = false;
    byId("result").scrollIntoView({ block: "nearest" });
    say(message, `Matched: ${metres(answer.distance)}.`);
  }

  // roads joins consecutive ways of one name.
  function roads() {
    const runs = [];
    for (const way of answer.ways ?? []) {
      const last = runs.at(-1);
      if (last && last.name === way.name && last.to === way.from) last.to = way.to;
      else runs.push({ ...way });
    }
    return runs.slice(0, maxWays);
  }

  function setDrawing(on) {
    drawing = on;
    byId("draw").setAttribute("aria-pressed", on);
    map.getContainer().classList.toggle("drawing", on);
    if (on) say(message, "Click the map, or press Enter on it, for each point. Then match.");
  }

  on("draw", "click", () => setDrawing(!drawing));
  on("undo", "click", () => show(points.slice(0, -1)));
  on("clear", "click", () => show([]));
  on("match", "click", () => { setDrawing(false); match(); });
  profile.addEventListener("change", () => { if (answer) match(); });
  on("paste-form", "submit", (event) => {
    event.preventDefault();
    take(byId("paste").value, "", Number(byId("precision").value));
  });
  on("file", "change", (event) => { if (event.target.files[0]) takeFile(event.target.files[0]); });
  on("get-geojson", "click", () =>
    download("matched.geojson", "application/geo+json", toGeoJSON(answer)));
  on("get-gpx", "click", () =>
    download("matched.gpx", "application/gpx+xml", toGPX(answer.coordinates)));
  byId("get-gpx").after(copyButton("Copy as curl", () => curl(address, options())));

  // A file may be dropped anywhere on the page.
  const drop = byId("drop");
  for (const type of ["dragenter", "dragover"]) {
    addEventListener(type, (event) => { event.preventDefault(); drop.classList.add("over"); });
  }
  addEventListener("dragleave", (event) => { if (!event.relatedTarget) drop.classList.remove("over"); });
  addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    const file = event.dataTransfer.files[0];
    if (file) takeFile(file);
    else if (event.dataTransfer.getData("text")) take(event.dataTransfer.getData("text"));
  });

  for (const sample of settings.samples) {
    const name = sample.replace(/^.*\/|\.gpx$/g, "");
    byId("samples").append(el("button", { type: "button", onclick: async () =>
      take(await (await fetch(sample)).text(), sample) }, "Drive in " + name[0].toUpperCase() + name.slice(1)));
  }

  return {
    // add adds a point while the user draws, and reports whether it did.
    add(at) {
      if (drawing) show([...points, { lat: Number(at.lat.toFixed(6)), lng: Number(at.lng.toFixed(6)) }]);
      return drawing;
    },
    profile,
  };
}
