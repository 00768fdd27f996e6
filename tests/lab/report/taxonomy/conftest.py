# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A taxonomy of three allocators: one that does all well, one that nothing is known of, one bad."""

import pytest

from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.run.provenance import Environment, Kind
from heapwright.artefacts.run.workload import Aspect
from heapwright.artefacts.taxonomy.document import (
    Counted,
    Criteria,
    Curve,
    Design,
    Disagreement,
    Estimate,
    Failure,
    Found,
    Growth,
    Plan,
    Published,
    Row,
    Scaling,
    Sharing,
    SharingEvidence,
    Speed,
    Taxonomy,
)
from support.documents import made

MIB = float(1 << 20)


def estimate(value: float) -> Estimate:
    return Estimate(value=value, low=0.9 * value, high=1.1 * value, runs=3)


def curves(slope: float) -> Growth:
    x = tuple(MIB * at for at in range(0, 256, 4))
    threads = (1.0, 2.0, 4.0, 8.0)
    return Growth(
        lost_per_byte=estimate(slope),
        per_thread=estimate(slope),
        over_time=Curve(
            x=x,
            y=tuple(MIB + slope * each for each in x),
            fitted=((x[32], MIB + slope * x[32]), (x[-1], MIB + slope * x[-1])),
        ),
        over_threads=Curve(
            x=threads,
            y=tuple(1 + slope * each for each in threads),
            fitted=((1.0, 1 + slope), (8.0, 1 + 8 * slope)),
        ),
    )


GOOD = Row(
    allocator="good",
    kind=Kind.COMPOSED,
    caption="a good one",
    fast=True,
    scalable=True,
    false_sharing=Sharing(active=False, passive=False),
    blowup="none",
    speed=Speed(time=estimate(2), instructions=3.0),
    scaling=Scaling(
        threads=2,
        speedup=estimate(1.9),
        by_threads={2: estimate(1.9)},
        counts=tuple(
            Counted(
                workload="larson",
                threads=threads,
                operations=1000,
                per_thousand={"lock_takes": 900.0, "hand_overs": 3.0 * threads},
            )
            for threads in (1, 8, 64)
        ),
        counted_by="library",
        traffic=Estimate(value=6),
    ),
    sharing=SharingEvidence(
        found=(Found(workload="larson", threads=4, operations=1000, active=20, passive=1),),
        active_per_thousand=0,
        passive_per_thousand=0,
        elsewhere="larson",
    ),
    growth=curves(0.0),
    design=made(
        Design, local_memory="thread", metadata_in_block=True, blowup_prevented_by="ownership"
    ),
)
NOTHING = made(
    Row,
    allocator="nothing",
    kind=Kind.FILE,
    false_sharing=Sharing(),
    failures=(
        Failure(
            aspect=Aspect.TIME,
            workload="producer-consumer",
            threads=2,
            outcome=Outcome.CRASHED,
            detail="killed by SIGSEGV\nand its last words",
        ),
    ),
)
BAD = Row(
    allocator="bad<b>",
    kind=Kind.PEER,
    fast=False,
    scalable=False,
    false_sharing=Sharing(active=True, passive=True),
    blowup="unbounded",
    speed=Speed(time=estimate(9)),
    scaling=Scaling(threads=2, speedup=estimate(0.5)),
    growth=curves(1.0),
    published=Published(source="A book", algorithm="something", fast="yes", blowup="unbounded"),
    disagreements=(
        Disagreement(column="fast", published="yes", measured="no", explanation="It is old."),
    ),
)


@pytest.fixture
def document() -> Taxonomy:
    environment = made(Environment, cpus=2, date="2026-01-02T03:04:05")
    return Taxonomy(
        heapwright_version="0",
        environment=environment,
        plan=Plan(
            seed=7,
            blocks=3,
            threads=(1, 2),
            counted_threads=(1, 8, 64),
            small=False,
            planned=9,
            done=8,
            stopped_because="it was interrupted",
        ),
        criteria=Criteria(
            fast=4, efficiency=0.65, traffic=500, sharing=1, unbounded=0.02, linear=0.25
        ),
        rows=(GOOD, NOTHING, BAD),
        notes=("a note",),
        runs=(),
    )
