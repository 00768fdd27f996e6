# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What tests of pages share: reading HTML, counting marks of a chart, and a browser that looks.

The browser draws a page at a width, light or dark. It reports whether anything is wider than the
page, and the places of its charts. It also takes a picture. The page is in a frame of that width,
because the minimum width of a browser's window is larger than a telephone's. Where keys are
listened to, the arrow down is pressed, and what is said then is kept. So is what a flame graph says
of its second moment, and of the growth since the first. The middle of the
chart of live memory is clicked. What the flame graph says then is kept, and whether a line marks
the place. In the picture, ink is what has a colour: axes, grids and text are grey, so a chart
without marks has none.
"""

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
import vl_convert

from support.running import ran

MARKS = re.compile(
    r'<g class="mark-(?:symbol|line|rule|rect|area) role-mark[^>]*(?<!/)>(.*?)</g>', re.DOTALL
)
MEASURE = """
<script>
const all = (places) => [...document.querySelectorAll(places)];
const count = (places) => all(places).length;
const box = (place) => {
  const { x, y, width, height } = place.getBoundingClientRect();
  return [x, y, width, height];
};
const said = (place) => {
  place.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown" }));
  return place.parentElement.querySelector("output").textContent;
};
const moments = (flame) => {
  const [select, ranges] = [flame.querySelector("select"), flame.querySelectorAll("[type=range]")];
  if (!ranges.length) return [];
  const shown = (field, value) => {
    field.value = value;
    field.dispatchEvent(new Event(field === select ? "change" : "input"));
    return flame.querySelector("output").textContent;
  };
  const before = select.value;
  shown(select, "moment");
  const found = [shown(ranges[0], 1), shown(ranges[1], 0)];
  shown(select, before);
  return found;
};
const clicked = (flame) => {
  const svg = document.querySelector("[data-chart=live-memory] svg");
  const select = flame.querySelector("select");
  if (!svg || !flame.querySelector("[type=range]")) return "";
  const [before, [x, y, width, height]] = [select.value, box(svg)];
  svg.dispatchEvent(new MouseEvent("click", { clientX: x + width / 2, clientY: y + height / 2 }));
  const line = document.querySelector(".flame-line").getBoundingClientRect();
  const isMarked = line.height > 100 && line.left > x;
  const found = `${flame.querySelector("output").textContent}, ${isMarked}`;
  select.value = before;
  select.dispatchEvent(new Event("change"));
  return found;
};
const measure = () => {
  parent.postMessage(JSON.stringify({
    height: document.documentElement.scrollHeight,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    charts: all("[data-chart]").map((place) => [place.dataset.chart, box(place)]),
    canvases: all("canvas").map(box),
    painted: all("canvas").map((canvas) => Number(canvas.dataset.painted)),
    flames: all(".flame-picture").map((flame) => Number(flame.dataset.drawn)),
    flame_boxes: all(".flame-picture").map(box),
    said: all("[role=application]").map(said),
    clicked: all(".flame").map(clicked),
    moments: all(".flame").map(moments),
    undrawn: count(".undrawn"),
    focusable: count("a[href], [tabindex='0'], summary"),
    unnamed: count("[role=img]:not([aria-label]), canvas:not([aria-label])"),
  }), "*");
};
const root = document.documentElement;
if (root.dataset.drawn) measure();
else new MutationObserver(measure).observe(root, { attributeFilter: ["data-drawn"] });
</script>
"""
FRAME = """<!DOCTYPE html>
<body style="margin: 0"><iframe width="{width}" height="{height}" src="{page}"
  style="border: 0; display: block"></iframe><pre id="measured" hidden></pre>
<script>
addEventListener("message", (event) => {{
  document.getElementById("measured").textContent = event.data;
}});
</script>
"""
HIGHEST = 12_000


class Reader(HTMLParser):
    """Collects what a browser would fetch, where charts are to stand, and where links lead."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.charts: list[str] = []
        self.ids: list[str] = []
        self.jumps: list[str] = []
        self.feed(text)

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("src", "href") and value:
                (self.jumps if value.startswith("#") else self.fetched).append(value)
            if name == "data-chart" and value:
                self.charts.append(value)
            if name == "id" and value:
                self.ids.append(value)


def specs_in(text: str) -> dict[str, dict[str, object]]:
    """The charts that a page carries."""
    (data,) = re.findall(r'<script type="application/json" id="charts">(.*?)</script>', text)
    specs: dict[str, dict[str, object]] = json.loads(data)
    return specs


def marks_of(spec: Mapping[str, object]) -> int:
    """How many marks the chart really draws."""
    svg = vl_convert.vegalite_to_svg({**spec, "width": 200})
    return sum(len(re.findall(r'<path[^>]* d="M|<line', group)) for group in MARKS.findall(svg))


Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Look:
    """What a browser made of a page."""

    height: int
    overflow: int
    charts: dict[str, Box]
    canvases: list[Box]
    painted: list[int]
    flames: list[int]
    flame_boxes: list[Box]
    said: list[str]
    moments: list[list[str]]
    clicked: list[str]
    undrawn: int
    focusable: int
    unnamed: int
    picture: Path

    def ink(self, box: Box) -> int:
        """Pixels in a part of the picture that are neither paper nor grey."""
        image = pytest.importorskip("PIL.Image")
        numpy = pytest.importorskip("numpy")
        x, y, width, height = box
        with image.open(self.picture) as whole:
            part = whole.convert("RGB").crop((int(x), int(y), int(x + width), int(y + height)))
        pixels = numpy.asarray(part).astype(int)
        return int((pixels.max(axis=2) - pixels.min(axis=2) > 40).sum())


def look(
    text: str, folder: Path, width: int, *, dark: bool = False, highest: int = HIGHEST
) -> Look:
    """Draw the page and take a picture of all of it; it is no higher than `highest`."""
    browser = shutil.which("chromium") or pytest.skip("no browser (package chromium)")
    page = folder / f"page-{width}{'-dark' if dark else ''}.html"
    whole, end, rest = text.rpartition("</body>")  # the library has that word in it, too
    page.write_text(f"{whole}{MEASURE}{end}{rest}", encoding="utf-8")

    outer = folder / f"frame-{page.name}"
    outer.write_text(FRAME.format(width=width, height=highest, page=page.name), encoding="utf-8")
    picture = page.with_suffix(".png")
    done = ran(
        [
            *(browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
            *("--disable-dev-shm-usage", f"--user-data-dir={folder / 'browser'}"),
            *(f"--window-size={max(width, 500)},{highest}", "--virtual-time-budget=10000"),
            *(("--blink-settings=preferredColorScheme=0",) if dark else ()),
            *(f"--screenshot={picture}", "--dump-dom", outer.as_uri()),
        ],
        timeout=180,
    )
    measured = re.findall(r'<pre id="measured"[^>]*>(.+?)</pre>', done.stdout)
    assert measured, done.stderr[-500:]
    found = json.loads(unescape(measured[0]))
    found["charts"] = dict(found["charts"])
    assert found["height"] <= highest
    return Look(**found, picture=picture)
