import createClient, { type Client } from "openapi-fetch";
import type { paths } from "./maps.js";

// newClient returns a client that is authorized by the two tokens of a service account. It renews its access token a
// minute before it expires, and when it is refused: it may have been revoked, or its key replaced.
export function newClient(site: string, clientToken: string, serverToken: string): Client<paths> {
  const plain = createClient<paths>({ baseUrl: site });
  let access = "";
  let refresh = "";
  let renewal = 0;
  let renewing: Promise<string> | undefined;

  async function renew(): Promise<string> {
    access = "";
    if (refresh) {
      const { data, response } = await plain.POST("/api/v1/external/refresh", { body: { refresh_token: refresh } });
      if (data) return keep(data.data);
      if (response.status !== 401) throw new Error(`renewing a token: ${response.status}`); // it may still be good
      refresh = "";
    }
    const { data, response } = await plain.POST("/api/v1/external/auth", {
      body: { client_token: clientToken, server_token: serverToken },
    });
    if (!data) throw new Error(`exchanging tokens: ${response.status}`);
    return keep(data.data);
  }

  function keep(fresh: { accessToken: string; refreshToken: string; expiresIn: number }): string {
    access = fresh.accessToken;
    refresh = fresh.refreshToken; // with refresh_rotation, each refresh gives a new one
    renewal = Date.now() + Math.max(fresh.expiresIn - 60, fresh.expiresIn / 2) * 1000;
    return access;
  }

  // token resolves to an access token other than the one that was refused.
  async function token(refused = ""): Promise<string> {
    if (access && access !== refused && Date.now() < renewal) return access;
    renewing ??= renew().finally(() => (renewing = undefined));
    return renewing;
  }

  async function send(request: Request, token: string): Promise<Response> {
    request.headers.set("Authorization", `Bearer ${token}`);
    return fetch(request);
  }

  return createClient<paths>({
    baseUrl: site,
    fetch: async (request) => {
      const first = await token();
      const answer = await send(request.clone(), first);
      if (answer.status !== 401) return answer;
      try {
        return await send(request, await token(first));
      } catch {
        return answer; // there is no token any more: the 401 is the answer
      }
    },
  });
}
