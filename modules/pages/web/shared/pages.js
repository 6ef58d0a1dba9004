// showPages shows those links to other pages of the service that this server has: elements a[data-page][hidden].
export function showPages() {
  for (const link of document.querySelectorAll("a[data-page]")) {
    fetch(link.href, { method: "HEAD", credentials: "omit" }).then((answer) => {
      link.hidden = !(answer.ok && answer.headers.get("Content-Type")?.startsWith("text/html"));
    }, () => {});
  }
}
