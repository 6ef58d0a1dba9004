// A bar chart of usage over time, with a table of the same figures.
import { el } from "./shared/dom.js";
import { add, number } from "./figures.js";

function svg(name, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

// kinds of requests, from the bottom to the top of a bar, with a pattern and colour each.
const kinds = [
  ["passed", (u) => u.requests - u.errors, { fill: "var(--accent)" }],
  ["answered 5xx", (u) => u.errors, { fill: "url(#hatched)", stroke: "var(--bad)" }],
  ["refused by a quota", (u) => u.refused, { fill: "url(#dotted)", stroke: "var(--warn)" }],
];

// legend explains the parts of a bar.
export const legend = () => el("p", { class: "legend quiet" }, ...kinds.map(([words, , look]) => el("span", {},
  svg("svg", { width: 14, height: 14, "aria-hidden": "true" },
    svg("rect", { x: 1, y: 1, width: 12, height: 12, ...look })), " " + words)));

const describe = (usage) => kinds.map(([words, of]) => `${number(of(usage))} ${words}`).join(", ");

// chart draws usage by period: bars of {label, usage}, the oldest first.
export function chart(title, bars) {
  const most = Math.max(...bars.map(({ usage }) => usage.requests + usage.refused));
  const wide = 100 / bars.length;
  // Percentages, so that any width works without stretching the patterns.
  const columns = bars.map(({ label, usage }, n) => {
    let y = 100;
    const parts = kinds.filter(([, of]) => of(usage) > 0).map(([, of, look]) => {
      const height = 100 * of(usage) / most;
      y -= height;
      return svg("rect", {
        x: (n + .12) * wide + "%", width: .76 * wide + "%", y: y + "%", height: height + "%", ...look,
      });
    });
    return svg("g", {}, svg("title", {}, `${label}: ${describe(usage)}`), ...parts);
  });
  const sum = bars.reduce((sum, { usage }) => add(sum, usage), {});
  return el("figure", {}, el("h3", {}, title), el("p", { class: "quiet ends", "aria-hidden": "true" }, number(most)),
    svg("svg", { class: "bars", role: "img", "aria-label": `${title}: ${describe(sum)}` }, ...columns),
    el("p", { class: "quiet ends", "aria-hidden": "true" }, ...[bars[0], bars.at(-1)].map(({ label }) =>
      el("span", {}, label))),
    el("details", {}, el("summary", {}, "The same as a table"), table(title, bars)));
}

const table = (title, bars) => el("table", { class: "plain", "aria-label": title },
  el("thead", {}, el("tr", {}, ...["Time (UTC)", ...kinds.map(([words]) => words), "units"].map((words) =>
    el("th", { scope: "col" }, words)))),
  el("tbody", {}, ...bars.map(({ label, usage }) => el("tr", {}, el("th", { scope: "row" }, label),
    ...[...kinds.map(([, of]) => of(usage)), usage.units].map((value) => el("td", {}, number(value)))))));
