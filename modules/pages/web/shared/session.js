// Access to the API. The tab's sessionStorage keeps the tokens, so that all pages of a tab share them until it is
// closed or the user signs out: one token for the map APIs ("access": an access token or a publishable key), and one of
// a user ("user").

const keyOf = (kind) => "maps." + kind;

// kept returns the token of a kind that the tab has: {token, expires, guest, organization, name}, or null.
export function kept(kind) {
  try {
    const record = JSON.parse(sessionStorage.getItem(keyOf(kind)));
    return record && !(record.expires && record.expires <= Date.now()) ? record : null;
  } catch { // the browser may forbid storage
    return null;
  }
}

// keep makes the tab have a token; null for none.
export function keep(kind, record) {
  try {
    if (record) sessionStorage.setItem(keyOf(kind), JSON.stringify(record));
    else sessionStorage.removeItem(keyOf(kind));
  } catch { /* the page works without */ }
}

// forget ends the session of the tab.
export const forget = () => ["access", "user"].forEach((kind) => keep(kind, null));

// takeTokenFromAddress returns the token of #token=… and removes it from the address, so that neither the history nor
// a copied address has it.
export function takeTokenFromAddress() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const token = fragment.get("token");
  if (token === null) return "";
  const rest = location.hash.slice(1).split("&").filter((part) => !part.startsWith("token=")).join("&");
  history.replaceState(history.state, "", location.pathname + location.search + (rest ? "#" + rest : ""));
  return token.trim();
}

// claimsOf reads the claims of a JWT without checking its signature.
export function claimsOf(token) {
  try {
    const body = token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(body), (c) => c.charCodeAt(0)))) ?? {};
  } catch {
    return {};
  }
}

// ApiError is an unsuccessful response, with the service's message or the meaning of the status.
export class ApiError extends Error {
  constructor(status, message, code) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const meanings = {
  0: "The server cannot be reached. Is it running, and is this device connected?",
  401: "The token is not valid, or not any more. Paste a new one.",
  403: "The token does not allow this.",
  404: "The server does not offer this.",
  413: "This is larger than the server takes.",
  429: "Too many requests. Wait a moment and try again.",
  502: "A service behind the server has failed. Try again later.",
  503: "The server cannot do this at the moment. Try again in a while.",
  504: "This took too long.",
};

// Session sends requests with a token of a kind. guest, if given, gets {token, expiresIn} for an anonymous visitor:
// when refresh is called, before such a token expires, and in place of a token that the server refuses. changed is
// called when the token changes, and when the server has accepted it.
export class Session {
  #kind;
  #guest;
  #token = "";
  #expires = 0; // milliseconds since 1970
  #renewing = null;
  #timer = 0;

  constructor(kind, { guest = null, changed = () => {} } = {}) {
    this.#kind = kind;
    this.#guest = guest;
    this.isGuest = false; // the token is an anonymous visitor's
    this.fellBack = false; // it is in place of one that was refused
    this.accepted = false;
    this.changed = changed;
    // Timers are late in background pages.
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && this.#isDue()) this.refresh().catch(() => {});
    });
  }

  get token() { return this.#token; }
  get claims() { return claimsOf(this.#token); }
  get expires() { return this.#expires; }

  // restore takes the token that the tab has, and reports whether there is one.
  restore() {
    const record = kept(this.#kind);
    if (!record || (record.guest && !this.#guest)) return false;
    this.isGuest = record.guest;
    this.#adopt(record.token, record.expires);
    return true;
  }

  // use sets a token from the user, with what to show of it.
  use(token, { name, organization = claimsOf(token).org } = {}) {
    this.isGuest = this.fellBack = false;
    const exp = claimsOf(token).exp;
    this.#keep(token, exp ? exp * 1000 : 0, { name, organization });
  }

  clear() { this.use(""); }

  // refresh gets a token for an anonymous visitor, only once for concurrent calls.
  refresh() {
    if (!this.#guest) return Promise.reject(new ApiError(401, meanings[401]));
    this.isGuest = true;
    this.#renewing ??= this.#guest()
      // The lifetime from the server works with a wrong clock as well.
      .then(({ token, expiresIn }) => {
        if (this.isGuest) this.#keep(token, Date.now() + expiresIn * 1000, {}); // the user may have given one
      })
      .catch((error) => {
        this.#later(5000);
        throw error;
      })
      .finally(() => { this.#renewing = null; });
    return this.#renewing;
  }

  #keep(token, expires, shown) {
    keep(this.#kind, token ? { token, expires, guest: this.isGuest, ...shown } : null);
    this.#adopt(token, expires);
  }

  #adopt(token, expires) {
    this.#token = token;
    this.#expires = expires;
    this.accepted = false;
    clearTimeout(this.#timer);
    if (this.isGuest) this.#later((expires - Date.now()) * .75);
    this.changed(this);
  }

  #later(wait) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.refresh().catch(() => {}), wait);
  }

  #isDue() { return this.isGuest && Date.now() > this.#expires - 30000; }

  // fetch sends the token in a header, so that it is not in logs or the history.
  async fetch(address, options = {}) {
    if (this.#renewing) await this.#renewing.catch(() => {});
    const sent = this.#token;
    const answer = await this.#send(address, options, sent);
    if (answer.status !== 401) {
      if (sent && sent === this.#token && !this.accepted) {
        this.accepted = true;
        this.changed(this);
      }
      return answer;
    }
    if (sent && sent === this.#token) await this.#refused();
    return this.#token && sent !== this.#token ? this.#send(address, options, this.#token) : answer;
  }

  // #refused replaces a token that the server has refused.
  async #refused() {
    const given = !this.isGuest;
    this.fellBack ||= given;
    await this.refresh().catch(() => { if (given) this.clear(); });
  }

  #send(address, options, token) {
    const headers = new Headers(options.headers);
    if (token) headers.set("Authorization", "Bearer " + token);
    return fetch(address, { ...options, headers, credentials: "omit" });
  }

  // json returns the JSON of a response, null if it has no body. Any failure is an ApiError.
  async json(address, options) { return readJSON(await this.reach(address, options)); }

  // reach is fetch with an ApiError if there is no response.
  async reach(address, options) {
    try {
      return await this.fetch(address, options);
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new ApiError(0, meanings[0]);
    }
  }
}

// readJSON returns the body of a response as JSON, or throws an ApiError.
export async function readJSON(answer) {
  const text = await answer.text();
  let body = null;
  try {
    if (text) body = JSON.parse(text);
  } catch {
    if (answer.ok) throw new ApiError(404, meanings[404]); // something else is there
  }
  if (answer.ok && (body !== null || answer.status === 204)) return body;
  if (answer.ok) throw new ApiError(404, meanings[404]); // Caddy's answer where nothing is
  const error = body?.error;
  const said = typeof error === "string" ? error : error?.message;
  const meaning = meanings[answer.status] ?? "The server answered with status " + answer.status + ".";
  const known = answer.status === 401 || answer.status === 429 ? meaning : said ?? meaning;
  throw new ApiError(answer.status, known, body?.code ?? error?.code);
}
