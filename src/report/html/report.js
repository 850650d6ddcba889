"use strict";
// Tables of a report: sorted, filtered and shown a screen at a time, so that a hundred thousand rows are no more
// work than fifty. Text from the site reaches the document as text only.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const built = data.built;
  const SCREEN = 50;
  const TYPES = ["html", "css", "js", "image", "font", "media", "other"];
  const STATES = data.states;
  const whole = new Intl.NumberFormat("en");

  function make(name, attributes, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value !== null && value !== undefined) element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
  }

  function draw(name, attributes, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  function size(bytes) {
    if (bytes === null || bytes === undefined) return "";
    const amount = Math.abs(bytes);
    const [unit, name] = amount < 1000 ? [1, "B"] : amount < 999950 ? [1e3, "kB"] : [1e6, "MB"];
    const digits = unit === 1 ? 0 : 1;
    return (bytes / unit).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })
      + " " + name;
  }

  function change(before, after) {
    if (before === after) return "same";
    if (before === 0) return "new";
    const percent = (after - before) / before * 100;
    return (percent > 0 ? "+" : "\u2212") + Math.abs(percent).toFixed(1) + " %";
  }

  // "14 -> 2" with what that means for people who do not see the colour.
  function pair(before, after, show) {
    if (!built || after === undefined) return [document.createTextNode(show(before))];
    if (before === after) return [document.createTextNode(show(after) + " ")];
    const kind = after < before ? "good" : "bad";
    return [
      make("span", { class: "soft wide" }, show(before) + " \u2192 "),
      document.createTextNode(show(after) + " "),
      make("span", { class: kind }, change(before, after)),
    ];
  }

  // A table whose body is filled here. columns: { key(row), numeric }; draw(row) gives the cells of a row.
  function table(id, rows, columns, cells, options) {
    const root = document.getElementById(id);
    if (!root) return;
    const body = root.querySelector("tbody");
    const status = root.querySelector("[role=status]");
    const search = root.querySelector("input[type=search]");
    const choice = root.querySelector("select");
    const [back, on] = root.querySelectorAll(".pager button");
    const heads = [...root.querySelectorAll("thead th")];
    let order = rows.map((_, index) => index);
    let shown = order;
    let start = 0;
    let sorted = options.sorted;
    const texts = [];
    const text = (index) => texts[index] ?? (texts[index] = options.text(rows[index]).toLowerCase());

    function sort() {
      const [column, direction] = sorted;
      const key = columns[column].key;
      const keys = rows.map(key);
      const compare = columns[column].numeric
        ? (a, b) => keys[a] - keys[b]
        : (a, b) => (keys[a] < keys[b] ? -1 : keys[a] > keys[b] ? 1 : 0);
      order.sort((a, b) => direction * compare(a, b) || a - b);
      heads.forEach((head, index) => {
        if (!head.querySelector("button")) return;
        const now = index === column ? (direction > 0 ? "ascending" : "descending") : "none";
        head.setAttribute("aria-sort", now);
      });
    }

    function filter() {
      const words = (search ? search.value : "").toLowerCase().split(/\s+/).filter(Boolean);
      const wanted = choice ? choice.value : "";
      shown = order.filter((index) => words.every((word) => text(index).includes(word))
        && (!wanted || options.choose(rows[index], wanted)));
      start = 0;
      show();
    }

    function show() {
      const screen = shown.slice(start, start + SCREEN);
      body.replaceChildren(...screen.map((index) => cells(rows[index], index)));
      back.disabled = start === 0;
      on.disabled = start + SCREEN >= shown.length;
      const range = shown.length > SCREEN
        ? `${whole.format(start + 1)} to ${whole.format(start + screen.length)} of ` : "";
      const of = shown.length === rows.length ? "" : ` of ${whole.format(rows.length)}`;
      status.textContent = `${range}${whole.format(shown.length)} ${options.noun}${shown.length === 1 ? "" : "s"}${of}`;
    }

    heads.forEach((head, index) => {
      const button = head.querySelector("button");
      if (!button) return;
      button.addEventListener("click", () => {
        const first = columns[index].numeric ? -1 : 1;
        sorted = [index, sorted[0] === index ? -sorted[1] : first];
        sort();
        filter();
      });
    });
    let waiting = 0;
    search?.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(filter, 80);
    });
    choice?.addEventListener("change", filter);
    back.addEventListener("click", () => {
      start = Math.max(0, start - SCREEN);
      show();
    });
    on.addEventListener("click", () => {
      if (start + SCREEN < shown.length) start += SCREEN;
      show();
    });
    sort();
    filter();
  }

  // Paths are stored by what differs from the one before; numbers of OUT as differences.
  function unpack(packed) {
    let last = "";
    return packed.map((row, index) => {
      const path = last.slice(0, row[0]) + row[1];
      last = path;
      const [requests, bytes, again, againBytes] = row.slice(2, 6);
      const gone = built ? row.slice(6, 10) : [0, 0, 0, 0];
      return {
        path, index,
        before: [requests, bytes, again, againBytes],
        after: [requests - gone[0], bytes - gone[1], again - gone[2], againBytes - gone[3]],
        over: (row[10] || 0) >> 1,
        scripts: (row[10] || 0) % 2 === 1,
      };
    });
  }

  function requestsOf(page) {
    const packed = data.requests[page.index];
    if (!packed) return null;
    const list = [{
      url: "/" + page.path, type: "html", by: "the visitor", state: "page",
      sizes: [packed[0], built ? packed[1] : null], made: [true, built],
    }];
    for (let at = 2; at < packed.length; at += 3) {
      const [url, type, before, after] = data.resources[packed[at]];
      const state = STATES[packed[at + 2]];
      const made = [state[1] === 1, built && state[2] === 1];
      list.push({
        url, type: TYPES[type], by: data.initiators[packed[at + 1]], state: state[0],
        sizes: [made[0] ? before : null, made[1] ? after : null], made,
      });
    }
    return list;
  }

  // Bytes in place of time: what a request waits for stands to the left of it.
  function waterfall(list, side) {
    const places = [];
    let end = 0;
    list.forEach((request, index) => {
      if (!request.made[side]) return;
      let start = index === 0 ? 0 : list[0].sizes[side];
      const parent = list.findIndex((other, at) => places[at] && at > 0
        && (other.url.split("?")[0].endsWith("/" + request.by)));
      if (parent > 0) start = places[parent][0] + places[parent][1];
      places[index] = [start, request.sizes[side] || 0];
      end = Math.max(end, start + (request.sizes[side] || 0));
    });
    return [places, end];
  }

  function detail(page, id) {
    const list = requestsOf(page);
    const cell = make("td", { colspan: "5" });
    if (!list) {
      cell.append(make("p", {}, "The requests of this page are not in this file, which stays small: "
        + "a report as JSON has those of all pages."));
      return make("tr", { class: "detail", id }, cell);
    }
    const sides = built ? [0, 1] : [0];
    const falls = sides.map((side) => waterfall(list, side));
    const end = Math.max(1, ...falls.map((fall) => fall[1]));
    const numbers = ["First view: ", ...pair(page.before[0], page.after[0], (n) => whole.format(n)), " requests, ",
      ...pair(page.before[1], page.after[1], size), ". Follow-up view: ",
      ...pair(page.before[2], page.after[2], (n) => whole.format(n)), " requests, ",
      ...pair(page.before[3], page.after[3], size), "."];
    const head = (name, kind) => make("th", { scope: "col", class: kind }, name);
    const rows = list.map((request, index) => {
      const bars = sides.flatMap((side) => {
        const place = falls[side][0][index];
        if (!place) return [];
        return [draw("rect", {
          class: request.type + (built && side === 0 ? " before" : ""),
          x: 1000 * place[0] / end, width: Math.max(4, 1000 * place[1] / end),
          y: built && side === 1 ? 11 : 1, height: built ? 8 : 14,
        })];
      });
      const picture = draw("svg", { viewBox: "0 0 1000 20", preserveAspectRatio: "none", "aria-hidden": "true" },
        ...bars);
      const now = request.sizes[built ? 1 : 0];
      const counted = request.made[0] || request.made[1];
      const gone = built && request.made[0] && !request.made[1];
      return make("tr", { class: request.state + (gone ? " gone" : "") },
        make("th", { scope: "row", class: "path" }, request.url),
        make("td", { class: "wide type " + request.type }, make("i", {}), request.type),
        make("td", { class: "wide" }, request.by),
        make("td", {}, make("span", { class: "badge" }, request.state)),
        ...(built ? [make("td", { class: "n was wide" }, counted ? size(request.sizes[0]) : "")] : []),
        make("td", { class: "n" }, counted ? (now === null ? "none" : size(now)) : "not counted"),
        make("td", { class: "fall" }, picture));
    });
    cell.append(
      make("p", {}, ...numbers,
        page.scripts ? " The page runs scripts: what these ask for is unknown here and not counted." : ""),
      make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Requests of " + page.path },
        make("table", {},
          make("caption", {}, built
            ? "Requests, with SITE above and OUT below in the last column; its scale is bytes, not time"
            : "Requests; the scale of the last column is bytes, not time"),
          make("thead", {}, make("tr", {}, head("Request"), head("Type", "wide"), head("Asked for by", "wide"),
            head("Became"), ...(built ? [head("Before", "n wide")] : []), head(built ? "After" : "Size", "n"),
            head("Waterfall"))),
          make("tbody", {}, ...rows))));
    return make("tr", { class: "detail", id }, cell);
  }

  const pages = unpack(data.pages);
  const now = (page) => built ? page.after : page.before;
  const difference = (page, at) => built ? page.before[at] - page.after[at] : page.before[at];
  const numbers = [0, 1, 2, 3].map((at) => ({ numeric: true, key: (page) => now(page)[at] }));
  table("pages", pages, [{ key: (page) => page.path }, ...numbers], (page) => {
    const id = "requests-" + page.index;
    const button = make("button", { type: "button", class: "open path", "aria-expanded": "false" }, page.path);
    const cell = (at, show, kind) => make("td", { class: "n " + kind }, ...pair(page.before[at], page.after[at], show));
    const count = (n) => whole.format(n);
    const row = make("tr", { class: page.over ? "over" : null },
      make("th", { scope: "row" }, button, ...(page.over ? [" ", make("span", { class: "badge bad" }, "over budget")] : [])),
      cell(0, count, ""), cell(1, size, ""), cell(2, count, "wide"), cell(3, size, "wide"));
    button.addEventListener("click", () => {
      const open = document.getElementById(id);
      if (open) {
        open.remove();
        button.removeAttribute("aria-controls");
      } else {
        row.after(detail(page, id));
        button.setAttribute("aria-controls", id);
      }
      button.setAttribute("aria-expanded", String(!open));
    });
    return row;
  }, {
    noun: "page",
    sorted: [1, -1],
    text: (page) => page.path,
    choose: (page, wanted) => wanted === "over" ? page.over > 0
      : wanted === "fewer" ? difference(page, 0) > 0 : difference(page, 0) === 0,
  });

  const signed = (number, show) => number === 0 ? "" : (number > 0 ? "+" : "\u2212") + show(Math.abs(number));
  const amount = (at, show) => (row) => make("td", { class: "n" + (at === 3 ? "" : " wide") }, signed(row[at], show));
  table("decisions", data.decisions, [
    { key: (row) => row[0] }, { key: (row) => row[1] }, { key: (row) => data.reasons[row[2]] },
    { key: (row) => -row[3], numeric: true }, { key: (row) => -row[4], numeric: true },
  ], (row) => make("tr", {},
    make("th", { scope: "row", class: "path" }, row[0]), make("td", {}, row[1]),
    make("td", {}, data.reasons[row[2]]),
    amount(3, (n) => whole.format(n))(row), amount(4, size)(row)),
  {
    noun: "decision",
    sorted: [0, 1],
    text: (row) => row[0] + " " + row[1] + " " + data.reasons[row[2]],
    choose: (row, wanted) => row[1] === wanted,
  });

  table("diagnostics", data.diagnostics, [
    { key: (row) => row[0] }, { key: (row) => row[2] }, { key: (row) => row[4] },
  ], (row) => make("tr", {},
    make("th", { scope: "row", class: "path" }, row[0] + (row[1] ? ":" + row[1] : "")),
    make("td", {}, make("span", { class: "badge" + (row[3] === "warning" ? " bad" : "") }, row[3]), " " + row[2]),
    make("td", {}, row[4])),
  {
    noun: "diagnostic",
    sorted: [0, 1],
    text: (row) => row.join(" "),
    choose: (row, wanted) => row[3] === wanted,
  });
})();
