/*
 * What the pages of a run and of a model have in common: the island, texts and tables, tabs,
 * colours. Everything from the island reaches the document as text, by show(): control,
 * zero-width and direction characters are made visible, long texts are shortened visibly.
 * A number that a double cannot hold stays a text of digits.
 */
"use strict";
const cg = (function () {
  const DASH = "\u2014";
  const byId = (id) => document.getElementById(id);

  /* ---- the island ---- */

  /* Integers beyond 2^53 in quotes, so that no digit is lost. */
  function quoteLarge(text) {
    const number = /-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
    const out = [];
    let done = 0;
    if (!/[0-9]{16}/.test(text)) return text;
    for (let at = 0; at < text.length;) {
      const code = text.charCodeAt(at);
      if (code === 34) {
        for (at++; at < text.length && text.charCodeAt(at) !== 34; at++)
          if (text.charCodeAt(at) === 92) at++;
        at++;
      } else if (code === 45 || (code >= 48 && code <= 57)) {
        number.lastIndex = at;
        const found = number.exec(text);
        if (found === null) break;
        if (!found[1] && !found[2] && !Number.isSafeInteger(Number(found[0]))) {
          out.push(text.slice(done, at), '"', found[0], '"');
          done = number.lastIndex;
        }
        at = number.lastIndex;
      } else {
        at++;
      }
    }
    out.push(text.slice(done));
    return out.join("");
  }

  const data = JSON.parse(quoteLarge(byId("cg-payload").textContent));
  const cuts = new Map((data.bounded ? data.bounded.lists : []).map((cut) => [cut.list, cut.total]));
  /* How long a list is outside of this page. */
  const whole = (path, list) => cuts.has(path) ? cuts.get(path) : list.length;

  /* ---- words and numbers ---- */

  const hidden = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

  function show(value, limit) {
    const most = limit || 160;
    let text = value === null || value === undefined || value === "" ? DASH : String(value);
    if (text.length > most) {
      const half = Math.floor(most / 2);
      text = text.slice(0, half) + " \u2026 (" + (text.length - 2 * half) + " more) \u2026 " +
        text.slice(-half);
    }
    return text.replace(hidden, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
  }

  const known = (value) => value !== null && value !== undefined;

  function ms(value) {
    const amount = Number(value) / 1e6;
    if (!known(value)) return DASH;
    return (amount > 0 && amount < 0.005 ? "<0.01" : amount.toFixed(2)) + " ms";
  }

  function bytes(value) {
    const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let amount = Number(value);
    let unit = 0;
    if (!known(value)) return DASH;
    while (amount >= 1024 && unit < units.length - 1) {
      amount /= 1024;
      unit++;
    }
    return unit === 0 ? amount + " B" : amount.toFixed(2) + " " + units[unit];
  }

  const shape = (axes) => known(axes) ? "[" + axes.join(", ") + "]" : DASH;
  const yesNo = (value) => value ? "yes" : "no";

  /* ---- elements ---- */

  function make(tag, kind, ...inside) {
    const element = document.createElement(tag);
    if (kind) element.className = kind;
    for (const part of inside)
      element.append(part instanceof Node ? part : document.createTextNode(String(part)));
    return element;
  }

  const text = (value, limit) => make("span", "data", show(value, limit));
  const empty = (words) => make("p", "empty", words);

  /* The exact figure stays at hand. */
  function figure(shown, exact, unit) {
    const element = make("span", "", shown);
    if (known(exact)) element.title = exact + " " + unit;
    return element;
  }
  const time = (ns) => figure(ms(ns), ns, "ns");
  const size = (count) => figure(bytes(count), count, "B");

  function pairs(rows) {
    const list = make("dl");
    for (const [name, value] of rows)
      list.append(make("dt", "", text(name)), make("dd", "", value instanceof Node ? value : text(value, 400)));
    return list;
  }

  function list(words) {
    return make("ul", "", ...words.map((word) => make("li", "", text(word, 800))));
  }

  /*
   * A table of `columns` [title, cell, is_number]; `total` rows exist, `step` are shown at first,
   * a button shows more of those that are here.
   */
  function table(caption, columns, rows, step, total) {
    const all = known(total) ? total : rows.length;
    const body = make("tbody");
    const title = make("caption");
    const more = make("button", "", "");
    let shown = 0;

    function grow() {
      const end = Math.min(rows.length, shown + step);
      for (; shown < end; shown++) {
        const line = make("tr");
        columns.forEach(([, cell, isNumber], index) => {
          const value = cell(rows[shown], shown);
          const box = make(index === 0 ? "th" : "td", isNumber ? "number" : "",
            value instanceof Node ? value : text(value));
          if (index === 0) box.scope = "row";
          line.append(box);
        });
        body.append(line);
      }
      title.textContent = caption + (shown < Number(all) ? ": showing " + shown + " of " + all
        : " (" + all + ")");
      more.textContent = "Show " + Math.min(step, rows.length - shown) + " more";
      more.hidden = shown >= rows.length;
    }

    const head = make("tr", "", ...columns.map(([name, , isNumber]) => {
      const box = make("th", isNumber ? "number" : "", name);
      box.scope = "col";
      return box;
    }));
    more.type = "button";
    more.addEventListener("click", grow);
    grow();
    return make("div", "", make("div", "scroll", make("table", "", title, make("thead", "", head), body)), more);
  }

  /* ---- the page around the views ---- */

  /*
   * Views by name, each with the function that draws it into its section when it is first looked
   * at; `again` is told of every opening, the first included.
   */
  function tabs(drawers, again) {
    const names = Array.from(drawers.keys());
    const drawn = new Set();

    function open(name, takesFocus) {
      for (const other of names) {
        const tab = byId("tab-" + other);
        const isOpen = other === name;
        tab.setAttribute("aria-selected", String(isOpen));
        tab.tabIndex = isOpen ? 0 : -1;
        byId("view-" + other).hidden = !isOpen;
        if (isOpen && takesFocus) tab.focus();
      }
      const isFirst = !drawn.has(name);
      again(name, isFirst);
      if (!isFirst) return;
      drawn.add(name);
      drawers.get(name)(byId("view-" + name));
    }

    function openByKey(event) {
      const at = names.findIndex((name) => byId("tab-" + name) === event.currentTarget);
      const to = new Map([["ArrowRight", (at + 1) % names.length], ["ArrowLeft", (at + names.length - 1) % names.length],
        ["Home", 0], ["End", names.length - 1]]).get(event.key);
      if (to === undefined) return;
      event.preventDefault();
      open(names[to], true);
    }

    for (const name of names) {
      byId("tab-" + name).addEventListener("click", () => open(name, false));
      byId("tab-" + name).addEventListener("keydown", openByKey);
    }
    return open;
  }

  /* Storage may be refused, as on file addresses. */
  function storedTheme() {
    try {
      return window.localStorage.getItem("cg-theme");
    } catch (refused) {
      return null;
    }
  }

  function setTheme(theme, keeps) {
    document.documentElement.dataset.theme = theme;
    byId("cg-theme").textContent = theme === "dark" ? "Light" : "Dark";
    byId("cg-theme").setAttribute("aria-label", "Switch to " + (theme === "dark" ? "light" : "dark") + " colours");
    if (!keeps) return;
    try {
      window.localStorage.setItem("cg-theme", theme);
    } catch (refused) { /* then it holds for this visit */ }
  }

  function startTheme() {
    const stored = storedTheme();

    setTheme(stored === "dark" || stored === "light" ? stored
      : window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light", false);
    byId("cg-theme").addEventListener("click", () =>
      setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark", true));
  }

  return {
    DASH, byId, data, cuts, whole, show, known, ms, bytes, shape, yesNo,
    make, text, empty, time, size, pairs, list, table, tabs, startTheme,
  };
})();
