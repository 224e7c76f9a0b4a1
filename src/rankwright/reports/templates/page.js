// Draws the charts, sorts the tables and runs the query browser. All names are set as text, never as HTML.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);

  /** Return a new element with these properties and children. */
  function make(tag, properties = {}, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  // ---- Charts -------------------------------------------------------------------------------------------------

  const darkScheme = matchMedia("(prefers-color-scheme: dark)");
  const drawn = [];

  const LETTER = 7; // mean width of a letter of titles, in pixels

  /** Return a title in lines of at most so many pixels; words are not divided. */
  function wrapped(title, width) {
    const lines = [];
    for (const word of String(title).split(" ")) {
      const longer = `${lines.at(-1)} ${word}`;
      if (lines.length && longer.length * LETTER <= width) lines[lines.length - 1] = longer;
      else lines.push(word);
    }
    return lines;
  }

  /** Return a specification that fills its figure. */
  function fitted(spec) {
    return { ...spec, width: "container", autosize: { type: "fit-x", contains: "padding" } };
  }

  /** Return a function that wraps the titles and legends of a compiled chart of this width, which would be cut off. */
  function wrappedWithin(width, spec) {
    const series = spec.layer.flatMap(({ encoding }) => encoding?.color?.scale?.domain ?? []);
    const widest = Math.max(1, ...series.map((name) => String(name).length)) * LETTER + 45; // with symbol and gap
    const columns = Math.max(1, Math.floor(width / widest));
    const names = spec.layer.flatMap(({ encoding }) => encoding?.y?.sort ?? []); // down the left side
    const labelLimit = Math.min(220, 0.4 * width);
    const labels = Math.min(labelLimit, Math.max(40, ...names.map((name) => name.length * LETTER)));
    return (vega) => {
      const beside = width - labels - 30;
      for (const axis of vega.axes ?? []) {
        if (axis.orient === "left") axis.labelLimit = labelLimit;
        if (typeof axis.title === "string") Object.assign(axis, { title: wrapped(axis.title, beside), titleLimit: beside });
      }
      if (columns < new Set(series).size) for (const legend of vega.legends ?? []) legend.columns = columns;
      const { title } = vega;
      if (typeof title?.text === "string") Object.assign(title, { text: wrapped(title.text, width - 16), limit: width - 16 });
      return vega;
    };
  }

  async function draw(number, theme) {
    const { spec, compares } = data.charts[number];
    const place = byId(`chart-${number}`).firstElementChild; // hidden from screen readers, its parent has the text
    const patch = wrappedWithin(place.clientWidth, spec);
    const options = { config: data.themes[theme], actions: false, renderer: "svg", tooltip: { theme }, patch };
    drawn[number]?.finalize();
    drawn[number] = await vegaEmbed(place, fitted(spec), options);
    if (compares) {
      drawn[number].view.addEventListener("click", (_, item) => {
        const query = item?.datum?.query;
        if (query !== undefined && browser) browser.open(String(query), compares);
      });
    }
  }

  const figureOf = (number) => byId(`chart-${number}`).closest("figure");

  /** Draw the charts that are shown; a hidden one has no width, and is drawn when it is chosen. */
  function drawAll(theme) {
    return Promise.all(data.charts.map((_, number) => (figureOf(number).hidden ? null : draw(number, theme))));
  }

  function currentTheme() {
    return darkScheme.matches ? "dark" : "light";
  }

  async function saveChart(number, format) {
    const { view } = drawn[number];
    const url =
      format === "svg"
        ? URL.createObjectURL(new Blob([await view.toSVG()], { type: "image/svg+xml" }))
        : await view.toImageURL("png", 2);
    make("a", { href: url, download: `chart-${number + 1}.${format}` }).click();
  }

  for (const choice of document.querySelectorAll(".choice")) {
    choice.addEventListener("change", () => {
      const figures = [...choice.closest(".choices").querySelectorAll("figure")];
      figures.forEach((figure, place) => (figure.hidden = place !== choice.selectedIndex));
      drawAll(currentTheme());
    });
  }

  for (const button of document.querySelectorAll(".save button")) {
    button.addEventListener("click", () => saveChart(Number(button.dataset.chart), button.dataset.format));
  }

  // ---- Tables -------------------------------------------------------------------------------------------------

  /** Return the value of a row in a column: a number, a text, or null if it is unknown. */
  function cellValue(row, column, isText) {
    const cell = row.cells[column];
    if (isText) return cell.textContent.trim().toLowerCase() || null;
    return cell.dataset.value === undefined ? null : Number(cell.dataset.value);
  }

  function compareValues(one, other) {
    return typeof one === "string" ? one.localeCompare(other, undefined, { numeric: true }) : one - other;
  }

  function sortTable(heading) {
    const table = heading.closest("table");
    const column = heading.cellIndex;
    const isText = heading.classList.contains("words");
    const before = heading.getAttribute("aria-sort");
    const first = isText ? "ascending" : "descending";
    const second = isText ? "descending" : "ascending";
    const order = before === first ? second : first;
    for (const one of table.tHead.rows[0].cells) one.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", order);
    const body = table.tBodies[0];
    const keyed = [...body.rows].map((row) => [cellValue(row, column, isText), row]);
    keyed.sort(([one], [other]) => {
      if (one === null || other === null) return (one === null) - (other === null); // unknown values are last
      return compareValues(one, other) * (order === "ascending" ? 1 : -1);
    });
    body.append(...keyed.map(([, row]) => row));
  }

  for (const button of document.querySelectorAll("button.sort")) {
    button.addEventListener("click", () => sortTable(button.closest("th")));
  }

  /** Let the keyboard scroll what is wider than the page. */
  function markScrollable() {
    for (const area of document.querySelectorAll(".wide")) {
      const scrolls = area.scrollWidth > area.clientWidth;
      for (const [name, value] of [["tabindex", "0"], ["role", "region"], ["aria-label", area.dataset.label]]) {
        if (scrolls) area.setAttribute(name, value);
        else area.removeAttribute(name);
      }
    }
  }

  // ---- Query browser ------------------------------------------------------------------------------------------

  const MINUS = "\u2212";
  const UNKNOWN = "\u2013";
  const SHOWN_AT_FIRST = 10; // documents of a list

  function shortNumber(number) {
    if (number === null) return UNKNOWN;
    const size = Math.abs(number);
    const text = size !== 0 && (size >= 1e5 || size < 1e-3) ? size.toExponential(2) : size.toFixed(3);
    return number < 0 ? MINUS + text : text;
  }

  const signed = (number) => (number > 0 ? "+" : "") + shortNumber(number);
  const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

  /** Return a name that is shortened in the middle if it is too long: names often differ only at the end. */
  function shortenedName(name) {
    const letters = [...name];
    const end = letters.splice(-8).join("");
    return make("span", { className: "name ends", title: name }, make("span", {}, letters.join("")), make("span", {}, end));
  }

  /** Return a text, which is a link if it is the address of a web page. */
  function linked(text) {
    if (!/^https?:\/\/\S+$/i.test(text)) return make("span", {}, text);
    return make("a", { href: text, rel: "noopener noreferrer", target: "_blank" }, text);
  }

  /** Return a bar that grows from the middle: to the right and blue if positive, to the left and orange if not. */
  function signedBar(fraction) {
    const bar = make("span", { className: `signed ${fraction < 0 ? "minus" : "plus"}` }, make("span"));
    bar.firstChild.style.width = `${Math.min(1, Math.abs(fraction)) * 50}%`;
    bar.setAttribute("aria-hidden", "true");
    return bar;
  }

  class QueryBrowser {
    constructor({ metric, systems, features, highest, queries }) {
      Object.assign(this, { metric, systems, features, highest, queries });
      this.left = 0;
      this.right = Math.min(1, systems.length - 1);
      this.listed = []; // the queries that match the search, in their order
      this.whole = false; // whether lists are shown to their end
      for (const side of ["left", "right"]) this.fillSystems(side);
      this.listen();
      this.refresh();
      this.show(this.listed[0]);
    }

    fillSystems(side) {
      const choice = byId(`${side}-system`);
      choice.append(...this.systems.map((name, place) => make("option", { value: place, textContent: name })));
      choice.value = this[side];
      choice.addEventListener("change", () => this.choose({ [side]: Number(choice.value) }));
    }

    listen() {
      byId("swap").addEventListener("click", () => this.choose({ left: this.right, right: this.left }));
      byId("find").addEventListener("input", () => this.refresh());
      byId("order").addEventListener("change", () => this.refresh());
      byId("previous").addEventListener("click", () => this.step(-1));
      byId("next").addEventListener("click", () => this.step(1));
      byId("queries").addEventListener("keydown", (event) => this.pressed(event));
      byId("find").addEventListener("keydown", (event) => {
        if (["ArrowDown", "ArrowUp", "Enter"].includes(event.key)) this.pressed(event);
      });
      byId("queries").addEventListener("click", (event) => {
        const option = event.target.closest("li");
        if (option) this.show(this.queries[Number(option.dataset.query)]);
      });
      for (const side of ["left", "right"]) {
        const list = byId(`${side}-list`);
        list.nextElementSibling.addEventListener("click", () => {
          this.whole = !this.whole;
          this.show(this.query);
        });
        list.addEventListener("pointerover", (event) => this.mark(event.target.closest("li.document")));
        list.addEventListener("pointerleave", () => this.mark(null));
      }
    }

    /** Move with the arrow keys, by ten with the page keys, to the ends with Home and End. */
    pressed(event) {
      const last = this.listed.length - 1;
      const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -last, End: last };
      if (event.key === "Enter") this.show(this.listed[0]);
      else if (event.key in steps) this.step(steps[event.key]);
      else return;
      event.preventDefault();
    }

    step(by) {
      const place = this.listed.indexOf(this.query);
      const wanted = place < 0 ? 0 : place + by;
      this.show(this.listed[Math.max(0, Math.min(this.listed.length - 1, wanted))]);
    }

    choose(systems) {
      Object.assign(this, systems);
      for (const side of ["left", "right"]) byId(`${side}-system`).value = this[side];
      this.refresh();
      this.show(this.query);
    }

    /** Open a query from elsewhere on the page, with these two systems. */
    open(name, systems) {
      const [left, right] = systems.map((one) => this.systems.indexOf(one));
      if (left >= 0 && right >= 0) this.choose({ left, right });
      byId("find").value = "";
      this.refresh();
      const query = this.queries.find((one) => one.id === name);
      if (query) this.show(query);
      else byId("query-facts").textContent = `Query ${name} is not among those that this page keeps.`;
      byId("browser").scrollIntoView({ block: "start" });
      byId("query-name").focus({ preventScroll: true });
    }

    difference(query) {
      const [one, other] = [query.values[this.left], query.values[this.right]];
      return one === null || other === null ? null : one - other;
    }

    /** List the queries that match the search again, in the order that was chosen. */
    refresh() {
      const wanted = byId("find").value.trim().toLowerCase();
      const keys = {
        most: (query) => -Math.abs(this.difference(query) ?? 0),
        left: (query) => -(this.difference(query) ?? 0),
        right: (query) => this.difference(query) ?? 0,
        name: (query) => query.id,
      };
      const key = keys[byId("order").value];
      this.listed = this.queries.filter(({ id, text }) => `${text} ${id}`.toLowerCase().includes(wanted));
      this.listed.sort((one, other) => compareValues(key(one), key(other)));
      const largest = Math.max(1e-9, ...this.queries.map((query) => Math.abs(this.difference(query) ?? 0)));
      byId("queries").replaceChildren(...this.listed.map((query) => this.option(query, largest)));
      if (!this.listed.length) byId("queries").append(make("li", { className: "none" }, "No query has that name."));
      this.select();
    }

    option(query, largest) {
      const difference = this.difference(query);
      const option = make(
        "li",
        { id: `query-${this.queries.indexOf(query)}` },
        query.text ? make("span", { className: "name", textContent: query.text, title: query.text }) : shortenedName(query.id),
        signedBar((difference ?? 0) / largest),
        make("span", { className: "number", textContent: signed(difference) }),
      );
      option.dataset.query = this.queries.indexOf(query);
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", "false");
      return option;
    }

    /** Mark the query that is shown in the list of queries, and bring it into view there. */
    select() {
      const list = byId("queries");
      const place = this.queries.indexOf(this.query);
      list.removeAttribute("aria-activedescendant");
      for (const option of list.querySelectorAll("[role=option]")) {
        const chosen = Number(option.dataset.query) === place;
        option.setAttribute("aria-selected", String(chosen));
        if (!chosen) continue;
        list.setAttribute("aria-activedescendant", option.id);
        const [top, bottom] = [option.offsetTop, option.offsetTop + option.offsetHeight];
        if (top < list.scrollTop) list.scrollTop = top;
        else if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
      }
      const number = this.listed.indexOf(this.query);
      byId("previous").disabled = number <= 0;
      byId("next").disabled = number < 0 || number >= this.listed.length - 1;
    }

    show(query) {
      if (!query) return;
      this.query = query;
      this.select();
      byId("query-name").textContent = query.text || `Query ${query.id}`;
      const difference = this.difference(query);
      const compared = difference === null ? "left out of the mean" : `left ${MINUS} right ${signed(difference)} ${this.metric}`;
      byId("query-facts").textContent = `${query.text ? `Query ${query.id}: ` : ""}${plural(query.count, "document")}, ${query.relevant} relevant; ${compared}`;
      this.showList("left", this.left, this.right);
      this.showList("right", this.right, this.left);
    }

    showList(side, system, other) {
      const { query } = this;
      const list = query.lists[system];
      byId(`${side}-name`).replaceChildren(
        make("span", { className: "name", textContent: this.systems[system] }),
        make("span", { className: "number", textContent: shortNumber(query.values[system]) }),
      );
      const largest = Math.max(1e-9, ...list.flatMap(([, , moved]) => moved.map(([, , amount]) => Math.abs(amount))));
      const shown = this.whole ? list : list.slice(0, SHOWN_AT_FIRST);
      byId(`${side}-list`).replaceChildren(...shown.map((entry) => this.entry(entry, system, other, largest)));
      const more = byId(`${side}-list`).nextElementSibling;
      more.hidden = list.length <= SHOWN_AT_FIRST;
      const all = list.length === query.count ? `all ${list.length}` : `the first ${list.length} of ${query.count}`;
      more.textContent = `Show ${this.whole ? `the first ${SHOWN_AT_FIRST}` : all}`;
    }

    entry([document, score, moved], system, other, largest) {
      const { query } = this;
      const rank = query.ranks[system][document];
      const line = make(
        "div",
        { className: "line" },
        make("span", { className: "rank", textContent: rank }),
        this.grade(query.labels[document]),
        shortenedName(query.documents[document]),
        this.move(query.ranks[other][document], rank),
        make("span", { className: "number", textContent: shortNumber(score), title: "score" }),
      );
      const item = make("li", { className: "document" }, line);
      item.dataset.document = document;
      const details = query.details[document] ?? [];
      if (details.length) item.append(make("p", { className: "details" }, ...details.map(linked)));
      if (moved.length) item.append(make("ul", { className: "moved" }, ...moved.map((one) => this.cause(one, largest))));
      return item;
    }

    grade(label) {
      if (label === null) {
        const hidden = make("span", { className: "hidden" }, "not judged");
        return make("span", { className: "grade", title: "not judged" }, hidden, make("span", { textContent: UNKNOWN, ariaHidden: "true" }));
      }
      const badge = make("span", { className: "grade", title: `label ${label}` }, make("span", { className: "hidden" }, "label "), String(label));
      badge.style.setProperty("--shade", `${Math.max(0, Math.min(1, label / (this.highest || 1))) * 45}%`);
      return badge;
    }

    move(there, here) {
      if (there === null) return make("span", { className: "move", textContent: "new", title: "not in the other list" });
      const by = there - here;
      if (by === 0) return make("span", { className: "move" });
      const words = `${plural(Math.abs(by), "rank")} ${by > 0 ? "higher" : "lower"} than in the other list`;
      const arrow = `${by > 0 ? "\u25b2" : "\u25bc"}${Math.abs(by)}`;
      const shown = make("span", { className: `move ${by > 0 ? "plus" : "minus"}`, title: words });
      shown.append(make("span", { textContent: arrow, ariaHidden: "true" }), make("span", { className: "hidden" }, words));
      return shown;
    }

    cause([feature, value, contribution], largest) {
      const name = this.features[feature];
      const words = `${name} is ${value === null ? "missing" : shortNumber(value)}: ${signed(contribution)} to the score`;
      return make(
        "li",
        { title: words },
        signedBar(contribution / largest),
        make("span", { className: "name", textContent: name }),
        make("span", { className: "number", textContent: signed(contribution) }),
      );
    }

    /** Mark a document in both lists. */
    mark(item) {
      for (const one of byId("browser").querySelectorAll("li.document")) {
        one.classList.toggle("same", item !== null && one.dataset.document === item?.dataset.document);
      }
    }
  }

  // ---- Start --------------------------------------------------------------------------------------------------

  const browser = data.browser?.queries.length ? new QueryBrowser(data.browser) : null;
  markScrollable();
  let drawnWidth = innerWidth;
  let resized = 0;
  addEventListener("resize", () => {
    markScrollable();
    clearTimeout(resized);
    resized = setTimeout(() => {
      if (innerWidth === drawnWidth) return;
      drawnWidth = innerWidth;
      drawAll(currentTheme());
    }, 250);
  });
  for (const folded of document.querySelectorAll("details")) folded.addEventListener("toggle", markScrollable);
  darkScheme.addEventListener("change", () => drawAll(currentTheme()));
  addEventListener("beforeprint", () => {
    for (const folded of document.querySelectorAll("details")) folded.open = true;
    drawAll("light");
  });
  addEventListener("afterprint", () => drawAll(currentTheme()));
  drawAll(currentTheme()).then(() => document.documentElement.setAttribute("data-drawn", ""));
})();
