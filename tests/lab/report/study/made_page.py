# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Made-up studies of any size: runs that are drawn, an analysis whose figures follow them."""

import hashlib
from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import polars as pl

from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.run.provenance import Allocator, Environment, Kind
from heapwright.artefacts.study_results.runs import (
    Cell,
    Dropped,
    Excluded,
    Factor,
    Measured,
    StudyDesign,
    StudyRun,
)
from heapwright.report.study.page import wanted
from heapwright.report.study.view import StudyView

from .made_analysis import analysis_of

MIB = float(1 << 20)
RESPONSES = (Measured(name="time", unit="s"), Measured(name="memory", unit="B"))
LARGE = {
    "allocations": ("500000", "1000000", "10000000"),
    "size": ("16..64", "64..512", "512..2048"),
    "threads": ("1", "2", "4", "8", "16", "32"),
    "cpus": ("1", "2", "4", "8", "16", "32"),
    "pattern": ("peak", "growing"),
    "allocator": ("ptmalloc2", "ptmalloc3", "hoard", "miser", "jemalloc", "tcmalloc"),
}
SMALL = {
    "allocations": ("1000", "10000"),
    "threads": ("1", "2", "4"),
    "allocator": ("glibc", "bad<b>", "jemalloc"),
}
ENVIRONMENT = Environment(
    host="bench<1>",
    kernel="Linux 6.1",
    distribution="Debian 12",
    cpu="cpu",
    cpus=2,
    memory_bytes=8 << 30,
    governor="",
    libc="glibc 2.36",
    heapwright="0.1.0",
    python="3.11.2",
    date="2026-01-01T00:00:00+00:00",
    clock="tsc",
    allocators=[Allocator(name="jemalloc", kind=Kind.PEER, version="5.3", path="/lib/j.so")],
)


def design_of(
    factors: Mapping[str, Sequence[str]], blocks: int, responses: Sequence[Measured] = RESPONSES
) -> StudyDesign:
    cells = [
        Cell(
            id=hashlib.sha256(repr(levels).encode()).hexdigest()[:12],
            levels=dict(zip(factors, levels, strict=True)),
            allocator=levels[-1],
        )
        for levels in product(*factors.values())
    ]
    return StudyDesign(
        study="made-up",
        title="A made-up <study>",
        sha256="ab" * 32,
        seed=7,
        blocks=blocks,
        discard=1,
        factors=tuple(
            Factor(
                name=name,
                levels=tuple(levels),
                values=numbers(levels),
                role="allocator" if name == "allocator" else "parameter",
            )
            for name, levels in factors.items()
        ),
        treatments=tuple(cells),
        responses=tuple(responses),
        baseline=factors["allocator"][0] if "allocator" in factors else "",
        dropped=(Dropped(factor="cpus", level="64", because="this machine has 2 processors"),),
        excluded=(Excluded(require="threads >= 1", because="it is so", count=3),),
    )


def numbers(levels: Sequence[str]) -> tuple[float, ...]:
    try:
        return tuple(float(level) for level in levels)
    except ValueError:
        return ()


def frame_of(design: StudyDesign, *, failing: str = "") -> pl.DataFrame:
    """A row a run; every level adds something of its own, and chance a few per cent."""
    rng = np.random.default_rng(design.seed)
    factors = [factor.name for factor in design.factors]
    places = {f.name: {level: at for at, level in enumerate(f.levels)} for f in design.factors}
    count = len(design.treatments)
    scores = np.array([[places[f][c.levels[f]] for f in factors] for c in design.treatments])
    base = scores @ np.linspace(0.9, 0.2, len(factors))
    if len(factors) > 1:
        base = base + 0.15 * scores[:, 0] * scores[:, 1]
    tables = []
    for block in range(1 - design.discard, design.blocks + 1):
        columns = {f: [cell.levels[f] for cell in design.treatments] for f in factors}
        outcome = [
            "crashed" if cell.allocator == failing and block % 2 else "ok"
            for cell in design.treatments
        ]
        values = {
            each.name: size * np.exp(base * share + rng.normal(0, 0.03, count))
            for each, size, share in zip(
                design.responses, (0.01, 4 * MIB, 5 * MIB), (1.0, 0.6, 0.7), strict=False
            )
        }
        good = pl.Series("good", [each == "ok" for each in outcome])
        table = pl.DataFrame(
            {
                **columns,
                "treatment": [cell.id for cell in design.treatments],
                "block": block,
                "position": range(count),
                "host": ENVIRONMENT.host,
                "warmup": block < 1,
                "outcome": outcome,
                "began": 0.0,
                **values,
            }
        )
        names = [each.name for each in design.responses]
        tables.append(table.with_columns(pl.when(good).then(pl.col(n)).alias(n) for n in names))
    return pl.concat(tables)


def runs_of(
    frame: pl.DataFrame, keys: set[tuple[int, str]], design: StudyDesign
) -> dict[tuple[int, str], StudyRun]:
    """Those runs whole, with memory that rises and falls."""
    allocators = {cell.id: cell.allocator for cell in design.treatments}
    bad = set(frame.filter(pl.col("outcome") != "ok").select("block", "treatment").iter_rows())
    return {
        key: StudyRun(
            allocator=allocators[key[1]],
            level=key[1],
            block=key[0],
            position=0,
            outcome=Outcome.CRASHED if key in bad else Outcome.OK,
            rss_series=[(0.1 * at, int(MIB * (1 + at % 40))) for at in range(300)],
            detail="killed by <SIGSEGV>\nand its last words" if key in bad else "",
        )
        for key in keys
    }


def view_of(
    factors: Mapping[str, Sequence[str]],
    blocks: int,
    *,
    failing: str = "",
    every_cell: bool = True,
    responses: Sequence[Measured] = RESPONSES,
) -> StudyView:
    """All that a page is made from."""
    design = design_of(factors, blocks, responses)
    frame = frame_of(design, failing=failing)
    bare = StudyView(
        analysis=analysis_of(design, frame, every_cell=every_cell),
        design=design,
        frame=frame,
        hosts={ENVIRONMENT.host: ENVIRONMENT},
        study_text='name = "made-up"\n[factors.size] # <b>\n',
        folders=("results",),
    )
    whole = {**bare.__dict__, "runs": runs_of(frame, wanted(bare), design)}
    names = ("analysis", "design", "frame", "hosts", "study_text", "folders", "runs")
    return StudyView(**{name: whole[name] for name in names})
