# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What the file of a program tells about a library that was not loaded into it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from heapwright.experiment.command_check import Machine, machine_of
from heapwright.experiment.obstacles import Obstacle, is_go_program, obstacle_of

MACHINE = machine_of(Path(sys.executable).resolve())


def test_a_program_with_a_loader_has_no_obstacle() -> None:
    assert obstacle_of(Path(sys.executable).resolve(), MACHINE) is None
    assert not is_go_program(Path(sys.executable).resolve())


def test_a_program_of_another_machine() -> None:
    found = obstacle_of(Path(sys.executable).resolve(), Machine(32, "ARM"))
    assert found is Obstacle.OTHER_MACHINE


def test_a_program_with_rights_of_another_user(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copy(Path(sys.executable).resolve(), copy)
    copy.chmod(0o4755)
    assert obstacle_of(copy, MACHINE) is Obstacle.PRIVILEGED


def test_a_static_program(tmp_path: Path) -> None:
    source, program = tmp_path / "a.c", tmp_path / "a"
    source.write_text("int main(void) { return 0; }\n")
    made = subprocess.run(["cc", "-static", source, "-o", program], check=False)
    if made.returncode:
        pytest.skip("cc cannot link statically here")
    assert obstacle_of(program, MACHINE) is Obstacle.STATIC


def test_an_unreadable_file_reports_no_obstacle(tmp_path: Path) -> None:
    assert obstacle_of(tmp_path / "none", MACHINE) is None
    assert not is_go_program(tmp_path / "none")
