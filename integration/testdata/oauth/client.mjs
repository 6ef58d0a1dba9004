// openid-client gets tokens, by both ways of authentication. Arguments: where it is, the issuer, a client token, a
// server token, and a path that needs the scope DIRECTION.
const [library, issuer, id, secret, path] = process.argv.slice(2);
const oauth = await import(library);
for (const authentication of [oauth.ClientSecretBasic, oauth.ClientSecretPost]) {
  const server = { issuer, token_endpoint: `${issuer}/api/v1/external/token` };
  const client = (key) => {
    const config = new oauth.Configuration(server, id, undefined, authentication(key));
    oauth.allowInsecureRequests(config); // on loopback
    return config;
  };
  const granted = await oauth.clientCredentialsGrant(client(secret), { scope: "DIRECTION" });
  const refreshed = await oauth.refreshTokenGrant(client(secret), granted.refresh_token);
  for (const { access_token, scope, token_type } of [granted, refreshed]) {
    const { status } = await oauth.fetchProtectedResource(client(secret), access_token, new URL(issuer + path), "GET");
    console.log(token_type, scope, status);
  }
  const { cause, response } = await oauth.clientCredentialsGrant(client(id)).catch((error) => error);
  const { error, error_description } = await response.json();
  console.log(response.status, cause[0].scheme, error, error_description);
  await oauth.refreshTokenGrant(client(secret), "mpr_none").catch(({ status, error }) => console.log(status, error));
}
