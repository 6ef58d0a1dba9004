// The start page works without this script, which adds buttons and the session of the tab.
import { copyButton } from "./shared/dom.js";
import { showHeader } from "./shared/header.js";

showHeader();
// A proxy may serve the site at a path that the server does not know.
const { origin } = document.body.dataset, here = new URL(".", location).href.replace(/\/$/, "");
for (const node of document.querySelectorAll("code, pre")) {
  if (here !== origin) node.textContent = node.textContent.replaceAll(origin, here);
  if (node.tagName === "PRE") node.after(copyButton("Copy", () => node.textContent));
}
