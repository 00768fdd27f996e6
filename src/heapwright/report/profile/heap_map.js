// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Draws heap maps, and describes the cell under the pointer or at the cross that arrow keys move. The
// canvas counts what was painted (`data-painted`), so that a test can distinguish an empty map from a
// drawn one.
(() => {
  const STRIP = 14, THIN = 3, CAPTIONED = 4;
  const HOLE = [224, 123, 0], HALF = [181, 189, 200], FULL = [0, 114, 178];

  const mix = (from, to, part) => from.map((value, at) => Math.round(value + (to[at] - value) * part));

  function shade(level) {
    if (level === 0) return HOLE;
    const part = level / 255;
    return part < 0.5 ? mix(HOLE, HALF, 0.25 + 1.5 * part) : mix(HALF, FULL, 2 * part - 1);
  }

  const SHADES = Array.from({ length: 256 }, (_, level) => `rgb(${shade(level).join(",")})`);

  function size(bytes) {
    const units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let at = 0;
    while (bytes >= 1024 && at < units.length - 1) { bytes /= 1024; at += 1; }
    return `${Number(bytes.toPrecision(3))} ${units[at]}`;
  }

  function read(place) {
    const map = JSON.parse(place.querySelector("script").textContent);
    map.levels = Uint8Array.from(atob(map.cells), (letter) => letter.charCodeAt(0));
    map.columns = map.times.length;
    map.firstUse = map.starts.map((_, row) => {
      const line = map.levels.subarray(row * map.columns, (row + 1) * map.columns);
      const found = line.findIndex((level) => level > 0);
      return found < 0 ? map.columns : found;
    });
    return map;
  }

  // Where each row stands: regions from the highest address down, a strip above each.
  function lay(map) {
    const height = Math.max(2, Math.min(24, Math.floor(420 / map.starts.length)));
    const tops = new Array(map.starts.length);
    const strips = [];
    let y = 0;
    for (const [first, end] of [...map.regions].reverse()) {
      const captioned = end - first >= CAPTIONED || map.regions.length <= 8;
      strips.push({ y, first, end, captioned });
      y += captioned ? STRIP : THIN;
      for (let row = end - 1; row >= first; row -= 1) { tops[row] = y; y += height; }
    }
    return { height, tops, strips, whole: y };
  }

  function paint(canvas, map, cross) {
    const width = canvas.clientWidth, scale = window.devicePixelRatio || 1;
    const laid = lay(map);
    canvas.style.height = `${laid.whole}px`;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(laid.whole * scale);
    const to = canvas.getContext("2d");
    to.scale(scale, scale);
    const left = (column) => Math.round((column * width) / map.columns);
    let painted = 0;
    for (let row = 0; row < map.starts.length; row += 1) {
      for (let column = map.firstUse[row]; column < map.columns; column += 1) {
        to.fillStyle = SHADES[map.levels[row * map.columns + column]];
        to.fillRect(left(column), laid.tops[row], left(column + 1) - left(column), laid.height);
        painted += 1;
      }
    }
    const style = getComputedStyle(document.documentElement);
    to.font = "10px system-ui, sans-serif";
    for (const strip of laid.strips) {
      if (!strip.captioned) continue;
      const bytes = map.bytes.slice(strip.first, strip.end).reduce((sum, each) => sum + each, 0);
      to.fillStyle = style.getPropertyValue("--dim");
      to.fillText(`0x${map.starts[strip.first]}, ${size(bytes)}`, 2, strip.y + STRIP - 4);
    }
    if (cross) {
      to.strokeStyle = style.getPropertyValue("--ink");
      to.lineWidth = 1.5;
      to.strokeRect(left(cross.column) - 1, laid.tops[cross.row] - 1, left(cross.column + 1) - left(cross.column) + 2, laid.height + 2);
    }
    canvas.dataset.painted = painted;
    return laid;
  }

  function told(map, { row, column }) {
    const level = map.levels[row * map.columns + column];
    const what = column < map.firstUse[row] ? "not in use yet"
      : level === 0 ? "a hole: it was in use, nothing is live"
      : `${Number((level / 2.55).toPrecision(2))} % live`;
    return `${Number(map.times[column].toPrecision(4))} s, 0x${map.starts[row]} (${size(map.bytes[row])}): ${what}`;
  }

  function show(place) {
    const map = read(place);
    const canvas = place.querySelector("canvas"), output = place.querySelector("output");
    const ends = place.querySelectorAll(".heap-times span");
    ends[0].textContent = `${Number(map.times[0].toPrecision(3))} s`;
    ends[2].textContent = `${Number(map.times[map.columns - 1].toPrecision(3))} s`;
    let cross = null;
    let laid = paint(canvas, map, cross);
    const again = () => { laid = paint(canvas, map, cross); };
    const go = (to) => { cross = to; again(); output.textContent = told(map, cross); };
    canvas.addEventListener("mousemove", (event) => {
      const row = laid.tops.findIndex((top) => event.offsetY >= top && event.offsetY < top + laid.height);
      const column = Math.floor((event.offsetX * map.columns) / canvas.clientWidth);
      if (row >= 0 && column >= 0 && column < map.columns) go({ row, column });
    });
    canvas.addEventListener("keydown", (event) => {
      const step = { ArrowUp: [1, 0], ArrowDown: [-1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (!step) return;
      event.preventDefault();
      const from = cross || { row: map.starts.length - 1 - step[0], column: -step[1] };
      const within = (value, end) => Math.max(0, Math.min(end - 1, value));
      go({ row: within(from.row + step[0], map.starts.length), column: within(from.column + step[1], map.columns) });
    });
    new ResizeObserver(again).observe(place);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  }

  document.querySelectorAll(".heap-map").forEach(show);
})();
