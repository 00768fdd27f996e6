# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A race from runs: the figure that decides, the excluded candidates, and the verdict of an
analysis.
"""

import re

import pytest

from heapwright.analysis.analyse import Analysis, Settings, analyse
from heapwright.analysis.race.race import Rules
from heapwright.analysis.race.runs import Reading, deciding_figure, race_of
from heapwright.analysis.race.verdict import MORE_TIME
from heapwright.artefacts.comparison.document import TreatmentInfo
from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.artefacts.run.provenance import Kind

KEYS = [("glibc", ""), ("fast", ""), ("slow", "")]
TREATMENTS = [
    TreatmentInfo(allocator=name, label=name, kind=Kind.SYSTEM, version="1") for name, _ in KEYS
]
WOBBLE = (1.0, 1.004, 0.997, 1.002, 0.999, 1.003, 0.996, 1.001)


def run(allocator: str, block: int, wall: float = 1.0, cpu: float = 0.98, **more: object) -> Run:
    usual = {
        "allocator": allocator,
        "block": block,
        "position": 1,
        "warmup": block < 1,
        "outcome": Outcome.OK,
        "wall_s": wall,
        "user_s": cpu,
        "sys_s": 0.0,
        "peak_rss_bytes": 100 << 20,
        "interposed": True,
    }
    return Run.model_validate({**usual, **more})


def raced(times: dict[str, float], blocks: int, noise: float = 1) -> list[Run]:
    return [
        run(name, block, wall := time * WOBBLE[(block * (3 + place)) % 8] ** noise, wall)
        for block in range(1, blocks + 1)
        for place, (name, time) in enumerate(times.items())
    ]


def analysed(runs: list[Run], cap_bytes: int | None = None) -> Analysis:
    settings = Settings(0.95, cap_bytes=cap_bytes, race="time")
    return analyse(runs, TREATMENTS, KEYS[0], settings)


@pytest.mark.parametrize(
    ("runs", "figure"),
    [
        ([run("glibc", 0), run("fast", 0, cpu=0.7)], "cpu"),
        ([run("glibc", 0, cpu=0.5)], "time"),
        ([run("glibc", 0, cpu=1.9)], "time"),
        ([run("glibc", 1)], "time"),
        ([run("glibc", 0, outcome=Outcome.CRASHED)], "time"),
        ([run("glibc", 0, cpu=0.5, voluntary_switches=2, involuntary_switches=90)], "cpu"),
        ([run("glibc", 0, cpu=0.5, voluntary_switches=90, involuntary_switches=2)], "time"),
    ],
)
def test_processor_time_decides_if_the_program_keeps_one_processor_busy(
    runs: list[Run], figure: str
) -> None:
    assert deciding_figure(runs) == figure


def test_a_failed_run_and_a_peak_over_the_cap_keep_a_candidate_out() -> None:
    fat = run("fast", 1, peak_rss_bytes=900 << 20)
    runs = [run("glibc", 1), fat, run("slow", 1, outcome=Outcome.CRASHED, wall_s=None)]
    race = race_of(runs, KEYS, Rules(0.02), Reading("time", 500 << 20))
    assert {(each.key[0], each.why) for each in race.departures} == {
        ("fast", "over the cap"),
        ("slow", "failed"),
    }


def test_a_decided_race_is_a_switch_with_bounds() -> None:
    found = analysed(raced({"glibc": 1.0, "fast": 0.8, "slow": 1.4}, 14))
    assert (found.verdict.action, found.verdict.allocator) == ("switch", "fast")
    assert found.race is not None
    assert found.race.named == "fast"
    assert "slow" in {each.allocator for each in found.race.departures}
    effect = next(e for e in found.effects if e.allocator == "fast" and e.response == "time")
    assert effect.low is not None
    assert effect.high is not None
    assert effect.low < 0.8 < effect.high < 0.98
    summary = next(each for each in found.responses if each.response == "time")
    assert summary.method == "race"


def test_equals_are_kept_as_they_are() -> None:
    found = analysed(raced({"glibc": 1.0, "fast": 1.0, "slow": 1.001}, 14))
    assert found.verdict.action == "stay"
    assert found.verdict.reason == "No difference that matters: keep glibc"


def test_an_ended_race_does_not_call_the_others_equal() -> None:
    """It ends when none of them is better by more than the margin; one may still be slower."""
    found = analysed(raced({"glibc": 1.0, "fast": 0.700, "slow": 0.702}, 40))
    assert found.race is not None
    assert found.race.named in {"fast", "slow"}
    (other,) = {"fast", "slow"} - {found.race.named}
    assert found.verdict.notes[0] == f"{other} is not more than 2 % better, and may be slower"


def test_a_stopped_race_keeps_the_baseline_and_says_what_is_excluded() -> None:
    runs = raced({"glibc": 1.0, "fast": 0.985, "slow": 0.995}, 10)
    found = analysed(runs)
    assert found.race is not None
    assert found.race.named is None
    assert found.verdict.action == "stay"
    assert found.verdict.reason.startswith("No difference shown, nothing is more than")
    assert found.verdict.reason.endswith(" % better: keep glibc")


def test_a_stopped_race_switches_if_the_baseline_is_surely_beaten() -> None:
    runs = raced({"glibc": 1.0, "fast": 0.8, "slow": 0.801}, 16, noise=20)
    found = analysed(runs)
    assert found.race is not None
    assert found.race.named is None
    assert (found.verdict.action, found.verdict.allocator) == ("switch", "fast")
    assert re.fullmatch(
        r"slow is not more than \d+ % better, and may be slower", found.verdict.notes[0]
    )


def test_a_stopped_race_names_what_looks_best_and_how_to_go_on() -> None:
    found = analysed(raced({"glibc": 1.0, "fast": 0.96, "slow": 0.99}, 16, noise=20))
    assert found.verdict.action == "stay"
    assert found.verdict.notes[0].startswith("fast looks best, but more runs would have to show it")
    assert found.verdict.notes[0].endswith(MORE_TIME)


def test_two_blocks_decide_nothing() -> None:
    found = analysed(raced({"glibc": 1.0, "fast": 0.8, "slow": 1.4}, 2))
    assert found.verdict.reason == "Undecided: 2 blocks are too few to decide"
    assert found.verdict.notes == (MORE_TIME,)
