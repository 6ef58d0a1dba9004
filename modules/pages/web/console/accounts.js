// The list of accounts, with the actions on each.
import { byId, on, el } from "./shared/dom.js";
import { canOpenMap, openMap } from "./openmap.js";
import { editAccount } from "./account-form.js";
import { confirmByTyping, showTokens, tryExchange } from "./dialogs.js";
import { showKeys } from "./keys.js";

export const collection = new URL("../api/v1/service-accounts", location.origin + location.pathname).pathname;
const pageSize = 50;
// A search reads at most this many pages of the largest size, because the server limits requests.
const searchPageSize = 200, searchPages = 10;

const nameOf = (account) => account.description || account.id;
const tag = (text) => el("span", { class: "tag" }, text);

// columns of the table: the heading, and the cell of an account.
const columns = [
  ["Description", (a) => el("bdi", {}, a.description || "(no description)")],
  ["Id", (a) => el("code", {}, a.id)],
  ["Platform", (a) => [a.platform || "–", ...(a.isAdmin ? [" ", tag("administrator")] : [])]],
  ["Scopes", (a) => a.scopes.flatMap((scope) => [tag(scope), " "])],
  ["Status", (a) => el("span", { class: "status " + a.status }, a.status.toLowerCase())],
  ["Created", (a) => el("time", { class: "date", dateTime: a.createdAt, title: a.createdAt },
    new Date(a.createdAt).toLocaleDateString())],
];

// Accounts is the list of a session. The page's say shows a message, fail an error, and usage the usage of an account;
// scopes are those of the server.
export class Accounts {
  #session;
  #page;
  #loaded = [];
  #cursor = null;
  #load = 0; // number of the current load; responses to earlier ones are dropped
  #timer = 0;
  #reading = null; // the page that is being loaded

  constructor(session, page) {
    this.#session = session;
    this.#page = page;
    byId("columns").append(...[...columns.map(([title]) => title), "Actions"].map((title) =>
      el("th", { scope: "col", role: "columnheader" }, title)));
    on("status", "change", () => this.load());
    on("search", "input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#search(), 250);
    });
    on("more", "click", () => this.#more(byId("search").value ? searchPageSize : pageSize));
    on("create", "click", () => editAccount(null, this.#page.scopes, (fields) => this.#create(fields)));
    on("try", "click", tryExchange);
  }

  clear() {
    byId("search").value = byId("status").value = "";
    this.#reset(null);
  }

  // load loads the first page again.
  async load() {
    this.#reset("");
    await this.#more(pageSize);
    await this.#search();
  }

  #reset(cursor) {
    this.#load++;
    this.#reading = null;
    this.#cursor = cursor;
    this.#show([]);
  }

  // #more loads one page, only once for concurrent calls, and returns whether there may be another.
  #more(limit) {
    const reading = this.#reading ??= this.#read(limit).finally(() => {
      if (this.#reading === reading) this.#reading = null;
    });
    return reading;
  }

  async #read(limit) {
    const load = this.#load;
    const query = new URLSearchParams({ limit, cursor: this.#cursor });
    if (byId("status").value) query.set("status", byId("status").value);
    byId("count").textContent = "Loading…";
    const answer = await this.#ask("GET", "?" + query).catch((error) => this.#page.fail(error));
    if (load !== this.#load) return false;
    if (answer) this.#cursor = answer.nextCursor;
    this.#show([...this.#loaded, ...(answer?.data ?? [])]);
    return Boolean(answer && this.#cursor);
  }

  async #search() {
    const text = byId("search").value;
    this.#show();
    for (let n = 0; text && n < searchPages && this.#cursor && text === byId("search").value; n++) {
      if (!(await this.#more(searchPageSize))) return;
    }
  }

  #show(loaded = this.#loaded) {
    this.#loaded = loaded;
    const text = byId("search").value.trim().toLowerCase();
    const found = loaded.filter((a) => (a.description + "\n" + a.id).toLowerCase().includes(text));
    byId("accounts").replaceChildren(...found.map((a) => this.#row(a)));
    byId("more").hidden = !this.#cursor;
    byId("count").textContent = loaded.length === 0 ? "No accounts."
      : `${found.length} ${text ? "found" : "shown"}, ${this.#cursor ? "the first" : "all"} ${loaded.length} loaded.`;
  }

  #row(account) {
    const cells = columns.map(([title, content]) =>
      el("td", { role: "cell", "data-label": title }, ...[content(account)].flat()));
    const action = (title, press, kind) => el("button", {
      type: "button", class: kind, "aria-label": `${title} ${nameOf(account)}`, "data-action": title, onclick: press,
    }, title);
    const change = (status, now) => async () => {
      await this.#patch(account, { status });
      this.#done(account, now);
    };
    const tried = (work) => () => work().catch((error) => this.#page.fail(error));
    const actions = [action("Usage", () => this.#page.usage(account))];
    if (canOpenMap(account)) actions.push(action("Open the map", tried(() =>
      openMap(account, (method, rest, body) => this.#ask(method, `/${account.id}${rest}`, body)))));
    if (account.status !== "REVOKED") actions.push(
      action("Edit", () => editAccount(account, this.#page.scopes, async (fields) => {
        await this.#patch(account, fields);
        this.#done(account, "changed");
      })),
      action("Keys", tried(() => showKeys(account, (method, rest, body) =>
        this.#ask(method, `/${account.id}${rest}`, body)))),
      account.status === "ACTIVE" ? action("Suspend", tried(change("SUSPENDED", "suspended")))
        : action("Activate", tried(change("ACTIVE", "active"))),
      action("Revoke", () => confirmByTyping(account, "Revoke",
        "It can never be used or changed again. All its tokens end at once.", change("REVOKED", "revoked")), "danger"),
    );
    actions.push(action("Delete", () => confirmByTyping(account, "Delete",
      "It disappears, and all its tokens end at once.", async () => {
        await this.#ask("DELETE", "/" + account.id);
        this.#show(this.#loaded.filter((a) => a.id !== account.id));
        this.#done(account, "deleted");
      }), "danger"));
    return el("tr", { role: "row", "data-id": account.id }, ...cells,
      el("td", { role: "cell" }, el("div", { class: "actions" }, ...actions)));
  }

  #ask(method, rest, body) {
    return this.#session.json(collection + rest, {
      method, ...(body && { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }),
    });
  }

  // #patch changes an account and shows the response of the server.
  async #patch(account, change) {
    const { data } = await this.#ask("PATCH", "/" + account.id, change);
    this.#show(this.#loaded.map((a) => (a.id === data.id ? data : a)));
  }

  // #done shows a message and moves the focus back to the account's row, or to the list if the row is gone.
  #done(account, now) {
    this.#page.say(`${nameOf(account)} is ${now}.`);
    setTimeout(() => {
      const row = document.querySelector(`tr[data-id="${account.id}"]`);
      (row?.querySelector("[data-action=Activate], [data-action=Suspend]") ?? row?.querySelector("button") ??
        byId("accounts-title")).focus();
    });
  }

  async #create(fields) {
    const { clientToken, serverToken, ...account } = (await this.#ask("POST", "", fields)).data;
    const status = byId("status").value;
    this.#show(!status || status === account.status ? [account, ...this.#loaded] : this.#loaded);
    this.#page.say("The account was created.");
    setTimeout(() => showTokens(clientToken, serverToken)); // after the form's dialog has closed
  }
}
