// showPages shows the links (a[data-page][hidden]) to other pages of the service that exist on this server.
export function showPages() {
  for (const link of document.querySelectorAll("a[data-page]")) {
    fetch(link.href, { method: "HEAD", credentials: "omit" }).then((answer) => {
      link.hidden = !(answer.ok && answer.headers.get("Content-Type")?.startsWith("text/html"));
    }, () => {});
  }
}
