// The API reference by Swagger UI. It keeps a pasted token in memory, and sends requests only to this server.
import { showHeader } from "./shared/header.js";
import { kept } from "./shared/session.js";

// ownServer sends requests to the origin of this page, not to the servers that the document names.
const ownServer = () => ({
  statePlugins: {
    spec: {
      wrapActions: {
        updateJsonSpec: (update) => (document) => update({ ...document, servers: [{ url: location.origin }] }),
      },
    },
  },
});

const swagger = window.SwaggerUIBundle({
  url: "openapi.yaml",
  domNode: document.getElementById("reference"),
  presets: [window.SwaggerUIBundle.presets.apis],
  plugins: [ownServer],
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
