# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The gallery of the site: charts and whole reports, made from the committed runs of studies.

    PYTHONPATH=scripts python -m documentation.gallery FOLDER

draws them into FOLDER/pages, which `documentation.assemble` has made. So no chart of the site can
be older than the runs beside its page.
"""

import gzip
import json
import sys
from pathlib import Path

from documentation.pages import read
from heapwright.artefacts.profile.document import Profile
from heapwright.commands.report import read_study
from heapwright.report.pages.export import svg_of
from heapwright.report.profile.page import page as profile_page
from heapwright.report.study.page import page as study_page
from heapwright.report.study.page import papers_of

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "results"
STUDIES = ("granary", "berger-2002-hoard", "costa-2014", "fischer-2018-loop", "matias-2011-mysql")
PROFILE = RESULTS / "readme" / "profile.json.gz"
ROOM = 24
"""Pixels at the left of a chart."""
PAGE = "results/gallery.md"
REPORTS = "reports"
"""The folder of the charts and reports, beside the page."""


def gallery_page() -> str:
    """The page, in Markdown. Its charts and reports are made by `draw`."""
    parts = [
        "# Charts and reports\n",
        "Each chart and each report on this page is made from committed runs when this site is "
        "built. A report is one file that needs no network. It has every run, every figure, and "
        "the state of the machine. A chart shows the mean of each allocator over all settings, "
        "with its interval.\n",
    ]
    for name in STUDIES:
        design = json.loads(read(RESULTS / name / "design.json"))
        parts += [
            f"## {design['title']}\n",
            f"![Means of the allocators in the study {name}]({REPORTS}/{name}.svg)\n",
            f"[The report]({REPORTS}/{name}.html), and [the figures as tables]({name}/README.md)."
            " To repeat the runs, and to make the report of the committed ones:\n",
            f"    heapwright study run {design['study']} --scale {design['scale']} --seed "
            f"{design['seed']}",
            f"    heapwright report docs/results/{name} -o report.html\n",
        ]
    parts += [
        "## What a program asks of malloc\n",
        f"[The page of a profile]({REPORTS}/profile.html) shows live memory over time, sizes, "
        "lifetimes and call sites. [Its command](readme/README.md) is in the results.\n",
    ]
    return "\n".join(parts)


def draw(folder: Path) -> None:
    """Write the charts and reports that the page links to."""
    target = folder / "pages" / Path(PAGE).parent / REPORTS
    target.mkdir(parents=True, exist_ok=True)
    for name in STUDIES:
        view = read_study([RESULTS / name]).view
        rankings = [spec for chart, spec in papers_of(view).items() if "ranking" in chart]
        if not rankings:
            raise SystemExit(f"the study {name} has no chart of its ranking")
        # Fonts of a reader can be wider than those that the width of the labels was measured with.
        chart = {**rankings[0], "padding": {"left": ROOM, "top": 5, "right": 5, "bottom": 5}}
        (target / f"{name}.svg").write_text(svg_of(chart), encoding="utf-8")
        (target / f"{name}.html").write_text(study_page(view), encoding="utf-8")
    profile = Profile.from_json(gzip.decompress(PROFILE.read_bytes()))
    (target / "profile.html").write_text(profile_page(profile), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m documentation.gallery FOLDER")
    draw(Path(sys.argv[1]))
