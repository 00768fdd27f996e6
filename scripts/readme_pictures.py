# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of README.md from committed results.

    python scripts/readme_pictures.py [chart] [page]

`chart` is granary beside its peers, from the pages of two results.
`page` is a screenshot of the page that `heapwright report` makes of a kept profile; it needs
Chromium. Each picture carries a digest of its inputs, and a test compares the digests. Run it with
the environment of the tests.
"""

import gzip
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import altair as alt
from PIL import Image, PngImagePlugin

from heapwright.report.pages.pdf import browser

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs" / "results"
STUDY = RESULTS / "granary" / "README.md"
FREES = RESULTS / "remote-frees" / "README.md"
PROFILE = RESULTS / "readme" / "profile.json.gz"
PICTURES = ROOT / "docs" / "pictures"
CHARTS = {
    PICTURES / "granary-beside-peers.svg": 2,
    PICTURES / "granary-beside-peers-narrow.svg": 1,
}
"""The chart and its numbers of columns; the narrow one is for phones."""
PAGES = {
    PICTURES / "profile-page.png": (1100, 790),
    PICTURES / "profile-page-narrow.png": (500, 1120),
}
"""The screenshot and its sizes."""

RATIOS = {
    "Ranking by cpu_time, s": "Processor time",
    "Ranking by peak_memory, B": "Peak memory",
    "Ranking by memory_at_end, B": "Memory at the end",
}
"""Tables of the study and the titles of their panels."""
GRANARY, OTHERS = "#c44e00", "#5b7f95"
COLOURS = 64
SLOWEST = 6
DIGEST = "Inputs"


def rows_of(page: str, title: str, mark: str = "## ") -> list[list[str]]:
    """The rows of the table under a heading, without its head."""
    _, found, rest = page.partition(f"\n{mark}{title}")
    if not found:
        raise SystemExit(f"there is no heading {title!r}")
    table = re.search(r"(?:^\|.*\n)+", rest, re.MULTILINE)
    if table is None:
        raise SystemExit(f"there is no table under {title!r}")
    lines = table[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def figures() -> dict[str, dict[str, float]]:
    """The figures of the chart: for each panel, the allocators and their values."""
    page = STUDY.read_text(encoding="utf-8")
    found = {}
    for title, panel in RATIOS.items():
        means = {row[0]: float(row[1]) for row in rows_of(page, title)}
        found[f"{panel} (granary = 1)"] = {
            name: round(mean / means["granary"], 3) for name, mean in means.items()
        }
    slowest = "**processor time, in every program: beside the fastest there**"
    worst = rows_of(page, slowest, mark="")[:SLOWEST]
    found["granary's slowest programs (fastest peer = 1)"] = {
        f"{place} thread{'s' * (not place.endswith(' 1'))}": float(ratio.split()[0])
        for place, ratio in ((row[0].partition(" at ")[2], row[1]) for row in worst)
    }
    rows = rows_of(FREES.read_text(encoding="utf-8"), "Figures")
    found["MiB kept of 200 that other threads freed"] = {
        name: figure for figure, name in sorted((float(row[-1]), row[0]) for row in rows)
    }
    return found


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def chart_digest() -> str:
    """A hash of the figures in the chart."""
    return digest_of(json.dumps(figures(), sort_keys=True).encode())


def page_digest() -> str:
    """A hash of the profile on the page."""
    return digest_of(gzip.decompress(PROFILE.read_bytes()))


def _panel(title: str, values: Mapping[str, float]) -> Any:
    rows = [
        {
            "allocator": name,
            "own": name == "granary" or title.startswith("granary's"),
            "figure": figure,
            "text": f"{figure:.2f}" if "=" in title else f"{figure:.0f}",
        }
        for name, figure in values.items()
    ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("figure:Q", axis=None, scale=alt.Scale(domain=[0, 1.25 * max(values.values())])),
        y=alt.Y(
            "allocator:N",
            sort=None,
            title=None,
            axis=alt.Axis(ticks=False, domain=False, labelLimit=200, minExtent=130),
        ),
    )
    bars = base.mark_bar(height=11).encode(
        color=alt.when(alt.datum.own).then(alt.value(GRANARY)).otherwise(alt.value(OTHERS))
    )
    texts = base.mark_text(align="left", dx=4, fontSize=11).encode(text="text:N")
    return alt.layer(bars, texts).properties(title=title, width=230, height=17 * len(rows))


def draw_chart(target: Path, columns: int) -> None:
    """Write the chart as SVG."""
    panels = [_panel(title, values) for title, values in figures().items()]
    grid = alt.concat(*panels, columns=columns, spacing=20)
    styled = grid.configure(background="white", font="sans-serif").configure_view(stroke=None)
    styled = styled.configure_title(fontSize=13, anchor="start").configure_axis(labelFontSize=11)
    target.parent.mkdir(parents=True, exist_ok=True)
    styled.save(str(target), format="svg")
    text = target.read_text(encoding="utf-8")
    target.write_text(f"{text}\n<!-- {DIGEST}: {chart_digest()} -->\n", encoding="utf-8")


def draw_page(target: Path, size: tuple[int, int]) -> None:
    """Write the screenshot as PNG with few colours."""
    with tempfile.TemporaryDirectory(prefix="heapwright-picture-") as name:
        folder = Path(name)
        (folder / "profile.json").write_bytes(gzip.decompress(PROFILE.read_bytes()))
        report = [
            sys.executable,
            "-m",
            "heapwright",
            "report",
            "-q",
            "profile.json",
            "-o",
            "page.html",
        ]
        subprocess.run(report, cwd=folder, check=True)
        command = [browser(), "--headless", "--disable-gpu", "--hide-scrollbars"]
        command += ["--no-sandbox"] if os.geteuid() == 0 else []
        command += [f"--user-data-dir={folder / 'browser'}", f"--screenshot={folder / 'page.png'}"]
        command += [f"--window-size={size[0]},{size[1]}", f"file://{folder / 'page.html'}"]
        subprocess.run(command, check=True, capture_output=True)
        with Image.open(folder / "page.png") as picture:
            small = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    text = PngImagePlugin.PngInfo()
    text.add_text(DIGEST, page_digest())
    target.parent.mkdir(parents=True, exist_ok=True)
    small.save(target, optimize=True, pnginfo=text)


def main(arguments: Sequence[str]) -> int:
    drawers: dict[str, Any] = {"chart": (draw_chart, CHARTS), "page": (draw_page, PAGES)}
    for name in arguments or drawers:
        if name not in drawers:
            raise SystemExit(f"{name!r} is not a picture; there are {', '.join(drawers)}")
        draw, targets = drawers[name]
        for target, shape in targets.items():
            draw(target, shape)
            print(f"{target.relative_to(ROOT)}: {target.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
