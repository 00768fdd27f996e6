// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Draws each chart into the element that names it, in the colours of the page, and again when these
// change (light, dark). If drawing fails, the element gets a sentence. At the end the root is marked.
const written = document.getElementById("charts").textContent;
const dark = matchMedia("(prefers-color-scheme: dark)");

// Colours that are too dark for a dark page, and the colours that replace them there.
const LIGHTER = { "#0072b2": "#3f9bd9", "#d55e00": "#ee7a22", "#009e73": "#1fbb90" };

function charts() {
  const colours = dark.matches ? Object.entries(LIGHTER) : [];
  return JSON.parse(colours.reduce((text, [deep, light]) => text.replaceAll(deep, light), written));
}

function ink() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const words = { labelColor: colour("--dim"), titleColor: colour("--dim"), titleFontWeight: "normal" };
  return {
    background: "transparent",
    view: { stroke: "transparent" },
    axis: { ...words, gridColor: colour("--line"), domainColor: colour("--dim"), tickColor: colour("--dim") },
    legend: words,
    header: words,
    title: { color: colour("--ink") },
    text: { color: colour("--ink") },
  };
}

// Keys beside charts have the charts' colours; what draws itself keeps its own.
function match() {
  for (const key of document.querySelectorAll(".key[data-colour]")) {
    const colour = key.dataset.colour;
    key.style.setProperty("--c", (dark.matches && LIGHTER[colour]) || colour);
  }
}

async function draw() {
  match();
  const config = ink(), specs = charts();
  const places = [...document.querySelectorAll("[data-chart]")];
  await Promise.all(places.map((place) => {
    const options = { actions: false, renderer: "svg", config, tooltip: { theme: dark.matches ? "dark" : "light" } };
    return vegaEmbed(place, specs[place.dataset.chart], options).then(({ view }) => {
      place.querySelector("svg").setAttribute("aria-hidden", "true"); // the place has the name
      place.dispatchEvent(new CustomEvent("chart", { bubbles: true, detail: view }));
    }).catch((error) => {
      place.textContent = `This chart could not be drawn: ${error.message}`;
      place.classList.add("undrawn");
    });
  }));
  document.documentElement.dataset.drawn = "all";
}

draw();
dark.addEventListener("change", draw);
