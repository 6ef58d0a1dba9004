// The reference of the API by Swagger UI. It keeps a token that is pasted in memory, and asks nothing but this server.
import { showPages } from "./shared/pages.js";

// ownServer makes requests go to where this page is from, whatever server the document names.
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
  // Swagger UI's heading of the servers is no label.
  onComplete: () => document.getElementById("servers")?.setAttribute("aria-label", "Server"),
  requestInterceptor: (request) => Object.assign(request, { credentials: "omit" }),
});
showPages();
