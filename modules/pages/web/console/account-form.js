// The form of an account, with its quotas and restrictions.
import { el } from "./shared/dom.js";
import { check, field, open, problem } from "./forms.js";

const platforms = ["", "WEB", "ANDROID", "IOS", "DESKTOP"];

// editAccount shows the form of an account, and saves the fields that have changed. offered are the scopes of the
// server, {name, purpose}.
export function editAccount(account, offered, save) {
  const before = {
    description: "", platform: "", scopes: [], isAdmin: false, quotas: [],
    restrictions: { origins: [], networks: [] }, ...account,
  };
  const list = (name, label, hint) => field(name, label,
    el("textarea", { rows: 2, spellcheck: false, value: before.restrictions[name].join("\n") }), hint);
  const scopes = new Map(offered.map(({ name, purpose }) => [name, purpose]));
  for (const name of before.scopes) if (!scopes.has(name)) scopes.set(name, "(not in use on this server)");
  open(account ? "Edit account" : "New account", [
    field("description", "Description", el("textarea", { rows: 2, value: before.description, dir: "auto" }),
      "For you and your colleagues: which application, which team. At most 500 characters."),
    field("platform", "Platform", select(platforms, before.platform)),
    el("fieldset", {}, el("legend", {}, "Scopes: what its tokens may be used for"),
      ...[...scopes].map(([scope, text]) =>
        check("scopes", scope, before.scopes.includes(scope), el("strong", {}, scope), " " + text)), problem("scopes")),
    check("isAdmin", "true", before.isAdmin,
      "Administrator: its tokens may manage the accounts of the organization, other administrators excepted"),
    problem("isAdmin"),
    quotaFields(before.quotas, [...scopes.keys()]),
    el("fieldset", {}, el("legend", {}, "Restrictions: from where its tokens may be used"),
      list("origins", "Web pages, one origin a line",
        "Such as https://app.example.com, or https://*.example.com for its subdomains. " +
        "Requests from anything but these pages, also from a backend, are then refused. Empty: no restriction."),
      list("networks", "Networks, one a line",
        "Such as 203.0.113.0/24, or one address. Requests from elsewhere are then refused. Empty: no restriction.")),
  ], {
    label: account ? "Save" : "Create",
    submit: async (form) => {
      const data = new FormData(form);
      const lines = (name) => data.get(name).split(/\s+/).filter(Boolean);
      const fields = {
        description: data.get("description"), platform: data.get("platform"), scopes: data.getAll("scopes"),
        isAdmin: data.has("isAdmin"), quotas: quotasOf(form),
        restrictions: { origins: lines("origins"), networks: lines("networks") },
      };
      const changed = Object.entries(fields).filter(([name, value]) =>
        !account || JSON.stringify(value) !== JSON.stringify(before[name]));
      if (changed.length > 0) await save(Object.fromEntries(changed));
    },
  });
}

const select = (values, chosen, properties = {}) => el("select", properties, ...values.map((value) =>
  el("option", { value, selected: value === chosen }, { "*": "all scopes", "": "not specified" }[value] ?? value)));

// quotaFields makes a row per quota that reads as a sentence: 1000 requests of TILE a day.
function quotaFields(quotas, scopes) {
  const rows = el("div", { class: "quotas" });
  const part = (name, input) => Object.assign(input, { name: "quotas." + name });
  const add = (quota) => rows.append(el("div", { class: "row quota" },
    part("limit", el("input", { type: "number", min: 0, step: 1, value: quota.limit, "aria-label": "Limit" })),
    part("unit", select(["requests", "units"], quota.unit, { "aria-label": "Unit" })), el("span", {}, "of"),
    part("scope", select([...new Set(["*", ...scopes, quota.scope])], quota.scope, { "aria-label": "Scope" })),
    el("span", {}, "a"),
    part("window", select(["minute", "day", "month"], quota.window, { "aria-label": "Window" })),
    el("button", {
      type: "button", "aria-label": "Remove this quota", onclick: (event) => {
        event.currentTarget.closest(".quota").remove();
        more.focus();
      },
    }, "Remove")));
  const more = el("button", {
    type: "button", class: "add-quota", onclick: () => {
      add({ limit: "", unit: "requests", scope: "*", window: "day" });
      rows.lastElementChild.firstElementChild.focus();
    },
  }, "Add a quota");
  quotas.forEach(add);
  return el("fieldset", {}, el("legend", {}, "Quotas: how much may be used"), rows, more,
    el("p", { class: "quiet" },
      "By the calendar in UTC. A unit is a point of a trace in map matching, else a request."),
    problem("quotas"));
}

// quotasOf reads the rows of quotaFields. A limit that is no number becomes null, which the server refuses.
const quotasOf = (form) => [...form.querySelectorAll(".quota")].map((row) => {
  const value = (name) => row.querySelector(`[name="quotas.${name}"]`).value;
  const limit = value("limit") === "" ? null : Number(value("limit"));
  return { scope: value("scope"), unit: value("unit"), window: value("window"), limit };
});
