# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A made-up comparison whose every figure is given, so that a report of it is known beforehand."""

from collections.abc import Callable
from types import ModuleType

import pytest

from heapwright.artefacts.comparison.document import (
    Comparison,
    Design,
    Effect,
    Response,
    ResponseSummary,
    TreatmentInfo,
    Verdict,
)
from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.artefacts.run.provenance import Environment, Kind
from support.scripts import load_script

MIB = 1 << 20
LIBRARY = "/usr/lib/x86_64-linux-gnu/libmimalloc.so.2"
LEVEL = "MALLOC_CONF=narenas:1,tcache:false"

# allocator, level, time (ratio, low, high), memory, letters
FIGURES = (
    ("glibc", "", (1.0, 1.0, 1.0), (1.0, 1.0, 1.0), "c"),
    ("jemalloc", "", (0.921, 0.902, 0.94), (1.12, 1.1, 1.14), "ab"),
    ("jemalloc", LEVEL, (0.955, 0.93, 0.98), (0.99, 0.97, 1.01), "bc"),
    ("mimalloc", "", (0.88, 0.86, 0.9), (0.81, 0.8, 0.82), "a"),
    ("huge", "", (12.34, 11.9, 12.8), (3.0, 2.9, 3.1), "d"),
)

ENVIRONMENT = Environment(
    host="host",
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
)


def info(allocator: str, level: str = "") -> TreatmentInfo:
    return TreatmentInfo(
        allocator=allocator,
        level=level,
        label=f"{allocator} [{level}]" if level else allocator,
        kind=Kind.SYSTEM if allocator == "glibc" else Kind.PEER,
        preload=None if allocator == "glibc" else f"/usr/lib/lib{allocator}.so",
    )


def run(allocator: str, level: str, block: int, outcome: Outcome = Outcome.OK) -> Run:
    return Run(
        allocator=allocator,
        level=level,
        block=block,
        position=block,
        warmup=block < 1,
        outcome=outcome,
        exit_status=0 if outcome is Outcome.OK else None,
        signal=6 if outcome is Outcome.CRASHED else None,
        wall_s=2.31,
        user_s=2.0,
        sys_s=0.125,
        peak_rss_bytes=412 * MIB,
        interposed=True,
        rss_series=[(0.0, 4096), (0.1, 8192)],
    )


def effects() -> list[Effect]:
    def one(response: Response, allocator: str, level: str, r: tuple[float, ...], g: str) -> Effect:
        return Effect(
            allocator=allocator,
            level=level,
            response=response,
            ratio=r[0],
            low=r[1],
            high=r[2],
            group=g,
            runs=3,
        )

    found = [one("time", a, lev, time, group) for a, lev, time, _, group in FIGURES]
    return found + [one("memory", a, lev, memory, "a") for a, lev, _, memory, _ in FIGURES]


def summary(response: Response) -> ResponseSummary:
    return ResponseSummary(
        response=response,
        unit="bytes" if response == "memory" else "s",
        baseline_value=412 * MIB if response == "memory" else 2.31,
        method="dunnett-t",
        level=0.95,
        critical_value=2.6,
        blocks=3,
        df=8,
        residual_sd=0.01,
    )


def comparison(**changes: object) -> Comparison:
    runs = [
        run(allocator, level, block) for block in (0, 1, 2, 3) for allocator, level, *_ in FIGURES
    ]
    runs += [run("broken", "", b, Outcome.CRASHED if b > 1 else Outcome.OK) for b in (1, 2, 3)]
    whole = Comparison(
        heapwright_version="0.1.0",
        command=("g++", "-c", "a b.cpp"),
        environment=ENVIRONMENT,
        design=Design(
            blocks=3,
            warmup=1,
            seed=42,
            baseline="glibc",
            looks=(3,),
            stopped_because="the 3 blocks asked for are done",
        ),
        treatments=(
            info("glibc"),
            info("broken"),
            *(info(allocator, level) for allocator, level, *_ in FIGURES[1:]),
        ),
        runs=tuple(runs),
        effects=tuple(effects()),
        responses=(summary("time"), summary("memory")),
        pareto=("mimalloc",),
        verdict=Verdict(
            action="switch",
            allocator="mimalloc",
            reason="Switch to mimalloc: 12 % faster (10 to 14), 19 % less memory (18 to 20)",
            notes=("jemalloc is a trade-off: 8 % faster (6 to 10), 12 % more memory (10 to 14)",),
            how=(f"shell: LD_PRELOAD={LIBRARY} g++ -c 'a b.cpp'", "  [Service]"),
        ),
    )
    return whole.model_copy(update=changes)


@pytest.fixture(scope="session")
def make_comparison() -> Callable[..., Comparison]:
    return comparison


@pytest.fixture(scope="session")
def make_run() -> Callable[..., Run]:
    return run


BROWSING = load_script("tests/lab/report/browser.py")
"""Tests are loaded one by one, so that what they share has to be as well."""


@pytest.fixture(scope="session")
def browsing() -> ModuleType:
    """Reading and looking at pages."""
    return BROWSING
