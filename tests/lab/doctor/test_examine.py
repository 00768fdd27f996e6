# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The checks together, and the sentence they come to."""

from pathlib import Path

import pytest

from heapwright.artefacts.checkup.document import Check, Checkup, Finding, Noise, Visible
from heapwright.artefacts.run.provenance import read_environment
from heapwright.doctor.examine import CHECKS, checkup, examine
from heapwright.doctor.machine import Machine, free_bytes

from .conftest import MakeMachine

ENVIRONMENT = read_environment([], {})
PAGE = Path(__file__).parents[3] / "docs" / "reference" / "doctor.md"


def noise(difference: float | None) -> Noise:
    shown = Visible(budget_s=600, run_s=1, blocks=300, difference=difference)
    return Noise(
        command=("loop",),
        runs=10,
        run_s=0.05,
        scatter=0.01,
        pair_scatter=0.01,
        slowest=1.1,
        drift=1.0,
        effective_pairs=5,
        visible=(shown,),
    )


def test_a_machine_without_readable_files_gets_every_check(machine: MakeMachine) -> None:
    checks = examine(machine({}))
    assert len(checks) == len(CHECKS)
    assert len({check.name for check in checks}) == len(CHECKS)
    assert not any(check.finding is Finding.BAD for check in checks)


def test_a_malformed_file_does_not_stop_the_examination(machine: MakeMachine) -> None:
    checks = {check.name: check for check in examine(machine({"proc/loadavg": "nonsense"}))}
    assert checks["load"].finding is Finding.UNKNOWN
    assert len(checks) == len(CHECKS)


def test_this_machine_can_be_looked_at() -> None:
    checks = examine(Machine(folders=(Path("/tmp"),)))
    assert len(checks) == len(CHECKS)
    assert all(check.says for check in checks)


@pytest.mark.parametrize(
    ("findings", "difference", "fit", "words"),
    [
        ([], None, True, "This machine is fit to measure on"),
        (
            [Finding.GOOD, Finding.NOTE, Finding.UNKNOWN],
            0.008,
            True,
            "This machine is fit to measure on; in 10 min it shows differences of 0.8 % or more "
            "between two allocators",
        ),
        ([Finding.WARNING], None, True, "This machine is fit to measure on, with care for c0"),
        ([Finding.GOOD, Finding.BAD], 0.1, False, "not fit to measure on now: c1: says 1"),
    ],
)
def test_sentence(findings: list[Finding], difference: float | None, fit: bool, words: str) -> None:
    checks = [
        Check(name=f"c{number}", finding=finding, says=f"says {number}")
        for number, finding in enumerate(findings)
    ]
    found = checkup(ENVIRONMENT, checks, noise(difference))
    assert found.fit is fit
    assert found.sentence.endswith(words)
    assert Checkup.model_validate_json(found.to_json()) == found


def test_the_manual_page_has_every_check(machine: MakeMachine) -> None:
    page = PAGE.read_text(encoding="utf-8")
    missing = [check.name for check in examine(machine({})) if f"| {check.name} |" not in page]
    assert not missing


def test_room_is_looked_for_in_the_folder_that_exists(tmp_path: Path) -> None:
    assert free_bytes(tmp_path / "not" / "yet") is not None
