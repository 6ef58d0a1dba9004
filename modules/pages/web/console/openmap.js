// The map for an account. A user token does not open the map APIs, so the map gets a publishable key of the account.
import { keep } from "./shared/session.js";

const publishable = ["TILE", "GEOCODING", "REVERSEGEOCODING", "DIRECTION"]; // what keys can be for

export const canOpenMap = ({ status, scopes }) =>
  status === "ACTIVE" && scopes.some((scope) => publishable.includes(scope));

// openMap opens the map with a key for this origin, one that exists or a new one. ask makes a request below the
// account's address.
export async function openMap(account, ask) {
  const { origin } = location;
  const wanted = account.scopes.filter((scope) => publishable.includes(scope));
  const fits = ({ origins, scopes }) => origins.includes(origin) && wanted.every((scope) => scopes.includes(scope));
  const { key } = (await ask("GET", "/keys")).data.find(fits) ??
    (await ask("POST", "/keys", { description: "The map of this server", origins: [origin], scopes: wanted })).data;
  keep("access", { token: key, organization: account.organizationId });
  location.assign("../playground/");
}
