// The header of all pages: links to the pages that this server has, and the session of the tab.
import { byId, el, on } from "./dom.js";
import { forget, kept } from "./session.js";

const sought = new Map();

// exists reports whether this server has a page at an address.
export function exists(address) {
  if (!sought.has(address)) {
    sought.set(address, fetch(address, { method: "HEAD", credentials: "omit" }).then(
      (answer) => answer.ok && Boolean(answer.headers.get("Content-Type")?.startsWith("text/html")), () => false));
  }
  return sought.get(address);
}

// showHeader shows elements with data-page, the address of a page, if the page exists. signedOut is called after the
// user has signed out.
export function showHeader(signedOut = () => location.reload()) {
  for (const node of document.querySelectorAll("[data-page]")) {
    exists(node.dataset.page).then((yes) => {
      if (!yes) return;
      node.hidden = false;
      if (node.tagName === "A") node.href = node.dataset.page;
    });
  }
  on("sign-out", "click", () => {
    forget();
    signedOut();
  });
  // A page that the browser shows again has the session of when it was left.
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  showWho();
}

// showWho shows whose tokens the tab has.
export function showWho() {
  const user = kept("user"), access = kept("access");
  const { name, token, organization } = user ?? access ?? {};
  byId("who").hidden = !user && (!access || access.guest);
  byId("who-is").replaceChildren(...user ? [el("bdi", {}, name), " · "] : [],
    ...token?.startsWith("mpk_") ? ["publishable key"] : user ? [] : ["access token"],
    ...organization ? [user ? "organization " : " of ", el("strong", {}, el("bdi", {}, organization))] : []);
}
