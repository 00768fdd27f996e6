# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The figures of stored comparisons as series over time.

A candidate's figure is its ratio to the baseline of the same document, which cancels what changed
for all candidates, such as a slower machine. The baseline's own figure is an absolute one. Exact
counts do not depend on the machine's load, so they are absolute for every candidate. Documents with
another command, processor or baseline belong to another series.
"""

from collections.abc import Iterable, Sequence

from heapwright.analysis.analyse import unit_of
from heapwright.analysis.history.changes import changes, fewest_documents
from heapwright.analysis.history.steps import repeats, steps
from heapwright.artefacts.comparison.counts import counted
from heapwright.artefacts.comparison.document import Comparison
from heapwright.artefacts.comparison.levels import views
from heapwright.artefacts.history.model import Change, Point, Series
from heapwright.artefacts.run.exact_counts import INSTRUCTIONS

TIMED = ("time", "cpu", "memory")
MARGIN = 0.01
EXACT_MARGIN = 0.001
"""Of instructions that repeat. The lengths of paths and of the environment change a few of them."""


def series_of(documents: Iterable[tuple[str, Comparison]]) -> list[Series]:
    """All series of the documents, given as file name and content."""
    found: dict[tuple[object, ...], Series] = {}
    for file, document in sorted(documents, key=lambda each: (each[1].environment.date, each[0])):
        for name, view in views(document):
            for treatment, response, relative_to, value, spread in _figures(view):
                label = f"{treatment} [{name}]" if name else treatment
                environment = document.environment
                key = (document.command, environment.cpu, label, response, relative_to)
                series = found.setdefault(
                    key,
                    Series(
                        document.command,
                        environment.cpu,
                        label,
                        response,
                        "ratio" if relative_to else unit_of(response),
                        relative_to,
                    ),
                )
                series.points.append(
                    Point(environment.date, document.revision, file, value, spread)
                )
    return list(found.values())


def changes_of(
    series: Sequence[Series], *, error: float, margin: float | None = None
) -> list[Change]:
    """The changes of all series; `error` bounds false alarms over all of them together.

    Instructions that repeat within their documents need no ranks: a difference is a change. Without
    a `margin`, each kind of figure has its own.
    """
    limit = EXACT_MARGIN if margin is None else margin
    ranked = _ranked(series, limit)
    found = []
    for each in series:
        spreads = each.spreads
        if each in ranked or spreads is None:
            share = error / len(ranked)
            its = changes(each.values, error=share, margin=MARGIN if margin is None else margin)
        else:
            its = steps(each.values, spreads, margin=limit)
        found += [Change(each, one) for one in its]
    return found


def too_few(series: Sequence[Series], *, error: float, margin: float | None = None) -> str:
    """That no rank test can find a change yet, and from how many documents on it can; or ""."""
    ranked = _ranked(series, EXACT_MARGIN if margin is None else margin)
    if not ranked:
        return ""
    longest = max(len(each.points) for each in ranked)
    fewest = fewest_documents(error / len(ranked))
    if longest >= fewest:
        return ""
    figures = "1 figure" if len(ranked) == 1 else f"{len(ranked)} figures"
    return (
        f"{longest} documents are too few to find a change by ranks in {figures} at --error "
        f"{100 * error:.3g} %. It takes {fewest}, half of them before the change, even without "
        "noise. --response reduces the number of figures"
    )


def _ranked(series: Sequence[Series], margin: float) -> list[Series]:
    """The series whose changes the rank test has to find."""
    return [
        each
        for each in series
        if each.response != INSTRUCTIONS
        or each.spreads is None
        or not repeats(each.spreads, margin)
    ]


def _figures(view: Comparison) -> Iterable[tuple[str, str, str, float, float | None]]:
    """Treatment, response, baseline of the ratio or "", value, and spread of an exact count."""
    baseline = view.treatments[0]
    if view.design.exact:
        for info in view.treatments:
            own = counted(view.runs, info.key)
            if own is None:
                continue
            for response, value in own.counts.items():
                repeated = own.runs > 1 and response == INSTRUCTIONS
                yield info.label, response, "", value, own.spread if repeated else None
        return
    for effect in view.effects:
        if effect.response in TIMED and effect.key != baseline.key:
            label = next(each.label for each in view.treatments if each.key == effect.key)
            yield label, effect.response, baseline.label, effect.ratio, None
    for summary in view.responses:
        if summary.response in TIMED and summary.baseline_value:
            yield baseline.label, summary.response, "", summary.baseline_value, None
