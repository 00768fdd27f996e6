// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Draws each chart into the place that names it, in the page's own ink, again where that changes
// (light, dark), and writes down there if it could not.
const charts = JSON.parse(document.getElementById("charts").textContent);
const dark = matchMedia("(prefers-color-scheme: dark)");

function ink() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const words = { labelColor: colour("--dim"), titleColor: colour("--dim"), titleFontWeight: "normal" };
  return {
    background: "transparent",
    axis: { ...words, gridColor: colour("--line"), domainColor: colour("--dim"), tickColor: colour("--dim") },
    legend: words,
    header: words,
    title: { color: colour("--ink") },
    text: { color: colour("--ink") },
  };
}

function draw() {
  const config = ink();
  for (const place of document.querySelectorAll("[data-chart]")) {
    const options = { actions: false, renderer: "svg", config, tooltip: { theme: dark.matches ? "dark" : "light" } };
    vegaEmbed(place, charts[place.dataset.chart], options).catch((error) => {
      place.textContent = `This chart could not be drawn: ${error.message}`;
      place.classList.add("undrawn");
    });
  }
}

draw();
dark.addEventListener("change", draw);
