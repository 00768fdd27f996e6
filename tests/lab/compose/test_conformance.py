# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Running a suite: cases that pass, fail, crash, skip and hang."""

from pathlib import Path

import pytest

from heapwright.base.errors import HeapwrightError
from heapwright.compose.conformance import Conformance, Verdict

LIST = "printf 'a\\tours\\tone\\nb\\tours\\ttwo\\nc\\tours\\tthree\\n'"


def suite(path: Path, cases: str, listing: str = LIST) -> Path:
    path.write_text(f'#!/bin/sh\ncase "$1" in --list) {listing};; {cases} esac\n')
    path.chmod(0o755)
    return path


def verdict(path: Path, limit_s: float = 20.0) -> tuple[Verdict, list[tuple[int, int]]]:
    told: list[tuple[int, int]] = []
    conformance = Conformance(path, "", {"PATH": "/usr/bin:/bin", "LD_DEBUG": "all"}, limit_s)
    return conformance.run(lambda done, of: told.append((done, of))), told


def test_all_that_pass(tmp_path: Path) -> None:
    found, told = verdict(suite(tmp_path / "suite", "b) exit 77;;"))
    assert found == Verdict(passed=2, skipped=1, failed=())
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_failed_and_crashed_cases_are_reported(tmp_path: Path) -> None:
    cases = "a) echo 'fail: it is not zero (x.cpp:3)'; exit 1;; b) kill -SEGV $$;; c) exit 5;;"
    found, _ = verdict(suite(tmp_path / "suite", cases))
    assert [(each.case, each.what, each.why) for each in found.failed] == [
        ("a", "one", "it is not zero (x.cpp:3)"),
        ("b", "two", "killed by SIGSEGV"),
        ("c", "three", "exit status 5"),
    ]


def test_no_case_starts_after_one_that_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heapwright.compose.conformance.AT_ONCE", 1)
    found, _ = verdict(suite(tmp_path / "suite", "a) sleep 600;;"), limit_s=3)
    assert [(each.case, each.why) for each in found.failed] == [("a", "not over in 3 s")]
    assert (found.passed, found.left_out) == (0, 2)


def test_an_interrupt_ends_all_cases(tmp_path: Path) -> None:
    program = suite(tmp_path / "suite", f"b) echo $$ > {tmp_path}/pid; sleep 600;;")

    def interrupt(done: int, of: int) -> None:
        del done, of
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Conformance(program, "", {"PATH": "/usr/bin:/bin"}).run(interrupt)
    if (tmp_path / "pid").exists() and (text := (tmp_path / "pid").read_text().strip()):
        assert not Path(f"/proc/{text}").exists()


def test_a_suite_that_lists_nothing_is_refused(tmp_path: Path) -> None:
    for listing in ("exit 1", "true", "echo a"):
        with pytest.raises(HeapwrightError, match="lists no cases"):
            verdict(suite(tmp_path / "suite", "", listing))
    with pytest.raises(HeapwrightError, match="cannot be run"):
        verdict(tmp_path / "none")
