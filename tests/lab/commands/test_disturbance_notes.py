# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Each kind of disturbance that runs record is noted, and a quiet machine gives no note."""

import pytest

from heapwright.artefacts.comparison.document import Comparison
from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.artefacts.run.provenance import Allocator, Environment, Kind
from heapwright.commands.conclusion import Question, conclude
from heapwright.commands.disturbance_notes import disturbance_notes
from heapwright.commands.racing import race_looks
from heapwright.experiment.comparison import Plan, Result
from heapwright.experiment.treatments import Treatment
from support.documents import made

TREATMENTS = [Treatment(Allocator(name=name, kind=Kind.FILE)) for name in ("glibc", "lea")]
QUESTION = Question(("ls",), race_looks(2, 0.95), 0.02, None, (), race=True)
CPUS = 4


def concluded(
    blocks: int = 4, scatter: float = 0.0, warmup: object = None, **fields: object
) -> Comparison:
    """A race in which every measured run has these fields."""

    def run(name: str, block: int) -> Run:
        wall = 1.0 + scatter * (block * len(name) % 3 - 1)
        own = {"warmup": True} if block < 1 else fields
        return Run.model_validate(
            {
                "allocator": name,
                "block": block,
                "position": 1,
                "outcome": Outcome.OK,
                "wall_s": wall,
                "user_s": wall,
                "sys_s": 0.0,
                **own,
                **({"load_before": warmup} if block < 1 and warmup is not None else {}),
            }
        )

    runs = [run(name, block) for block in range(blocks + 1) for name in ("glibc", "lea")]
    plan = Plan(treatments=TREATMENTS, seed=1, blocks=blocks)
    result = Result(runs=runs, blocks=blocks, stopped_because="all was done")
    return conclude(plan, QUESTION, result, made(Environment, cpus=CPUS, memory_bytes=2**30))


def test_a_quiet_machine_gives_no_note() -> None:
    quiet = concluded(
        load_before=0.5,
        runnable_before=1,
        steal_s=0.0,
        major_faults=0,
        voluntary_switches=3,
        involuntary_switches=1,
    )
    assert list(disturbance_notes(quiet)) == []


@pytest.mark.parametrize(
    ("fields", "note"),
    [
        (
            {"steal_s": 0.4},
            "other virtual machines took 10% of the processors' time, 10% in the worst run",
        ),
        (
            {"voluntary_switches": 1, "involuntary_switches": 7},
            "8 of 8 runs lost the processor more often than they gave it up: wall time contains "
            "the time of other programs",
        ),
        (
            {"runnable_before": 6},
            "before 8 of 8 runs other programs kept every processor busy "
            "(up to 6 runnable threads on 4)",
        ),
        (
            {"major_faults": 12},
            "8 runs waited for the disk: up to 12 major faults in one run",
        ),
    ],
)
def test_each_disturbance_is_noted(fields: dict[str, object], note: str) -> None:
    assert list(disturbance_notes(concluded(**fields))) == [note]  # type: ignore[arg-type]


def test_the_first_run_shows_a_busy_machine() -> None:
    (note,) = disturbance_notes(concluded(warmup=7.5))
    assert note == "the machine was busy before the first run (load 7.5): expect scatter"
    (note,) = disturbance_notes(concluded(warmup=7.5, load_before=9.0))
    assert "(load 7.5, later up to 9.0)" in note
    assert list(disturbance_notes(concluded(warmup=1.0, load_before=9.0))) == []


def test_an_undecided_race_between_erratic_runs_names_what_to_do() -> None:
    (note,) = disturbance_notes(concluded(scatter=0.3))
    assert note.startswith("processor time varies by ")
    assert "PERL_HASH_SEED=0" in note
    assert list(disturbance_notes(concluded(scatter=0.01))) == []
