// The publishable keys of an account, which pages use.
import { copyButton, el } from "./shared/dom.js";
import { check, field, open, problem } from "./forms.js";

const publishable = ["TILE", "GEOCODING", "REVERSEGEOCODING", "DIRECTION"];
const site = new URL("../", location.origin + location.pathname).href;

// showKeys shows the keys of an account. ask makes a request below the account's address.
export async function showKeys(account, ask) {
  const [{ data }, region] = await Promise.all([ask("GET", "/keys"), firstRegion()]);
  const has = publishable.filter((scope) => account.scopes.includes(scope));
  const list = el("ul", { class: "keys" }, ...data.map((key) => item(key, region, ask)));
  open("Publishable keys", [
    el("p", {}, el("bdi", {}, account.description || account.id), ": a key lets web pages use the account without a ",
      "backend. It is no secret, because it works only from the origins that it names."),
    list,
    el("fieldset", {}, el("legend", {}, "New key"),
      field("description", "Description", el("input", { dir: "auto", autocomplete: "off" }), "Which page or site."),
      field("origins", "Web pages, one origin a line", el("textarea", { rows: 2, spellcheck: false }),
        "https://app.example.com, or https://*.example.com for subdomains."),
      el("div", { role: "group", "aria-label": "Scopes" },
        ...has.map((scope) => check("scopes", scope, true, scope)),
        has.length === 0 && el("p", { class: "quiet" }, `The account has none of ${publishable.join(", ")}.`),
        problem("scopes"))),
  ], {
    label: "Create key", close: "Close",
    submit: async (form) => {
      const given = new FormData(form);
      await ask("POST", "/keys", {
        description: given.get("description"), scopes: given.getAll("scopes"),
        origins: given.get("origins").split(/\s+/).filter(Boolean),
      });
      setTimeout(() => showKeys(account, ask)); // after this dialog has closed
    },
  });
}

function item(key, region, ask) {
  const name = key.description || key.id;
  const button = (title, press, kind) =>
    el("button", { type: "button", class: kind, "aria-label": `${title} ${name}`, onclick: press }, title);
  const shown = el("li", { "data-key": key.id },
    el("strong", {}, el("bdi", {}, name)), " ", el("span", { class: "quiet" }, key.scopes.join(" ")),
    el("p", { class: "quiet" }, key.origins.join(" ")), el("code", {}, key.key),
    el("div", { class: "actions" }, copyButton("Copy key", () => key.key),
      key.scopes.includes("TILE") && copyButton("Copy map for MapLibre", () => mapPage(key.key, region)),
      button("Delete", (event) => {
        const again = event.currentTarget.closest("form").querySelector(".buttons button");
        open("Delete key", [el("p", {}, el("bdi", {}, name), ": pages that use this key stop working at once.")], {
          label: "Delete", kind: "danger",
          submit: async () => {
            await ask("DELETE", "/keys/" + key.id);
            shown.remove();
            setTimeout(() => again.focus());
          },
        });
      }, "danger")));
  return shown;
}

// firstRegion returns the name of a region of this server, for the example.
const firstRegion = () => fetch(new URL("healthz", site), { credentials: "omit" })
  .then((answer) => answer.json()).then(({ regions }) => regions[0].name).catch(() => "REGION");

// mapPage returns the part of a page that shows the map.
const mapPage = (key, region) => `<link rel="stylesheet" href="https://unpkg.com/maplibre-gl@5/dist/maplibre-gl.css">
<script src="https://unpkg.com/maplibre-gl@5/dist/maplibre-gl.js"></script>
<div id="map"></div>
<script>
  document.getElementById("map").style.height = "400px";
  new maplibregl.Map({
    container: "map",
    style: "${site}tiles/${encodeURIComponent(region)}/style.json?apiKey=${key}"
  });
</script>
`;
