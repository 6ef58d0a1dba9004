// The API reference by Swagger UI. It keeps a pasted token in memory, and sends requests only to this server.
import { showPages } from "./shared/pages.js";

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

window.SwaggerUIBundle({
  url: "openapi.yaml",
  domNode: document.getElementById("reference"),
  presets: [window.SwaggerUIBundle.presets.apis],
  plugins: [ownServer],
  layout: "BaseLayout",
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  persistAuthorization: false,
  validatorUrl: null,
  // Swagger UI's heading of the servers is not a label.
  onComplete: () => document.getElementById("servers")?.setAttribute("aria-label", "Server"),
  requestInterceptor: (request) => Object.assign(request, { credentials: "omit" }),
});
showPages();
