// Dialogs with a form, and their fields.
import { el, say } from "./shared/dom.js";

let count = 0;

// open shows a dialog with a form. If submit fails, the dialog stays open with the error at its field. With keep,
// Escape does not close it.
export function open(title, content, { label, kind = "primary", submit, close = "Cancel", keep = false }) {
  const id = "dialog-" + ++count;
  const general = el("div", { class: "message", role: "alert" });
  const send = el("button", { type: "submit", class: kind }, label);
  const form = el("form", { noValidate: true }, el("h2", { id }, title), ...content, general,
    el("div", { class: "buttons" }, el("button", { type: "button", onclick: () => dialog.close() }, close), send));
  const dialog = el("dialog", { "aria-labelledby": id, closedby: keep ? "none" : "closerequest" }, form);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (send.disabled) return;
    for (const node of form.querySelectorAll("[data-error]")) node.textContent = "";
    for (const node of form.querySelectorAll("[aria-invalid]")) node.removeAttribute("aria-invalid");
    say(general, "");
    send.disabled = true;
    try {
      await submit(form);
      if (!keep) dialog.close();
    } catch (error) {
      const [place, input, text] = blame(form, error.message);
      if (!place) say(general, error.message, "error");
      else place.textContent = text;
      input?.setAttribute("aria-invalid", "true");
      input?.focus();
    }
    send.disabled = false;
  });
  dialog.addEventListener("cancel", (event) => keep && event.preventDefault());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

// blame finds the field that an error names: its place for errors, its input, and the message.
function blame(form, message) {
  const placeOf = (name) => form.querySelector(`[data-error="${CSS.escape(name ?? "")}"]`);
  const inputs = (name) => form.querySelectorAll(`[name="${CSS.escape(name)}"]`);
  const words = message.split(": ");
  if (placeOf(words[1])) words.shift(); // restrictions: origins: …
  const [name, ...rest] = words;
  const element = /^element (\d+)$/.exec(rest[0])?.[1];
  const input = inputs(name + ".limit")[element] ?? inputs(name)[0];
  if (element) rest[0] = "number " + (Number(element) + 1);
  return [placeOf(name), input, rest.join(": ")];
}

// problem makes the place for the error of a field.
export const problem = (name, id) => el("p", { id, class: "field-error", "data-error": name });

// field makes an input with its label, a hint and a place for its error.
export function field(name, label, input, hint) {
  const id = `field-${name}-${++count}`;
  Object.assign(input, { id, name });
  input.setAttribute("aria-describedby", `${id}-error ${id}-hint`);
  return el("div", { class: "field" }, el("label", { htmlFor: id }, label), input,
    hint && el("p", { id: id + "-hint", class: "quiet" }, hint), problem(name, id + "-error"));
}

export const check = (name, value, checked, ...text) =>
  el("label", { class: "check" }, el("input", { type: "checkbox", name, value, checked }), el("span", {}, ...text));
