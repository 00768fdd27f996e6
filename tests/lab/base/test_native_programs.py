# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The project's programs are run for an answer. A wrong answer is reported in words."""

from pathlib import Path

import pytest
from pydantic import BaseModel

from heapwright.artefacts.trace.file import TraceError
from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from heapwright.base.native_programs import Program


class Sum(BaseModel):
    sum: int


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a program `heapwright-test` can be written as a shell script."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv(native.VARIABLE, str(tmp_path))
    script = tmp_path / "bin" / "heapwright-test"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    return script


def says(script: Path, text: str) -> None:
    script.write_text(f"#!/bin/sh\n{text}\n")


def test_its_output_is_the_answer(made: Path) -> None:
    says(made, 'read word; echo "{\\"sum\\": $((word + $1))}"')
    assert Program("test").answer(Sum, ["2"], text="3\n").sum == 5


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo heapwright-test: no such file >&2; exit 2", "no such file"),
        ("exit 7", "heapwright-test left with status 7"),
        ("kill -9 $$", "heapwright-test was ended by signal 9"),
    ],
)
def test_an_error_is_reported_in_its_own_words(made: Path, script: str, words: str) -> None:
    says(made, script)
    program = Program("test", lambda why: TraceError(f"it failed: {why}"))
    with pytest.raises(TraceError, match=f"^it failed: {words}$"):
        program.ask([])


def test_a_status_may_be_part_of_the_answer(made: Path) -> None:
    says(made, "echo 1; exit 1")
    assert Program("test").ask([], fine=(0, 1)) == b"1\n"


def test_another_versions_answer_is_noticed(made: Path) -> None:
    says(made, 'echo "{\\"total\\": 5}"')
    with pytest.raises(HeapwrightError, match="is not of this version") as raised:
        Program("test").answer(Sum, [])
    assert raised.value.hint == "build and install again"


def test_other_lines_than_the_answer_are_not_printed(made: Path) -> None:
    says(made, "seq 1 10000")
    with pytest.raises(HeapwrightError, match="is not of this version") as raised:
        Program("test").answer(Sum, [])
    assert "9999" not in str(raised.value)
    assert len(str(raised.value)) < 1000


def test_it_runs_without_what_the_user_preloads(
    made: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    says(made, 'echo "{$LD_PRELOAD}"')
    monkeypatch.setenv("LD_PRELOAD", str(tmp_path / "none.so"))
    assert Program("test").ask([]) == b"{}\n"
    given = Program("test", environment={"LD_PRELOAD": "none.so"})
    assert given.ask([]) == b"{none.so}\n"


def test_a_program_that_is_not_installed(made: Path) -> None:
    made.unlink()
    with pytest.raises(native.NativeMissingError, match="heapwright-test is missing"):
        Program("test").ask([])
