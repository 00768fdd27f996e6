# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""granary's setting `guard`: misuse of a sampled object ends the program with a report."""

import re
import signal
import subprocess
from pathlib import Path

import pytest

from heapwright.base import native
from support.mistakes import PLAIN, compiled, without_core

SOURCE = Path(__file__).parent / "sampled.c"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(SOURCE, tmp_path_factory.mktemp("sampled"))


def run(program: Path, mistake: str, guard: str) -> tuple[int, str]:
    """The exit status and the standard error."""
    setting = {"LD_PRELOAD": str(native.library("granary")), "HEAPWRIGHT_GRANARY": f"guard={guard}"}
    done = subprocess.run(
        [program, mistake],
        env=PLAIN | setting,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        preexec_fn=without_core,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("guard", ["1", "10+report"])
def test_a_correct_program_is_not_disturbed(program: Path, guard: str) -> None:
    assert run(program, "none", guard) == (0, "")


def test_nothing_is_sampled_without_the_setting(program: Path) -> None:
    assert run(program, "write_after_free", "off") == (0, "")


def test_no_handler_is_installed_unless_the_setting_asks(program: Path) -> None:
    assert run(program, "write_after_free", "10") == (-signal.SIGSEGV, "")


def test_the_report_of_a_fault_has_three_stacks(program: Path) -> None:
    status, words = run(program, "write_after_free", "10+report")
    assert status == -signal.SIGSEGV
    assert words.startswith("  sampled object of 100 bytes, address at byte 8\n")
    parts = re.split(r"^  (allocated|freed|misused) by thread \d+ at\n", words, flags=re.MULTILINE)
    assert parts[1::2] == ["allocated", "freed", "misused"]
    for stack in parts[2::2]:
        assert f"{program}" in stack
    assert words.endswith("heapwright: access beside a sampled object or after its free\n")


def test_an_overflow_within_the_page_ends_the_free(program: Path) -> None:
    status, words = run(program, "overflow", "10")
    assert status == -signal.SIGABRT
    assert "  allocated by thread" in words
    assert words.endswith("heapwright: free(): overflow of a sampled object\n")
