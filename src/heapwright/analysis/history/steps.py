# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Changes of a count that repeats: steps that are larger than anything the count does by itself.

Two runs of a deterministic program have equal counts. If the runs of each document agree, one
that differs from those before it shows a change without statistics, as in
`gate --exact`. The difference must exceed the margin, three spreads within the documents, and three
times the scatter of the documents since the last change.
"""

from collections.abc import Sequence
from statistics import median

from heapwright.analysis.exact import SPREADS
from heapwright.artefacts.history.model import Found


def repeats(spreads: Sequence[float], margin: float) -> bool:
    """Whether the runs of every document agree far better than a change of `margin`."""
    return SPREADS * max(spreads, default=0.0) <= margin


def steps(values: Sequence[float], spreads: Sequence[float], *, margin: float) -> list[Found]:
    """The changes of a series of positive counts, in their order."""
    own = SPREADS * max(spreads, default=0.0)
    starts = [0]
    for now in range(1, len(values)):
        before = values[starts[-1] : now]
        scatter = max(before) / min(before) - 1
        limit = max(margin, own, SPREADS * scatter)
        if abs(values[now] / median(before) - 1) > limit:
            starts.append(now)
    ends = [*starts[1:], len(values)]
    levels = [median(values[at:end]) for at, end in zip(starts, ends, strict=True)]
    return [
        Found(at, at, after / before)
        for at, before, after in zip(starts[1:], levels, levels[1:], strict=False)
    ]
