// The dialogs of the console, except the form of an account.
import { copyButton, curl, el } from "./shared/dom.js";
import { claimsOf, readJSON } from "./shared/session.js";
import { field, open } from "./forms.js";

const auth = new URL("../api/v1/external/auth", location.origin + location.pathname).href;

// confirmByTyping does work after the account's id, or its last four characters, were typed.
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

// confirmSignIn asks before a token from a link is used, because anyone may have made the link.
export function confirmSignIn(name, organization, work) {
  open("Sign in with this link?", [
    el("p", {}, "It signs you in as ", el("bdi", {}, name), " of the organization ",
      el("strong", {}, el("bdi", {}, organization)), "."),
    el("p", {}, "Continue only if you know this organization. It will own the accounts that you create."),
  ], { label: "Sign in", submit: () => { setTimeout(work); } }); // after the dialog has closed
}

// showTokens shows the tokens of a new account, only once.
export function showTokens(client, server) {
  const shown = (label, value, hint) => [
    el("div", { class: "row" },
      el("label", { class: "grow" }, label, el("input", { class: "token", readOnly: true, value })),
      copyButton("Copy " + label.toLowerCase(), () => value)), el("p", { class: "quiet" }, hint),
  ];
  open("Tokens of the new account", [
    el("p", { class: "once" }, "Copy both tokens now; they are not shown again."),
    ...shown("Client token", client,
      "The id of the account. It is useless without the server token; keep both in your backend."),
    ...shown("Server token", server,
      "Keep it in your backend, with its other secrets: never in an application or a page."),
    ...exchangeHelp(() => [client, server]),
  ], {
    label: "Try the exchange", close: "Done, I have stored both", keep: true,
    submit: (form) => exchange(form, client, server),
  });
}

// tryExchange exchanges pasted tokens.
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
    `It works. The access token is valid for ${data.expiresIn} ` +
    `seconds and for ${claimsOf(data.accessToken).scope}.`), copyButton("Copy access token", () => data.accessToken));
}
