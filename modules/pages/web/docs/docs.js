// The API reference by Swagger UI. It keeps a pasted token in memory, and sends requests only to this server.
import { showHeader } from "./shared/header.js";
import { kept } from "./shared/session.js";

const use = await fetch("scopes.json", { credentials: "omit" }).then((answer) => answer.json()).catch(() => null);

// adapt makes the document that of this server: requests go to the origin of this page, and scopes and operations that
// the server does not have are left out.
function adapt(document) {
  document = { ...structuredClone(document), servers: [{ url: location.origin }] };
  if (!use) return document;
  document.components.schemas.Scope = {
    type: "string", enum: use.offered.map(({ name }) => name),
    description: use.offered.map(({ name, purpose }) => `- ${name}: ${purpose}`).join("\n"),
  };
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const needed = operation["x-scope"];
      if (needed && !use.served.includes(needed)) delete item[method];
    }
    if (Object.keys(item).length === 0) delete document.paths[path];
  }
  return document;
}

const adapted = () => ({
  statePlugins: { spec: { wrapActions: { updateJsonSpec: (update) => (document) => update(adapt(document)) } } },
});

const swagger = window.SwaggerUIBundle({
  url: "openapi.yaml",
  domNode: document.getElementById("reference"),
  presets: [window.SwaggerUIBundle.presets.apis],
  plugins: [adapted],
  layout: "BaseLayout",
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  persistAuthorization: false,
  validatorUrl: null,
  onComplete: () => {
    // Swagger UI's heading of the servers is not a label.
    document.getElementById("servers")?.setAttribute("aria-label", "Server");
    for (const [scheme, record] of [["accessToken", kept("access")], ["userToken", kept("user")]]) {
      if (!record) continue;
      swagger.preauthorizeApiKey(scheme, record.token);
      document.getElementById("filled").hidden = false;
    }
  },
  requestInterceptor: (request) => Object.assign(request, { credentials: "omit" }),
});
showHeader();
