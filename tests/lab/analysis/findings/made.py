# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Runs with effects that are known, and the design that they would be from."""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import polars as pl

from heapwright.artefacts.study.model import Study
from heapwright.artefacts.study_results.runs import Cell, Dropped, Factor, Measured, StudyDesign

LEVELS = {
    "allocator": ("quick", "slow", "even"),
    "threads": ("1", "2", "4"),
    "pattern": ("peak", "growing"),
}
Value = Callable[[Mapping[str, str]], float]


def seconds(levels: Mapping[str, str]) -> float:
    """quick: 1 s, slow: 1.5 s, even: 1.2 s; half as long with twice the threads, but for `even`."""
    base = {"quick": 1.0, "slow": 1.5, "even": 1.2}[levels["allocator"]]
    return base if levels["allocator"] == "even" else base / float(levels["threads"])


def frame(
    value: Value = seconds,
    *,
    blocks: int = 6,
    noise: float = 0.01,
    levels: Mapping[str, Sequence[str]] = LEVELS,
    hosts: Sequence[str] = ("here",),
    drift: float = 0.5,
) -> pl.DataFrame:
    """One run a treatment and block; each block as a whole is faster or slower by `drift`."""
    random = np.random.default_rng(7)
    rows = []
    for block in range(1, blocks + 1):
        whole = random.normal(0, drift)
        for at, combination in enumerate(product(*levels.values())):
            names = dict(zip(levels, combination, strict=True))
            host = hosts[(block + at) % len(hosts)]
            slow = 3.0 if host == "slow-host" else 1.0
            scatter = float(np.exp(whole + random.normal(0, noise)))
            rows.append(
                names
                | {"treatment": "-".join(combination), "block": block, "host": host}
                | {"warmup": False, "outcome": "ok", "time": value(names) * scatter * slow}
            )
    return pl.DataFrame(rows)


def design(
    levels: Mapping[str, Sequence[str]] = LEVELS, dropped: Sequence[Dropped] = ()
) -> StudyDesign:
    cells = [
        Cell(id="-".join(each), levels=dict(zip(levels, each, strict=True)))
        for each in product(*levels.values())
    ]
    factors = [
        Factor(
            name=name,
            levels=tuple(names),
            values=tuple(map(float, names)) if name == "threads" else (),
        )
        for name, names in levels.items()
    ]
    return StudyDesign(
        study="made",
        sha256="0",
        seed=1,
        blocks=6,
        factors=tuple(factors),
        treatments=tuple(cells),
        responses=(Measured(name="time", unit="s"),),
        dropped=tuple(dropped),
    )


def study(*tests: Any, **more: Any) -> Study:
    """A study whose findings are these tests, called f0, f1 …"""
    findings = [
        {"id": f"f{place}", "words": "it is so", "test": test} for place, test in enumerate(tests)
    ]
    return Study.model_validate(
        {
            "format": 1,
            "name": "made",
            "title": "Made",
            "command": ["true"],
            "factors": {name: {"levels": list(levels)} for name, levels in LEVELS.items()},
            "responses": {"time": {"from": "wall"}},
            "finding": findings,
        }
        | more
    )
