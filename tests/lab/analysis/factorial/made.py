# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Made-up studies for the tests of the analysis, and the files in data/ that R is given.

`python made.py` writes the files anew; a test sees that they are what it would write. Numbers are
drawn by Python's own generator, whose stream does not change from version to version.
"""

import itertools
import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from heapwright.analysis.factorial.observed import Factor

DATA = Path(__file__).with_name("data")

Levels = Mapping[str, str]


@dataclass(frozen=True)
class Study:
    """A simulated study; `error` is the relative scatter of a run."""

    factors: Mapping[str, int]
    blocks: int
    seed: int = 1
    error: float = 0.05
    missing: float = 0.0
    left_out: Callable[[Sequence[int]], bool] = lambda _levels: False
    """Combinations of levels that are not run."""
    interaction: float = 0.05

    def named(self) -> tuple[Factor, ...]:
        return tuple(
            Factor(name, tuple(f"{name}{k}" for k in range(size)))
            for name, size in self.factors.items()
        )

    def frame(self) -> pl.DataFrame:
        """A row a run, as `Results.frame()` has them; the response is `y`."""
        draws = random.Random(self.seed)
        main = [[draws.gauss(0, 0.3) for _ in range(size)] for size in self.factors.values()]
        cells = [
            levels
            for levels in itertools.product(*map(range, self.factors.values()))
            if not self.left_out(levels)
        ]
        logs = {
            levels: sum(effects[k] for effects, k in zip(main, levels, strict=True))
            + draws.gauss(0, self.interaction)
            for levels in cells
        }
        rows = []
        for block in range(1, self.blocks + 1):
            shift = draws.gauss(0, 0.1)
            order = list(cells)
            draws.shuffle(order)
            for position, levels in enumerate(order):
                value = math.exp(logs[levels] + shift + draws.gauss(0, self.error))
                ended = "crashed" if draws.random() < self.missing else "ok"
                rows.append(self._row(levels, block, position, ended, value))
        return pl.DataFrame(rows)

    def _row(
        self, levels: Sequence[int], block: int, position: int, ended: str, value: float
    ) -> dict[str, object]:
        names = dict(zip(self.factors, levels, strict=True))
        return {
            **{name: f"{name}{k}" for name, k in names.items()},
            "treatment": "".join(f"{name}{k}" for name, k in names.items()),
            "block": block,
            "position": position,
            "host": "here",
            "warmup": False,
            "outcome": ended,
            "y": float(f"{value:.7g}") if ended == "ok" else None,
        }


SHIPPED = {
    "balanced": Study({"a": 3, "b": 2, "c": 4}, blocks=5, seed=11),
    "holes": Study({"a": 3, "b": 2, "c": 4}, blocks=5, seed=12, missing=0.12),
    "constrained": Study(
        {"a": 4, "b": 4, "c": 2}, blocks=6, seed=13, left_out=lambda levels: levels[0] < levels[1]
    ),
    "pair": Study({"a": 2, "b": 5}, blocks=12, seed=14, error=0.2),
}
"""What is written to data/, by name."""


def good(study: Study) -> pl.DataFrame:
    """The runs that ended well, as R is given them."""
    frame = study.frame().filter(pl.col("outcome") == "ok")
    return frame.select(*study.factors, "treatment", "block", "y")


def text_of(study: Study) -> str:
    return good(study).write_csv()


if __name__ == "__main__":
    for name, study in SHIPPED.items():
        (DATA / f"{name}.csv").write_text(text_of(study), encoding="utf-8")
