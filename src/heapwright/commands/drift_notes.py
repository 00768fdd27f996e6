# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A baseline that drifts over the blocks: each run may change what the next one finds.

The errors of all tests in a comparison add up to `ERROR` at most.
"""

from collections.abc import Iterator

import numpy as np

from heapwright.analysis.blocked import value_of
from heapwright.analysis.drift import drift
from heapwright.artefacts.comparison.document import Comparison, Response
from heapwright.artefacts.comparison.levels import views
from heapwright.artefacts.run.measured import Outcome

ERROR = 0.02
LEAST_CHANGE = 0.1
"""Smaller drifts are usual for a machine, and the blocks remove them from all ratios."""
WORDS = {"time": "wall time", "cpu": "processor time", "memory": "memory"}


def drift_notes(comparison: Comparison) -> Iterator[str]:
    """A line for each figure of a baseline with a steady and large drift."""
    found = views(comparison)
    figures: tuple[Response, ...] = (comparison.design.race or "time", "memory")
    error = ERROR / (len(figures) * len(found))
    for name, view in found:
        for figure in figures:
            change = _change(view, figure, error)
            if change is not None and abs(change) >= LEAST_CHANGE:
                where = f" at {name}" if name else ""
                yield (
                    f"drift: {view.treatments[0].label}{where} needed {abs(change):.0%} "
                    f"{'more' if change > 0 else 'less'} {WORDS[figure]} at the end than at the "
                    "beginning. If each run changes the state for the next one (a cache, a "
                    "growing file), restore it with --prepare"
                )


def _change(view: Comparison, figure: Response, error: float) -> float | None:
    """How much a figure of the baseline drifted."""
    key = view.treatments[0].key
    own = [
        (run.block, value)
        for run in view.runs
        if (run.allocator, run.level) == key
        and run.outcome is Outcome.OK
        and not run.warmup
        and (value := value_of(run, figure)) is not None
    ]
    return drift([block for block, _ in own], [float(np.log(value)) for _, value in own], error)
