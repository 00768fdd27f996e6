// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Draws each chart into the place that names it, and writes down there if it could not.
const charts = JSON.parse(document.getElementById("charts").textContent);
for (const place of document.querySelectorAll("[data-chart]")) {
  vegaEmbed(place, charts[place.dataset.chart], { actions: false, renderer: "svg" }).catch((error) => {
    place.textContent = `This chart could not be drawn: ${error.message}`;
    place.classList.add("undrawn");
  });
}
