// A virtual list: only the visible rows are in the document.
import { el } from "./shared/dom.js";

const rowHeight = 26; // pixels, as in the style sheet

// windowedList fills a listbox. row(index) returns {text, class}. chosen(index) is called for the row under the pointer
// or the cursor, -1 for none; opened(index) for a click, or Enter.
export function windowedList(box, { row, chosen, opened }) {
  const height = el("div", { class: "height", role: "presentation" });
  box.replaceChildren(height);
  let count = 0, at = -1;
  const select = (index, show) => {
    at = index;
    if (show && index >= 0) {
      const top = index * rowHeight;
      if (top < box.scrollTop) box.scrollTop = top;
      if (top + rowHeight > box.scrollTop + box.clientHeight) box.scrollTop = top + rowHeight - box.clientHeight;
    }
    draw();
  };
  const choose = (index) => {
    select(index, true);
    chosen(index);
  };
  const draw = () => {
    const first = Math.max(0, Math.floor(box.scrollTop / rowHeight) - 4);
    const last = Math.min(count, first + Math.ceil((box.clientHeight || 200) / rowHeight) + 8);
    const rows = [];
    for (let i = first; i < last; i++) {
      const { text, class: name } = row(i);
      const node = el("div", { class: "option " + (name ?? ""), role: "option", id: `${box.id}-${i}`, dir: "auto",
        "aria-selected": String(i === at), "aria-setsize": count, "aria-posinset": i + 1, "data-index": i }, text);
      node.style.top = i * rowHeight + "px";
      rows.push(node);
    }
    height.replaceChildren(...rows);
    if (at >= first && at < last) box.setAttribute("aria-activedescendant", box.id + "-" + at);
    else box.removeAttribute("aria-activedescendant");
  };
  const indexOf = (event) => Number(event.target.closest(".option")?.dataset.index ?? -1);
  box.addEventListener("scroll", draw);
  box.addEventListener("mousemove", (event) => {
    const index = indexOf(event);
    if (index >= 0 && index !== at) { select(index, false); chosen(index); }
  });
  box.addEventListener("mouseleave", () => { select(-1, false); chosen(-1); });
  box.addEventListener("click", (event) => { if (indexOf(event) >= 0) opened(indexOf(event)); });
  box.addEventListener("keydown", (event) => {
    const page = Math.floor(box.clientHeight / rowHeight);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page,
      Home: 0, End: count - 1 }[event.key];
    if (to !== undefined && count) {
      choose(Math.min(count - 1, Math.max(0, to)));
      event.preventDefault();
    } else if (event.key === "Enter" && at >= 0) opened(at);
  });
  return {
    show(n) {
      count = n;
      at = -1;
      height.style.height = n * rowHeight + "px";
      box.scrollTop = 0;
      draw();
    },
    select: (index) => select(index, true),
  };
}
