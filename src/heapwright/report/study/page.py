# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A study as one page: the verdict, what was published, the figures, every run, how to repeat it.

A section without anything to say is not there. docs/how-to/reading-a-study.md explains each.
"""

from pathlib import Path

from heapwright.report.pages.frame import frame
from heapwright.report.pages.parts import Spec, contents, section
from heapwright.report.study import every_run, failures, memory
from heapwright.report.study.bar import bar
from heapwright.report.study.choice import choice
from heapwright.report.study.figures import Figures
from heapwright.report.study.findings import findings, published
from heapwright.report.study.groups import groups
from heapwright.report.study.growth import agreement, growth, trade_off
from heapwright.report.study.head import head
from heapwright.report.study.interactions import interactions
from heapwright.report.study.provenance import design, environment, reproduce
from heapwright.report.study.rankings import rankings
from heapwright.report.study.sensitivity import sensitivity_table
from heapwright.report.study.strips import strips
from heapwright.report.study.variance import variance
from heapwright.report.study.view import RunKey, StudyView

STYLE = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
CSV = Path(__file__).with_name("csv.js").read_text(encoding="utf-8")
Section = tuple[str, str, str]


def wanted(view: StudyView) -> set[RunKey]:
    """The runs that have to be read whole: for their memory over time, for what they said."""
    return memory.wanted(view) | failures.wanted(view)


def page(view: StudyView) -> str:
    """The whole page."""
    figures = Figures()
    parts = [part for part in sections(view, figures) if part[2]]
    body = "\n".join(
        (
            head(view),
            contents([(name, heading) for name, heading, _ in parts]),
            *(section(name, heading, inner) for name, heading, inner in parts),
        )
    )
    title = view.analysis.study.title or view.analysis.study.name
    return frame(title, body, figures, styles=(STYLE,), scripts=(CSV, every_run.SCRIPT))


def papers_of(view: StudyView) -> dict[str, Spec]:
    """The figures of the page as they go into files, by name."""
    figures = Figures()
    sections(view, figures)
    return figures.papers


def sections(view: StudyView, figures: Figures) -> list[Section]:
    """Name, heading and HTML of each part; empty where there is nothing to say."""
    return [
        ("bar", "The bar", bar(view)),
        ("findings", "What was published, and whether it holds", findings(view)),
        ("choice", "Is it worth it?", choice(view)),
        ("care", "Sensitivity to the level", sensitivity_table(view)),
        ("interactions", "How the factors act", interactions(view, figures)),
        ("rankings", "Rankings", rankings(view, figures)),
        ("trade-off", "Trade-off", trade_off(view, figures)),
        ("groups", "Groups", groups(view)),
        ("variance", "What matters", variance(view, figures)),
        ("growth", "Growth", growth(view)),
        ("agreement", "Do the rankings agree?", agreement(view)),
        ("published", "Published and measured figures", published(view)),
        ("memory", "Memory over time", memory.over_time(view, figures)),
        ("runs", "Run by run", strips(view, figures)),
        ("failures", "Failures", failures.failures(view)),
        ("design", "Design", design(view)),
        ("environment", "Machines and libraries", environment(view)),
        ("reproduce", "How to reproduce it", reproduce(view)),
    ]
