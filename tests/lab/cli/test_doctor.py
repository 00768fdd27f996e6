# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright doctor` from end to end, on any machine."""

from pathlib import Path

import pytest

from heapwright.artefacts.checkup.document import Checkup
from heapwright.cli.doctor import UNFIT

from .tools import Heapwright

pytestmark = pytest.mark.usefixtures("native")


def test_the_machine_and_its_noise(heapwright: Heapwright, tmp_path: Path) -> None:
    done = heapwright("doctor", "--seconds", "0", "--budget", "5", "--json", "machine.json")
    found = Checkup.model_validate_json((tmp_path / "machine.json").read_text())
    assert done.status == (0 if found.fit else UNFIT), done.err
    assert found.sentence in done.out
    for check in found.checks:
        assert check.name in done.out
    assert found.noise is not None
    assert found.noise.runs == 6
    assert found.noise.scatter >= 0
    assert all(each.budget_s == 300 for each in found.noise.visible)


def test_the_noise_of_a_command(heapwright: Heapwright, worker: Path, tmp_path: Path) -> None:
    heapwright("doctor", "--seconds", "0", "--json", "machine.json", "--", worker, "10")
    found = Checkup.model_validate_json((tmp_path / "machine.json").read_text())
    assert found.noise is not None
    assert found.noise.command == (str(worker), "10")
    assert found.noise.visible[0].run_s == found.noise.run_s


def test_quick_is_quiet_and_makes_no_noise(heapwright: Heapwright) -> None:
    done = heapwright("doctor", "--quick", "-q")
    assert done.out.count("\n") == 1
    assert done.out.startswith("This machine is ")


def test_a_command_that_fails_is_no_measure(heapwright: Heapwright) -> None:
    done = heapwright("doctor", "--seconds", "0", "--", "/bin/false")
    assert done.status == 1
    assert "/bin/false ended with status 1" in done.err
    done = heapwright("doctor", "--", "/no/such/program")
    assert done.status == 2
    assert "/no/such/program cannot be run" in done.err
