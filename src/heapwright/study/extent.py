# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""How large a design is, in words; known before anything of it is made."""

from dataclasses import dataclass

from heapwright.artefacts.study.file import StudyFile
from heapwright.base.problems import Keys

MOST_TREATMENTS = 100_000
MOST_RUNS = 10_000_000
STEPS = (("years", 365.25 * 86400), ("days", 86400.0), ("h", 3600.0), ("min", 60.0), ("s", 1.0))
HINT = 'fewer levels, a constraint, or a part of it: [design] with kind = "fraction" and a share'


@dataclass(frozen=True, slots=True)
class Extent:
    """Sizes of a design."""

    total: int
    """Combinations of all levels."""
    allowed: int
    """Of these, allowed by the constraints."""
    exact: bool
    """Whether `allowed` was counted; otherwise it is an estimate."""
    treatments: int
    """Those that are to be run."""
    blocks: int

    @property
    def runs(self) -> int:
        return self.treatments * self.blocks

    def __str__(self) -> str:
        time = duration(float(self.runs))
        about = "" if self.exact or self.allowed == self.total else "about "
        return (
            f"{about}{_plural(self.treatments, 'treatment')} in {_plural(self.blocks, 'block')}: "
            f"{about}{_plural(self.runs, 'run')}, {time} if a run takes a second"
        )

    def check(self, file: StudyFile) -> None:
        """Raises HeapwrightError if it is larger than any machine could run."""
        share = min(MOST_TREATMENTS / self.treatments, MOST_RUNS / self.runs) if self.runs else 1.0
        if share >= 1:
            return
        if self.treatments > MOST_TREATMENTS:
            limit, hint = _plural(MOST_TREATMENTS, "treatment"), HINT
            keys: Keys = ("factors",) if self.treatments == self.allowed else ("design",)
        else:
            limit, hint = _plural(MOST_RUNS, "run"), f"fewer blocks, {HINT}"
            keys = ("design", "blocks")
        raise file.error(
            keys,
            f"the design is too large: {self}; the most is {limit}",
            f"{hint} = {share * self.treatments / max(self.allowed, 1):.1g}",
        )


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def duration(seconds: float) -> str:
    """About how long, in the largest unit of which there is more than one."""
    for unit, length in STEPS:
        if seconds >= 2 * length or unit == "s":
            return f"{seconds / length:,.0f} {unit}"
    raise AssertionError("seconds are the last")
