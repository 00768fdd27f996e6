# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Compilers that are missing, too old, no compilers, too slow, or out of space."""

import os
from pathlib import Path

import pytest

from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.compose.compiler import (
    MARK,
    Answer,
    Compiler,
    Complaint,
    find_compiler,
    refuse_if_full,
)


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_a_compiler_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(HeapwrightError, match=r"no compiler 'no-such-cxx' \(--compiler\)"):
        find_compiler("no-such-cxx", {}, tmp_path)
    with pytest.raises(HeapwrightError, match=r"no compiler 'no-such-cxx -O2' \(CXX\)"):
        find_compiler(None, {"CXX": "no-such-cxx -O2"}, tmp_path)
    with pytest.raises(HeapwrightError, match="cannot be read"):
        find_compiler("'", {}, tmp_path)


def test_without_any_compiler_the_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HeapwrightError, match="there is no C\\+\\+ compiler") as raised:
        find_compiler(None, {}, tmp_path)
    assert "apt-get install g++" in raised.value.hint


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("exit 0", "does not compile C"),
        ("echo what is this >&2; exit 1", "does not compile C.*: what is this"),
        ("echo \"unrecognized option '-std=c++20'\" >&2; exit 1", "is too old"),
        ("echo 'check.cpp:5:2: error: #error no C++20' >&2; exit 1", "is too old"),
        ("echo 'cannot write: No space left on device' >&2; exit 1", "cannot write: No space"),
    ],
)
def test_unsuitable_compilers(text: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(HeapwrightError, match=why):
        find_compiler(script(tmp_path / "cxx", text), {}, tmp_path)


def test_a_full_disk_has_its_exit_code() -> None:
    refuse_if_full("error: no such thing")
    with pytest.raises(HeapwrightError) as raised:
        refuse_if_full("/tmp/cc.o: final close failed: No space left on device")
    assert raised.value.exit_code is ExitCode.NOT_WRITTEN


def test_a_compiler_with_arguments_is_taken_from_the_environment(any_compiler: Compiler) -> None:
    found = find_compiler(None, {"CXX": f"{any_compiler.name} -O1"}, any_compiler.folder)
    assert found.name == f"{any_compiler.name} -O1"
    assert found.version == any_compiler.version != ""


def test_every_failed_static_assertion_is_reported(compiler: Compiler) -> None:
    text = "".join(f'static_assert({i % 2}, "{MARK}{i}");\n' for i in range(60))
    answer = compiler.ask(text)
    assert answer.failed == {str(i) for i in range(0, 60, 2)}
    assert answer.only_assertions
    assert not answer.valid
    broken = compiler.ask(text + "int x = ;\n")
    assert not broken.only_assertions
    assert compiler.ask("int x = 1;\n").valid


def test_the_first_complaint_has_its_place(compiler: Compiler, tmp_path: Path) -> None:
    (tmp_path / "wrong.hpp").write_text("#pragma once\n\nint x = y;\n")
    complaint = compiler.ask(f'#include "{tmp_path}/wrong.hpp"\n').complaint
    assert complaint is not None
    assert (Path(complaint.file).name, complaint.line) == ("wrong.hpp", 3)
    assert "y" in complaint.text


def test_a_program_that_does_not_end_says_nothing(any_compiler: Compiler) -> None:
    assert any_compiler.output_of("int main() { for (;;) {} }", limit_s=0.2) == ""
    assert any_compiler.output_of("int main() { return 3; }") == ""
    text = '#include <cstdio>\nint main() { std::puts("7 8"); }'
    assert any_compiler.output_of(text) == "7 8\n"


def test_temporary_files_stay_in_our_folder(tmp_path: Path) -> None:
    wanted = script(tmp_path / "cxx", f'echo "$TMPDIR" > {tmp_path}/where; exit 1')
    with pytest.raises(HeapwrightError):
        find_compiler(wanted, os.environ, tmp_path)
    assert (tmp_path / "where").read_text().strip() == str(tmp_path)


def test_the_first_error_in_the_users_file_is_found_behind_others() -> None:
    own = Path("/home/me/mine.hpp")
    pages = (
        "/usr/include/heapwright/describe.hpp:192:22: error: 'caption' is inaccessible\n"
        f"{own}:12:32: error: 'maloc' is not a member of 'B'\n"
        f"{own}:14:3: error: something else\n"
    )
    answer = Answer(valid=False, pages=pages)
    assert answer.complaint is not None
    assert answer.complaint.line == 192
    assert answer.complaint_in([own]) == Complaint(str(own), 12, "'maloc' is not a member of 'B'")
    assert answer.complaint_in([Path("/home/me/other.hpp")]) is None
