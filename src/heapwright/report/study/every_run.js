// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Draws the runs of the treatments that are chosen, a strip for each level of the first factor, and
// says their figures in words below. Values come as steps of two bytes; see every_run.py.
const STEPS = 65534, ROW = 26, TOP = 6, BOTTOM = 22;

function decoded(text) {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Uint16Array.from({ length: bytes.length / 2 }, (_, at) => view.getUint16(2 * at, true));
}

function shown(value) {
  return Number(value.toPrecision(4)).toLocaleString("en", { maximumSignificantDigits: 4 });
}

for (const place of document.querySelectorAll(".every")) {
  const data = JSON.parse(place.querySelector("script").textContent);
  const canvas = place.querySelector("canvas"), said = place.querySelector("output");
  const chosen = (name) => Number(place.querySelector(`[data-choice="${name}"]`).value);
  for (const response of data.responses) {
    response.steps = decoded(response.values);
    let at = 0;
    response.begins = response.counts.map((count) => (at += count) - count);
  }

  // The values of the level's treatment, in the unit that the response is drawn in.
  function runs(response, level) {
    const wanted = [level, ...data.others.map((_, at) => chosen(`other-${at}`))];
    const which = data.at.findIndex((levels) => levels.every((each, at) => each === wanted[at]));
    if (which < 0) return [];
    const begin = response.begins[which];
    const steps = response.steps.subarray(begin, begin + response.counts[which]);
    const back = response.logarithmic ? Math.exp : (value) => value;
    return Array.from(steps, (step) => back(response.low + (response.span * step) / STEPS));
  }

  function draw() {
    const response = data.responses[chosen("response")];
    const strips = data.levels.map((_, level) => runs(response, level));
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const wide = place.clientWidth, high = TOP + ROW * strips.length + BOTTOM;
    const dots = devicePixelRatio || 1;
    canvas.width = wide * dots;
    canvas.height = high * dots;
    canvas.style.height = `${high}px`;
    const pen = canvas.getContext("2d");
    pen.scale(dots, dots);
    pen.font = "11px system-ui, sans-serif";
    const left = 12 + Math.min(wide / 3, Math.max(...data.levels.map((name) => pen.measureText(name).width)));
    const all = strips.flat();
    const least = Math.min(...all), most = Math.max(...all);
    const log = response.logarithmic && most > 4 * least;
    const across = (value) => {
      const along = log ? Math.log(value / least) / Math.log(most / least) : (value - least) / (most - least || 1);
      return left + 8 + along * (wide - left - 24);
    };
    strips.forEach((values, level) => {
      const top = TOP + ROW * level;
      pen.fillStyle = colour("--dim");
      pen.textBaseline = "middle";
      pen.fillText(data.levels[level], 0, top + ROW / 2, left - 8);
      pen.fillStyle = colour("--line");
      pen.fillRect(left, top + ROW - 2, wide - left, 1);
      pen.fillStyle = colour("--link");
      pen.globalAlpha = 0.8;
      for (const value of values) pen.fillRect(across(value) - 0.8, top + 4, 1.6, ROW - 10);
      pen.globalAlpha = 1;
    });
    pen.fillStyle = colour("--dim");
    pen.textBaseline = "alphabetic";
    if (all.length) {
      pen.textAlign = "left";
      pen.fillText(shown(least), left + 4, high - 6);
      pen.textAlign = "center";
      pen.fillText(response.title, (left + wide) / 2, high - 6);
      pen.textAlign = "right";
      pen.fillText(shown(most), wide - 4, high - 6);
      pen.textAlign = "left";
    }
    canvas.dataset.painted = all.length;
    said.textContent = all.length
      ? strips.map((values, level) => {
          if (!values.length) return `${data.levels[level]}: no run`;
          const sorted = [...values].sort((one, other) => one - other);
          const ends = `${shown(sorted[0])} to ${shown(sorted.at(-1))}`;
          return `${data.levels[level]}: ${values.length} runs, ${ends}, median ${shown(sorted[sorted.length >> 1])}`;
        }).join("; ")
      : "No run of these levels ended well.";
  }

  place.addEventListener("change", draw);
  addEventListener("resize", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
}
