// Sign-in with OpenID Connect: authorization code with PKCE (RFC 7636), in a separate window, so that this page keeps
// its secrets in memory. The window responds by a BroadcastChannel, which works with Cross-Origin-Opener-Policy.
import { claimsOf } from "./shared/session.js";

const base64url = (bytes) =>
  btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)));

// Login gets the settings of sign-in.json. done is called with the token, failed with an Error.
export class Login {
  #settings;
  #attempt = null; // the next or current one
  #done;
  #failed;

  constructor(settings, done, failed) {
    this.#settings = settings;
    this.#done = done;
    this.#failed = failed;
    const channel = new BroadcastChannel("caddy-maps-sign-in");
    channel.onmessage = ({ data }) => {
      const attempt = this.#attempt;
      if (!attempt?.started || data.state !== attempt.state) return; // of another page, or unsolicited
      this.#attempt = null;
      channel.postMessage({ taken: data.state });
      this.#finish(data, attempt).then(this.#done, this.#failed).finally(() => this.prepare());
    };
  }

  // prepare makes the secrets in advance: browsers open a window only during a click.
  async prepare() {
    if (!window.isSecureContext) return;
    const verifier = random();
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
    this.#attempt = { verifier, challenge: base64url(new Uint8Array(digest)), state: random(), nonce: random() };
  }

  // start opens the provider's page. If it cannot, it throws an Error that says what to do.
  start() {
    if (!window.isSecureContext) throw new Error("Signing in needs https. Paste a token instead.");
    if (!this.#attempt) throw new Error("The sign-in is not ready yet. Try again.");
    const { challenge, state, nonce } = this.#attempt;
    const address = new URL(this.#settings.login.authorize_url);
    for (const [name, value] of Object.entries({
      response_type: "code", client_id: this.#settings.login.client_id, redirect_uri: redirectURI(),
      scope: this.#settings.login.scope, state, nonce, code_challenge: challenge, code_challenge_method: "S256",
    })) address.searchParams.set(name, value);
    this.#attempt.started = true;
    if (!window.open(address, "_blank", "popup,width=520,height=720")) {
      throw new Error("The browser did not open the window of the sign-in. Allow pop-ups for this address and try " +
        "again, or paste a token.");
    }
  }

  async #finish(answer, { verifier, nonce }) {
    if (answer.error) {
      throw new Error("The sign-in was refused: " + (answer.error_description || answer.error));
    }
    const { issuer, audience, organizationClaim, login } = this.#settings;
    // RFC 9207: if the response names an issuer, it must be ours.
    if (!answer.code || (answer.iss && answer.iss !== issuer)) throw new Error("The answer to the sign-in is not one.");
    const tokens = await exchange(login, answer.code, verifier);
    const isOpenID = login.scope.split(" ").includes("openid");
    if (isOpenID && claimsOf(tokens.id_token ?? "").nonce !== nonce) {
      throw new Error("The provider's answer belongs to another sign-in. Try again.");
    }
    // Providers put the organization into the access token, the ID token, or both.
    const fitting = [tokens.access_token, tokens.id_token].filter((token) => {
      const claims = claimsOf(token ?? "");
      return claims.iss === issuer && [claims.aud].flat().includes(audience);
    });
    const token = fitting.find((each) => claimsOf(each)[organizationClaim]) ?? fitting[0];
    if (!token) {
      throw new Error(`The provider gave no token of ${issuer} for the audience ${audience}. ` +
        `An operator has to change ` +
        "the audience of user_tokens, or what the provider puts into its tokens.");
    }
    return token;
  }
}

const redirectURI = () => new URL("signed-in.html", location.origin + location.pathname).href;

async function exchange(login, code, verifier) {
  let answer;
  try {
    answer = await fetch(login.token_url, {
      method: "POST", credentials: "omit",
      body: new URLSearchParams({
        grant_type: "authorization_code", code, code_verifier: verifier, client_id: login.client_id,
        redirect_uri: redirectURI(),
      }),
    });
  } catch {
    throw new Error("The provider's token endpoint cannot be reached from this page. " +
      "An operator has to allow the origin " +
      `${location.origin} there (CORS).`);
  }
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    throw new Error("The provider refused the sign-in: " + (body.error_description || body.error || answer.status));
  }
  return body;
}
