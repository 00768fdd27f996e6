# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Mean and spread over the repetitions of a characterisation.

Published characterisations are means of 30 runs. Here every single figure of the document has its
mean, its sample standard deviation and its range; a figure that some run lacks has none.
"""

import math
import statistics
from collections.abc import Iterator, Sequence

from pydantic import BaseModel

from heapwright.artefacts.profile.document import Profile, Spread

CONSTANTS = frozenset(
    {
        "schema_version",
        "repetitions",
        "provenance.sampled",
        "pattern.step",
        "coverage.cpu_s",
        "coverage.unclaimed_cpu_s",
    }
)
"""Numbers that describe the document or the recording, not the program."""


def repeated(profiles: Sequence[Profile]) -> Profile:
    """The first profile with the spread over all of them, which are one or more."""
    spread = spread_of(profiles) if len(profiles) > 1 else ()
    return profiles[0].model_copy(update={"repetitions": len(profiles), "spread": spread})


def spread_of(profiles: Sequence[Profile]) -> tuple[Spread, ...]:
    """The spread of each figure that all of two or more profiles have, in the document's order."""
    runs = [dict(figures(profile)) for profile in profiles]
    return tuple(
        Spread(
            figure=name,
            mean=math.fsum(values) / len(values),
            sd=statistics.stdev(values),
            least=min(values),
            most=max(values),
        )
        for name in runs[0]
        if len(values := [run[name] for run in runs if name in run]) == len(runs)
    )


def figures(profile: Profile) -> Iterator[tuple[str, float]]:
    """Every single number of a profile with its path; `threads.length` is how many there are."""
    yield from _numbers(profile, "")
    yield "threads.length", float(len(profile.threads))


def _numbers(part: BaseModel, path: str) -> Iterator[tuple[str, float]]:
    for name in type(part).model_fields:
        value, here = getattr(part, name), f"{path}{name}"
        if isinstance(value, BaseModel):
            yield from _numbers(value, f"{here}.")
        elif _is_number(value) and here not in CONSTANTS:
            yield here, float(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
