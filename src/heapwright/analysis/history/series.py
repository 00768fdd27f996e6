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
from heapwright.analysis.history.changes import changes, steps
from heapwright.artefacts.comparison.counts import counted
from heapwright.artefacts.comparison.document import Comparison
from heapwright.artefacts.comparison.levels import views
from heapwright.artefacts.history.model import Change, Point, Series

TIMED = ("time", "cpu", "memory")


def series_of(documents: Iterable[tuple[str, Comparison]]) -> list[Series]:
    """All series of the documents, given as file name and content."""
    found: dict[tuple[object, ...], Series] = {}
    for file, document in sorted(documents, key=lambda each: (each[1].environment.date, each[0])):
        for name, view in views(document):
            for treatment, response, relative_to, value in _figures(view):
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
                        exact=view.design.exact,
                    ),
                )
                series.points.append(Point(environment.date, document.revision, file, value))
    return list(found.values())


def changes_of(
    series: Sequence[Series], *, error: float, margin: float, exact_margin: float
) -> list[Change]:
    """The changes of all series.

    `error` bounds false alarms over all of them together. `exact_margin` is the margin of counts.
    Counts with noise, such as those of a program with random hashes, are judged as measurements.
    """
    share = error / max(len(series), 1)
    found = []
    for each in series:
        limit = exact_margin if each.exact else margin
        exact = steps(each.values, margin=limit) if each.exact else []
        found += [
            Change(each, one) for one in exact or changes(each.values, error=share, margin=limit)
        ]
    return found


def _figures(view: Comparison) -> Iterable[tuple[str, str, str, float]]:
    """Treatment, response, baseline of the ratio or "", and value."""
    baseline = view.treatments[0]
    if view.design.exact:
        for info in view.treatments:
            own = counted(view.runs, info.key)
            for response, value in own.counts.items() if own else ():
                yield info.label, response, "", value
        return
    for effect in view.effects:
        if effect.response in TIMED and effect.key != baseline.key:
            label = next(each.label for each in view.treatments if each.key == effect.key)
            yield label, effect.response, baseline.label, effect.ratio
    for summary in view.responses:
        if summary.response in TIMED and summary.baseline_value:
            yield baseline.label, summary.response, "", summary.baseline_value
