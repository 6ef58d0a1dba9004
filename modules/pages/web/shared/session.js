// Access to the API. Tokens are only kept in memory, never in an address or in storage.

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

// Session sends requests with a token. renew, if given, gets {token, expiresIn} before the token expires, and again
// when a request is refused. changed is called when the token changes.
export class Session {
  #token = "";
  #expires = 0; // milliseconds since 1970
  #renewing = null;
  #timer = 0;

  constructor({ renew = null, changed = () => {} } = {}) {
    this.renew = renew;
    this.changed = changed;
    // Timers are late in background pages.
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && this.#isDue()) this.refresh().catch(() => {});
    });
  }

  get token() { return this.#token; }
  get claims() { return claimsOf(this.#token); }
  get expires() { return this.#expires; }

  // use sets a token from the user.
  use(token) {
    this.renew = null;
    this.#set(token, 0);
  }

  clear() { this.use(""); }

  // refresh gets a new token, only once for concurrent calls.
  refresh() {
    if (!this.renew) return Promise.reject(new ApiError(401, meanings[401]));
    this.#renewing ??= this.renew()
      .then(({ token, expiresIn }) => this.#set(token, expiresIn))
      .catch((error) => {
        this.#later(5000);
        throw error;
      })
      .finally(() => { this.#renewing = null; });
    return this.#renewing;
  }

  #set(token, expiresIn) {
    this.#token = token;
    const exp = claimsOf(token).exp;
    // The lifetime from the server works with a wrong clock as well.
    this.#expires = expiresIn ? Date.now() + expiresIn * 1000 : exp ? exp * 1000 : 0;
    clearTimeout(this.#timer);
    if (this.renew && expiresIn) this.#later(expiresIn * 750);
    this.changed(this);
  }

  #later(wait) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.refresh().catch(() => {}), wait);
  }

  #isDue() { return this.renew && this.#expires && Date.now() > this.#expires - 30000; }

  // fetch sends the token in a header, so that it is not in logs or the history.
  async fetch(address, options = {}) {
    if (this.#renewing) await this.#renewing.catch(() => {});
    const sent = this.#token;
    const answer = await this.#send(address, options, sent);
    if (answer.status !== 401 || !this.renew) return answer;
    if (sent === this.#token) await this.refresh().catch(() => {});
    return sent === this.#token ? answer : this.#send(address, options, this.#token);
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
    if (answer.ok) throw new ApiError(502, meanings[502]);
  }
  if (answer.ok) return body;
  const error = body?.error;
  const said = typeof error === "string" ? error : error?.message;
  const meaning = meanings[answer.status] ?? "The server answered with status " + answer.status + ".";
  const known = answer.status === 401 || answer.status === 429 ? meaning : said ?? meaning;
  throw new ApiError(answer.status, known, body?.code ?? error?.code);
}
