// Helpers for the document. Text never becomes markup, because names in maps and files are untrusted.

// el makes an element. Of the options, properties of the element are set, on… are listeners, others are attributes.
// Children are nodes or text.
export function el(name, properties = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "class") node.className = value;
    else if (key in node && key !== "list" && key !== "form") node[key] = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== undefined && child !== null && child !== false));
  return node;
}

export const byId = (id) => document.getElementById(id);

// on adds a listener to an element by its id.
export const on = (id, type, listener) => byId(id).addEventListener(type, listener);

// say shows a message in a live region. kind is "", "busy" or "error".
export function say(node, text, kind = "") {
  node.textContent = text;
  node.className = "message " + kind;
}

// copyText copies a text. Without TLS there is no clipboard API, and it copies a selection.
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = el("textarea", { value: text, class: "offscreen", readOnly: true });
    const focused = document.activeElement;
    // Outside an open dialog nothing can be selected.
    (focused?.closest("dialog") ?? document.body).append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    focused?.focus();
    return done;
  }
}

// copyButton makes a button that copies what get returns.
export function copyButton(label, get) {
  const button = el("button", {
    type: "button", class: "copy", onclick: async () => {
      button.textContent = (await copyText(get())) ? "Copied" : "Copying failed";
      setTimeout(() => { button.textContent = label; }, 1500);
    },
  }, label);
  button.setAttribute("aria-live", "polite");
  return button;
}

// curl returns a request as a command line. Without a token it uses the shell variable MAPS_TOKEN.
export function curl(address, { headers = {}, body } = {}, token) {
  const quoted = (text) => "'" + text.replaceAll("'", "'\\''") + "'";
  const words = ["curl", quoted(new URL(address, location).href)];
  if (token) words.push("-H", quoted("Authorization: Bearer " + token));
  else if (token === "") words.push("-H", '"Authorization: Bearer $MAPS_TOKEN"');
  for (const [name, value] of Object.entries(headers)) words.push("-H", quoted(`${name}: ${value}`));
  if (body) words.push("--data-binary", quoted(body));
  return words.join(" ");
}

// download offers a text as a file.
export function download(name, media, text) {
  const address = URL.createObjectURL(new Blob([text], { type: media }));
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
