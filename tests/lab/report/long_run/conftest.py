# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A made-up long run whose every figure is given, with a name to escape."""

import pytest

from heapwright.artefacts.long_run.document import (
    Direction,
    Load,
    LongRun,
    Plan,
    Round,
    Sample,
    SeriesGrowth,
)
from heapwright.artefacts.program.model import ProgramFigure, ProgramSubject
from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.run.provenance import read_environment

MEBI = 2**20


@pytest.fixture
def long_run() -> LongRun:
    figure = ProgramFigure(measure="rate", title="answers a second", unit="1/s")
    plan = Plan(
        program=ProgramSubject(name="small", title="", sha256="0", figures=(figure,)),
        command=("server", "<b>"),
        allocator="glibc",
        load=Load(hours=2.0),
        interval_s=60.0,
        environment=read_environment([], {}),
    )
    samples = tuple(
        Sample(
            time_s=at * 60.0,
            resident_bytes=(20 + at) * MEBI,
            anonymous_bytes=(15 + at) * MEBI,
            live_bytes=10 * MEBI,
            held_bytes=(5 + at) * MEBI,
            processes=2,
            busy=True,
        )
        for at in range(60)
    )
    rounds = tuple(
        Round(begin_s=at * 600.0, end_s=at * 600.0 + 500, responses={"rate": 100.0 - at})
        for at in range(6)
    )
    held = SeriesGrowth(
        series="held",
        bytes_per_hour=60.0 * MEBI,
        low=59.0 * MEBI,
        high=61.0 * MEBI,
        level_bytes=35.0 * MEBI,
        rise_bytes=45 * MEBI,
        points=45,
        inflation=1.25,
        direction=Direction.GROWS,
    )
    return LongRun(
        plan=plan,
        outcome=Outcome.OK,
        whole=True,
        live_source="mallinfo2",
        samples=samples,
        rounds=rounds,
        settled_s=900.0,
        growths=(held,),
        notes=("a note with <i>",),
    )
