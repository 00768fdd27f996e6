// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Draws flame graphs: each box below the one that it was called from, the widest first. Boxes that
// are too narrow to be seen are not drawn; how many are is on the picture (`data-drawn`).
(() => {
  const ROW = 18, NARROWEST = 0.8, LETTER = 6.7;
  const SVG = "http://www.w3.org/2000/svg";

  function size(value, isMemory) {
    if (!isMemory) return value.toLocaleString("en");
    const units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let at = 0;
    while (value >= 1024 && at < units.length - 1) { value /= 1024; at += 1; }
    return `${Number(value.toPrecision(3))} ${units[at]}`;
  }

  // A warm colour for each name, the same on every page.
  function colour(name) {
    let hash = 7;
    for (let at = 0; at < name.length; at += 1) hash = (hash * 31 + name.charCodeAt(at)) % 9973;
    return `hsl(${12 + (hash % 40)} 85% ${62 + (hash % 13)}%)`;
  }

  class Flame {
    constructor(place) {
      Object.assign(this, JSON.parse(place.querySelector("script").textContent));
      this.named = this.moments;
      Object.assign(this, this.trees[0]);
      this.picture = place.querySelector(".flame-picture");
      this.svg = place.querySelector("svg");
      this.output = place.querySelector("output");
      this.select = place.querySelector("select");
      this.search = place.querySelector("input[type=search]");
      this.libraries = place.querySelector("input[type=checkbox]");
      this.moments = place.querySelector(".flame-moments");
      this.ranges = place.querySelectorAll("input[type=range]");
      this.root = 0;
      this.here = 0;
      this.select.addEventListener("change", () => this.measure());
      this.search.addEventListener("input", () => this.draw());
      if (this.libraries) this.libraries.addEventListener("change", () => this.change());
      for (const range of this.ranges) range.addEventListener("input", () => this.measure());
      place.querySelector("button").addEventListener("click", () => this.widen(0));
      this.picture.addEventListener("keydown", (event) => this.walk(event));
      this.svg.addEventListener("click", (event) => {
        const box = event.target.closest("g");
        if (box) this.widen(Number(box.dataset.box));
      });
      this.svg.addEventListener("mousemove", (event) => {
        const box = event.target.closest("g");
        if (box) this.tell(Number(box.dataset.box));
      });
      new ResizeObserver(() => this.draw()).observe(this.picture);
      this.measure();
    }

    change() {
      Object.assign(this, this.trees[this.libraries.checked ? 1 : 0]);
      this.root = 0;
      this.here = 0;
      this.measure();
    }

    measure() {
      const option = this.select.selectedOptions[0];
      const atMoment = option.value === "moment";
      this.values = atMoment ? this.liveAtMoment() : this.sums[Number(option.value)];
      if (this.moments) this.moments.hidden = !atMoment;
      this.isMemory = option.dataset.memory === "true";
      this.below = this.parent.map(() => []);
      for (let box = 1; box < this.parent.length; box += 1) {
        if (this.values[box] > 0) this.below[this.parent[box]].push(box);
      }
      for (const boxes of this.below) boxes.sort((one, other) => this.values[other] - this.values[one]);
      if (!this.values[this.root]) this.root = 0;
      if (!this.values[this.here]) this.here = this.root;
      this.draw();
      if (this.mark) this.mark();
      if (atMoment) this.tell(this.root);
    }

    // Of each box the live bytes at the chosen moment, or their growth since another one. Parents
    // come before their callees, so one pass from the back sums them up.
    liveAtMoment() {
      const [moment, since] = Array.from(this.ranges, (range) => Number(range.value));
      const values = this.parent.map(() => 0);
      this.live.forEach((bytes, site) => {
        values[this.sites[site]] += Math.max(bytes[moment] - (since < 0 ? 0 : bytes[since]), 0);
      });
      for (let box = values.length - 1; box > 0; box -= 1) values[this.parent[box]] += values[box];
      return values;
    }

    // What the width of a box means.
    meaning() {
      const option = this.select.selectedOptions[0];
      if (option.value !== "moment") return option.textContent;
      const [moment, since] = Array.from(this.ranges, (range) => Number(range.value));
      const time = (at) => `${this.times[at].toPrecision(3)} s${this.named[at] ? ` (${this.named[at]})` : ""}`;
      return since < 0 ? `live at ${time(moment)}` : `grown from ${time(since)} to ${time(moment)}`;
    }

    // A click on a chart over the time of the run chooses the moment there, which a line marks.
    follow(chart, view) {
      if (!this.moments) return;
      const svg = chart.querySelector("svg");
      this.line = document.createElement("div");
      this.line.className = "flame-line";
      chart.classList.add("flame-chart");
      chart.querySelectorAll(".flame-line").forEach((old) => old.remove());
      chart.append(this.line);
      const left = () => view.padding().left + view.origin()[0];
      svg.addEventListener("click", (event) => {
        this.choose(view.scale("x").invert(event.clientX - svg.getBoundingClientRect().left - left()));
      });
      this.mark = () => {
        const [from, to] = [chart.getBoundingClientRect(), svg.getBoundingClientRect()];
        const time = this.times[Number(this.ranges[0].value)];
        this.line.hidden = this.moments.hidden;
        this.line.style.left = `${to.left - from.left + left() + view.scale("x")(time)}px`;
        this.line.style.top = `${to.top - from.top + view.padding().top + view.origin()[1]}px`;
        this.line.style.height = `${view.height()}px`;
      };
      view.addSignalListener("width", () => view.runAfter(this.mark));
      this.mark();
    }

    // The kept moment that is nearest to a time.
    choose(time) {
      const away = this.times.map((each) => Math.abs(each - time));
      this.ranges[0].value = away.indexOf(Math.min(...away));
      this.select.value = "moment";
      this.measure();
      this.picture.scrollIntoView({ block: "nearest" });
    }

    chain(box) {
      const found = [box];
      while (found[0] !== 0) found.unshift(this.parent[found[0]]);
      return found;
    }

    // Every box that can be seen: [box, x, row, width, whether it is around the widened one].
    laid(width) {
      const around = this.chain(this.root).slice(0, -1);
      const found = around.map((box, row) => [box, 0, row, width, true]);
      const waiting = [[this.root, 0, around.length, width]];
      while (waiting.length) {
        const [box, x, row, wide] = waiting.pop();
        found.push([box, x, row, wide, false]);
        let left = x;
        for (const inner of this.below[box]) {
          const part = (wide * this.values[inner]) / this.values[box];
          if (part >= NARROWEST) waiting.push([inner, left, row + 1, part]);
          left += part;
        }
      }
      return found;
    }

    draw() {
      const width = this.picture.clientWidth;
      const laid = this.laid(width);
      const wanted = this.search.value.trim().toLowerCase();
      const drawn = document.createDocumentFragment();
      for (const [box, x, row, wide, around] of laid) {
        const name = this.names[this.name[box]];
        const group = document.createElementNS(SVG, "g");
        group.dataset.box = box;
        if (around) group.classList.add("around");
        if (wanted && name.toLowerCase().includes(wanted)) group.classList.add("found");
        if (box === this.here) group.classList.add("here");
        const rect = document.createElementNS(SVG, "rect");
        const place = { x, y: row * ROW, width: wide, height: ROW - 1, fill: colour(name) };
        for (const [key, value] of Object.entries(place)) rect.setAttribute(key, value);
        group.append(rect);
        const letters = Math.floor((wide - 6) / LETTER);
        if (letters >= 3) {
          const text = document.createElementNS(SVG, "text");
          text.setAttribute("x", x + 3);
          text.setAttribute("y", row * ROW + 12.5);
          text.textContent = name.length > letters ? `${name.slice(0, letters - 1)}…` : name;
          group.append(text);
        }
        drawn.append(group);
      }
      const rows = Math.max(...laid.map((each) => each[2])) + 1;
      this.svg.setAttribute("height", rows * ROW);
      this.svg.replaceChildren(drawn);
      this.picture.dataset.drawn = laid.length;
    }

    tell(box) {
      const share = this.values[0] ? (100 * this.values[box]) / this.values[0] : 0;
      this.output.textContent =
        `${this.names[this.name[box]]}: ${size(this.values[box], this.isMemory)} (${Number(share.toPrecision(3))} %, ${this.meaning()})`;
    }

    go(box) {
      this.here = box;
      this.draw();
      this.tell(box);
      const shown = this.svg.querySelector(".here");
      if (shown) shown.scrollIntoView({ block: "nearest" });
    }

    widen(box) {
      this.root = box;
      this.go(box);
    }

    walk(event) {
      const beside = this.here === 0 ? [0] : this.below[this.parent[this.here]];
      const at = beside.indexOf(this.here);
      const to = {
        ArrowDown: () => this.below[this.here][0],
        ArrowUp: () => this.parent[this.here],
        ArrowLeft: () => beside[at - 1],
        ArrowRight: () => beside[at + 1],
      }[event.key];
      if (to) {
        const box = to();
        if (box !== undefined) this.go(box);
      } else if (event.key === "Enter") this.widen(this.here);
      else if (event.key === "Escape") this.widen(0);
      else return;
      event.preventDefault();
    }
  }

  const flames = Array.from(document.querySelectorAll(".flame"), (place) => new Flame(place));
  document.addEventListener("chart", (event) => {
    if (event.target.dataset.chart !== "live-memory") return;
    for (const flame of flames) flame.follow(event.target, event.detail);
  });
})();
