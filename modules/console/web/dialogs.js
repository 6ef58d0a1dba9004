// The dialogs of the console.
import { copyButton, curl, el, say } from "./shared/dom.js";
import { claimsOf, readJSON } from "./shared/session.js";

const auth = new URL("../api/v1/external/auth", location.origin + location.pathname).href;

const platforms = ["WEB", "ANDROID", "IOS", "DESKTOP"];
const scopes = {
  TILE: "the map: tiles and style", MATRIX: "travel times and distances between many places",
  ONM: "travel times from one place to many", DIRECTION: "routes, and map matching of recorded drives",
  TSS: "route optimization: the best order of many stops", GEOCODING: "search and completion of names and addresses",
  REVERSEGEOCODING: "what is at a position",
};

let count = 0;

// open shows a dialog with a form. submit does the work when it is sent; where that fails the dialog stays open, and
// the error stands at the field that it names. keep is for what is shown once: no key that was hit by chance closes it.
function open(title, content, { label, kind = "primary", submit, close = "Cancel", keep = false }) {
  const id = "dialog-" + ++count;
  const general = el("div", { class: "message", role: "alert" });
  const send = el("button", { type: "submit", class: kind }, label);
  const form = el("form", { noValidate: true }, el("h2", { id }, title), ...content, general,
    el("div", { class: "buttons" }, el("button", { type: "button", onclick: () => dialog.close() }, close), send));
  const dialog = el("dialog", { "aria-labelledby": id, closedby: keep ? "none" : "closerequest" }, form);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (send.disabled) return;
    for (const node of form.querySelectorAll("[data-error]")) node.textContent = "";
    for (const node of form.querySelectorAll("[aria-invalid]")) node.removeAttribute("aria-invalid");
    say(general, "");
    send.disabled = true;
    try {
      await submit(form);
      if (!keep) dialog.close();
    } catch (error) {
      const [name, ...text] = error.message.split(": ");
      const place = form.querySelector(`[data-error="${CSS.escape(name)}"]`);
      if (place) {
        place.textContent = text.join(": ");
        const input = form.querySelector(`[name="${CSS.escape(name)}"]`);
        input.setAttribute("aria-invalid", "true");
        input.focus();
      } else {
        say(general, error.message, "error");
      }
    }
    send.disabled = false;
  });
  dialog.addEventListener("cancel", (event) => keep && event.preventDefault());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

// problem is the place for what is wrong with a field.
const problem = (name, id) => el("p", { id, class: "field-error", "data-error": name });

// field is an input with its label, a hint and a place for what is wrong with it.
function field(name, label, input, hint) {
  const id = `field-${name}-${++count}`;
  Object.assign(input, { id, name });
  input.setAttribute("aria-describedby", `${id}-error ${id}-hint`);
  return el("div", { class: "field" }, el("label", { htmlFor: id }, label), input,
    hint && el("p", { id: id + "-hint", class: "quiet" }, hint), problem(name, id + "-error"));
}

const check = (name, value, checked, ...text) =>
  el("label", { class: "check" }, el("input", { type: "checkbox", name, value, checked }), el("span", {}, ...text));

// editAccount asks for the fields of a new account, or of one that is there, and gives them to save: of one that is
// there those that have changed.
export function editAccount(account, save) {
  const before = account ?? { description: "", platform: "WEB", scopes: [], isAdmin: false };
  open(account ? "Edit account" : "New account", [
    field("description", "Description", el("textarea", { rows: 2, value: before.description, dir: "auto" }),
      "For you and your colleagues: which application, which team. At most 500 characters."),
    field("platform", "Platform",
      el("select", {},
        ...platforms.map((value) => el("option", { value, selected: value === before.platform }, value)))),
    el("fieldset", {}, el("legend", {}, "Scopes: what its tokens are good for"),
      ...Object.entries(scopes).map(([scope, text]) =>
        check("scopes", scope, before.scopes.includes(scope), el("strong", {}, scope), " " + text)), problem("scopes")),
    check("isAdmin", "true", before.isAdmin,
      "Administrator: its tokens may manage the accounts of the organization, other administrators excepted"),
    problem("isAdmin"),
  ], {
    label: account ? "Save" : "Create",
    submit: async (form) => {
      const data = new FormData(form);
      const fields = {
        description: data.get("description"), platform: data.get("platform"), scopes: data.getAll("scopes"),
        isAdmin: data.has("isAdmin"),
      };
      const changed = Object.entries(fields).filter(([name, value]) =>
        !account || String(value) !== String(before[name]));
      if (changed.length > 0) await save(Object.fromEntries(changed));
    },
  });
}

// confirmByTyping does what cannot be undone once the account's id, or its last four characters, has been typed.
export function confirmByTyping(account, label, consequence, work) {
  const expected = account.id.slice(-4);
  open(`${label} account`, [
    el("p", {}, el("bdi", {}, account.description || "(no description)"), " ", el("code", {}, account.id)),
    el("p", {}, consequence, " This cannot be undone."),
    field("confirmation", `Type ${expected}, the end of its id, to confirm`,
      el("input", { autocomplete: "off", spellcheck: false, autocapitalize: "off" })),
  ], {
    label, kind: "danger",
    submit: async (form) => {
      if (![expected, account.id].includes(form.elements.confirmation.value.trim())) {
        throw new Error(`confirmation: This is not ${expected}.`);
      }
      await work();
    },
  });
}

// showTokens shows the tokens of a new account, this once.
export function showTokens(client, server) {
  const shown = (label, value, hint) => [
    el("div", { class: "row" },
      el("label", { class: "grow" }, label, el("input", { class: "token", readOnly: true, value })),
      copyButton("Copy " + label.toLowerCase(), () => value)), el("p", { class: "quiet" }, hint),
  ];
  open("Tokens of the new account", [
    el("p", { class: "once" }, "Copy both tokens now; they are not shown again."),
    ...shown("Client token", client, "Goes into the application. By itself it is good for nothing."),
    ...shown("Server token", server,
      "Stays on your backend, with its other secrets: never in an application or a page."),
    ...exchangeHelp(() => [client, server]),
  ], {
    label: "Try the exchange", close: "Done, I have stored both", keep: true,
    submit: (form) => exchange(form, client, server),
  });
}

// tryExchange exchanges tokens that are pasted.
export function tryExchange() {
  const inputs = [1, 2].map(() => el("input", { type: "password", autocomplete: "off", spellcheck: false }));
  const values = () => inputs.map((input) => input.value.trim());
  open("Try an exchange", [
    field("client_token", "Client token", inputs[0]), field("server_token", "Server token", inputs[1]),
    ...exchangeHelp(values),
  ], { label: "Exchange", close: "Close", keep: true, submit: (form) => exchange(form, ...values()) });
}

const request = (client, server) => ({
  method: "POST", credentials: "omit", headers: { "Content-Type": "application/json" },
  body: JSON.stringify({ client_token: client, server_token: server }),
});

const exchangeHelp = (tokens) => [
  el("p", {}, "Your backend exchanges both for an access token, which the application sends with its requests:"),
  el("pre", { class: "code" }, curl(auth, request("…", "…"))),
  copyButton("Copy as curl", () => curl(auth, request(...tokens()))),
  el("div", { class: "result", role: "status" }),
];

async function exchange(form, ...tokens) {
  const answer = await fetch(auth, request(...tokens))
    .catch(() => { throw new Error("The server cannot be reached."); });
  if (answer.status === 401) {
    throw new Error("The exchange was refused: one of the tokens is wrong, or its account is not active.");
  }
  const { data } = await readJSON(answer);
  form.querySelector(".result").replaceChildren(el("p", {},
    `It works. The access token is good for ${data.expiresIn} ` +
    `seconds and for ${claimsOf(data.accessToken).scope}.`), copyButton("Copy access token", () => data.accessToken));
}
