/* help - which keys there are, and whose work is in the page. */
import notices from "cg:notices";
import { button, h } from "./dom";

export function showHelp(sections: [string, [string, string][]][]): void {
  const opened = document.activeElement;
  const dialog = h("dialog", { "aria-labelledby": "cg-help-title" });
  dialog.append(h("h2", { id: "cg-help-title" }, "Keys"));
  for (const [title, keys] of sections) {
    if (keys.length === 0) continue;
    dialog.append(h("h3", {}, title), h("dl", {}, ...keys.flatMap(([key, words]) =>
      [h("dt", {}, ...key.split(" ").map((part) => h("kbd", {}, part))), h("dd", {}, words)])));
  }
  dialog.append(h("h2", {}, "Licences"),
    h("p", {}, "This page is a file of its own: it asks no network for anything. It contains:"));
  for (const notice of notices)
    dialog.append(h("details", {}, h("summary", {}, `${notice.name} ${notice.version} (${notice.licence})`),
      h("pre", { tabindex: "0" }, notice.text)));
  dialog.append(button("Close", () => dialog.close(), { autofocus: true }));
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (opened instanceof HTMLElement) opened.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
}
