// The view of usage and quotas.
import { byId, download, el, on } from "./shared/dom.js";
import { readJSON } from "./shared/session.js";
import { collection } from "./accounts.js";
import { chart, legend } from "./chart.js";
import { bars, keyOf, number, spansOf, sumUp } from "./figures.js";

// At most this many pages of the largest size are loaded, because the server limits requests.
const rowPages = 20, accountPages = 10;
const maxShown = 200; // rows of the table

// range is the range of the table: a step, and the number of periods.
const range = () => byId("range").value.split(" ");

// share shows how much of a quota its current window has used, as a bar and as text.
function share({ limit, unit, window, used, percent }) {
  const of = `${number(limit)} ${unit} a ${window}`;
  return el("p", {}, ...used === undefined ? ["up to " + of] : [
    el("meter", { max: 100, high: 80, optimum: 0, value: percent, "aria-label": "used of " + of }),
    ` ${percent}%: ${number(used)} of ${of}`,
  ]);
}

// Usage is the view of a session, for one account or the whole organization.
export class Usage {
  #session;
  #page;
  #account = null; // its id
  #load = null; // the current one; responses to earlier ones are dropped
  #data = null; // the data of a complete load
  #sort = ["requests", true]; // a column, and whether it is descending

  constructor(session, page) {
    this.#session = session;
    this.#page = page;
    on("range", "change", () => this.#showTable());
    on("refresh", "click", () => this.load());
    on("whole", "click", () => this.open(null));
    on("csv", "click", () => this.#download().catch((error) => this.#page.fail(error)));
  }

  // open shows the usage of an account, {id}, or of the organization (null).
  open(account) {
    this.#account = account?.id ?? null;
    byId("usage-title").textContent = account ? "Usage of " + (account.description || account.id)
      : "Usage of the organization";
    byId("whole").hidden = !account;
    byId("usage-title").focus();
    return this.load();
  }

  clear() {
    this.#load = this.#data = null;
    byId("charts").replaceChildren();
    this.#showTable();
    byId("usage-note").textContent = "";
  }

  async load() {
    this.clear();
    const load = this.#load = { now: new Date(), cut: false };
    byId("usage-note").textContent = "Loading…";
    try {
      [load.accounts, load.hour, load.day, load.month] = await Promise.all([
        this.#accounts(load), ...["hour", "day", "month"].map((step) =>
          this.#read(load, "/usage?" + this.#query(step, load.now), rowPages)),
      ]);
      if (load === this.#load) this.#show(load);
    } catch (error) {
      if (load !== this.#load) return;
      this.clear();
      this.#page.fail(error);
    }
  }

  #query(step, now, count) {
    const spans = spansOf(step, now);
    return new URLSearchParams({
      step, from: spans.at(count ? -1 - count : 0).toISOString(), to: spans.at(-1).toISOString(), limit: 1000,
      ...(this.#account && { account: this.#account }),
    });
  }

  // #read loads a list of the API, up to a number of pages.
  async #read(load, address, pages) {
    const data = [];
    let cursor = "";
    for (let n = 0; n < pages && cursor !== null; n++) {
      const answer = await this.#session.json(`${collection}${address}&` + new URLSearchParams({ cursor }));
      data.push(...answer.data);
      cursor = answer.nextCursor;
    }
    load.cut ||= cursor !== null;
    return data;
  }

  // #accounts returns the accounts of the view by id, without deleted ones.
  async #accounts(load) {
    const one = () => this.#session.json(collection + "/" + this.#account).then(({ data }) => [data], (error) => {
      if (error.status !== 404) throw error;
      return [];
    });
    const found = await (this.#account ? one() : this.#read(load, "?limit=200", accountPages));
    return new Map(found.map((account) => [account.id, account]));
  }

  #show(data) {
    this.#data = data;
    const empty = data.month.length === 0;
    byId("usage-note").textContent = empty ? "Nothing was used yet. A request is seen here a second after its answer."
      : data.cut ? "There is more than this page reads, so the sums are too low. Look at one account, or at the CSV."
        : "";
    byId("charts").replaceChildren(...empty ? [] : [
      legend(), chart("By day, the last 30 days", bars("day", data.day, data.now)),
      chart("By hour, the last 24 hours", bars("hour", data.hour, data.now)),
    ]);
    this.#showTable();
  }

  // columns of the table: key, heading, and the cell of a row.
  #columns() {
    const count = (key, title) => [key, title, (row) => number(row[key])];
    return [
      ...this.#account ? [] : [["name", "Account", (row) => el("button", {
        type: "button", class: "link", onclick: () => this.open({ id: row.account, description: row.name }),
      }, el("bdi", {}, row.name))]],
      ["scope", "Scope", (row) => ({ "*": "all scopes", any: "any scope" })[row.scope] ?? row.scope],
      count("requests", "Requests"), count("errors", "Answered 5xx"), count("refused", "Refused"),
      count("units", "Units"),
      ["share", "Used of the quota", (row) => el("div", {}, ...row.quotas.map(share))],
    ];
  }

  #rows() {
    const { accounts } = this.#data;
    const sums = (step, count) => sumUp(this.#data[step], spansOf(step, this.#data.now).at(-1 - count), accounts);
    const rows = [...sums(...range()).values()];
    // The share of a quota that its current window has used, except for minutes, which are over before they are read.
    const present = { day: sums("day", 1), month: sums("month", 1) };
    for (const row of rows) {
      const account = accounts.get(row.account);
      row.name = account?.description || row.account;
      row.quotas = (account?.quotas ?? []).filter((quota) => quota.scope === row.scope)
        .map((quota) => {
          const used = present[quota.window]?.get(keyOf(row.account, row.scope))[quota.unit];
          return { ...quota, used, percent: quota.limit > 0 ? Math.floor(100 * used / quota.limit) : 100 };
        });
      row.share = Math.max(-1, ...row.quotas.map(({ used, percent }) => (used === undefined ? -1 : percent)));
    }
    const [key, descending] = this.#sort;
    const order = (a, b) => (typeof a[key] === "string" ? a[key].localeCompare(b[key]) : a[key] - b[key]);
    return rows.sort((a, b) => (descending ? order(b, a) : order(a, b)));
  }

  #showTable() {
    const rows = this.#data ? this.#rows() : [];
    byId("usage-table").hidden = rows.length === 0;
    byId("usage-rows").textContent = rows.length > maxShown
      ? `The first ${maxShown} of ${number(rows.length)} rows.` : "";
    const columns = this.#columns();
    const [sorted, descending] = this.#sort;
    byId("usage-columns").replaceChildren(...columns.map(([key, title]) => el("th", {
      scope: "col", role: "columnheader",
      "aria-sort": key === sorted && (descending ? "descending" : "ascending"),
    }, el("button", { type: "button", class: "link", "data-sort": key, onclick: () => this.#sortBy(key) }, title))));
    byId("usage-body").replaceChildren(...rows.slice(0, maxShown).map((row) => el("tr", {
      role: "row", "data-account": row.account, "data-scope": row.scope,
    }, ...columns.map(([key, title, content]) =>
      el("td", { role: "cell", "data-label": title, "data-key": key }, content(row))))));
  }

  #sortBy(key) {
    const [before, descending] = this.#sort;
    this.#sort = [key, key === before ? !descending : !["name", "scope"].includes(key)];
    this.#showTable();
    document.querySelector(`[data-sort="${key}"]`).focus();
  }

  // #download saves the rows behind the table, and waits when the server limits requests.
  async #download() {
    const [step, count] = range();
    let text = "";
    for (let next = `${collection}/usage?${this.#query(step, new Date(), count)}`; next;) {
      const answer = await this.#session.reach(next, { headers: { Accept: "text/csv" } });
      if (answer.status === 429) {
        await new Promise((done) => setTimeout(done, 1000 * (answer.headers.get("Retry-After") ?? 10)));
        continue;
      }
      if (!answer.ok) await readJSON(answer);
      const lines = await answer.text();
      text += text ? lines.slice(lines.indexOf("\n") + 1) : lines; // each page has a header line
      const query = /<([^>]+)>; rel="next"/.exec(answer.headers.get("Link") ?? "")?.[1];
      next = query && new URL(query, new URL(next, location.href)).href;
    }
    download(`usage-by-${step}.csv`, "text/csv", text);
  }
}
