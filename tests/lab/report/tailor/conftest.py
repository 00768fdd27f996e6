# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A search that delivered an allocator."""

import pytest

from heapwright.artefacts.run.provenance import read_environment
from heapwright.artefacts.tailoring.document import (
    Answer,
    Beside,
    Candidate,
    Judgement,
    ProgramFigures,
    Proof,
    Ratio,
    Refinement,
    Round,
    StepValue,
    Tailoring,
)


def ratio(middle: float) -> Ratio:
    return Ratio(ratio=middle, low=middle - 0.03, high=middle + 0.04)


def candidate(name: str, instructions: int, mib: int, **more: object) -> Candidate:
    return Candidate.model_validate(
        {
            "name": name,
            "digest": name,
            "type": "Top = <T>",
            "seconds": instructions / 1e9,
            "instructions": instructions,
            "faults": 900 + mib,
            "peak_bytes": mib << 20,
            **more,
        }
    )


@pytest.fixture(scope="session")
def tailoring() -> Tailoring:
    """Its names need escaping."""
    return Tailoring(
        heapwright_version="1",
        environment=read_environment([], {}),
        inputs=(("./job", "<b>"),),
        unseen=(("./job", "other"),),
        compiler="c++ 12",
        margin=0.02,
        confidence=0.95,
        seed=1,
        figures=ProgramFigures(
            allocations=164_113,
            frees=160_000,
            reallocs=10,
            moved_reallocs=5,
            remote_frees=0,
            threads=1,
            sizes=135,
            peak_live_bytes=16 << 20,
            never_freed=9,
            list_hits={8: 0.5},
        ),
        candidates=(
            candidate("lists-10-huge", 40_000_000, 24, front=True),
            candidate("lists-12", 42_000_000, 20, front=True),
            candidate("fit-4", 60_000_000, 18, front=True, left="it is no finalist of the front"),
            candidate("superblocks-16k", 70_000_000, 25, left="another replays no slower"),
            Candidate(name="caches-8-lean", digest="e", type="Top", left="it crashed"),
        ),
        raced={
            "glibc": (Ratio(ratio=1, low=None, high=None), Ratio(ratio=1, low=None, high=None)),
            "granary": (ratio(0.82), ratio(1.0)),
            "mimalloc-latest": (ratio(0.68), ratio(1.41)),
            "lists-10-huge": (ratio(0.72), ratio(1.06)),
            "broken": (None, None),
        },
        refinement=Refinement(
            rounds=(
                Round(
                    beside="lists-10-huge",
                    tried=(
                        candidate("lists-10-huge-classes-14", 41_000_000, 22, front=True),
                        candidate("lists-10-huge-pages-4k", 50_000_000, 30, left="no <i>gain"),
                        Candidate(name="lists-10-huge-sites", digest="f", type="Top"),
                    ),
                    raced={
                        "lists-10-huge": (ratio(1.0), ratio(1.0)),
                        "mimalloc-latest": (ratio(0.95), ratio(1.3)),
                        "lists-10-huge-classes-14": (ratio(0.99), ratio(0.92)),
                        "lists-10-huge-sites": (ratio(1.2), ratio(1.1)),
                    },
                    winner="lists-10-huge-classes-14",
                ),
                Round(
                    beside="lists-10-huge-classes-14",
                    tried=(
                        candidate("lists-10-huge-classes-14-large-16k", 45_000_000, 29, left="x"),
                    ),
                    winner="lists-10-huge-classes-14",
                ),
            ),
            ended="no neighbour <b>gains",
        ),
        judged=(
            Judgement(
                command=("./job", "other"),
                unseen=True,
                figure="cpu",
                blocks=9,
                beside=(
                    Beside(
                        allocator="mimalloc-latest",
                        time=ratio(1.0),
                        memory=ratio(0.89),
                        verdict="better",
                    ),
                ),
            ),
        ),
        winner="lists-10-huge",
        steps=(
            StepValue(
                step="classes",
                instead="powers of two",
                seconds=0.05,
                instructions=41_000_000,
                faults=1200,
                peak_bytes=31 << 20,
            ),
            StepValue(step="large", instead="a limit of 128 * KiB", why_not="it <i>crashed"),
        ),
        proofs=(
            Proof(candidate="lists-12", failed=("larson: killed by SIGSEGV",)),
            Proof(
                candidate="lists-10-huge",
                conformance=140,
                promises=("free-sized-larger",),
                stress=("larson", "mixed"),
                sanitizers=("address,undefined", "thread"),
            ),
        ),
        header="own.hpp",
        library="libheapwright-own.so",
        rebuild="heapwright compose own --file own.hpp",
        rebuild_from_trace="heapwright tailor --name own input-0.trace",
        answer=Answer(
            action="tailored", allocator="own", reason="Use own: it gains", notes=("a <i>note",)
        ),
        finished=True,
    )
