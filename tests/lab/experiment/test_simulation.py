# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The files of valgrind's simulators are read, and those of all processes added up."""

from pathlib import Path

import pytest

from heapwright.base.errors import HeapwrightError
from heapwright.experiment.simulation import counts_in, refuse_without_valgrind, words_under


def test_counts_of_all_processes_add_up(tmp_path: Path) -> None:
    (tmp_path / "counts.1").write_text("events: Ir Dr Dw\nfn=main\n1 2 3\nsummary: 10 20 30\n")
    (tmp_path / "counts.2").write_text("events: Ir Dr Dw\nsummary: 1 2\ntotals: 1 2\n")
    (tmp_path / "counts.3").write_text("events: Ir Dr Dw\n")
    (tmp_path / "other").write_text("events: Ir\nsummary: 1000\n")
    assert counts_in(tmp_path) == {"Ir": 11.0, "Dr": 22.0, "Dw": 30.0}


def test_no_counts_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="left no counts"):
        counts_in(tmp_path)


def test_the_command_follows_the_simulator(tmp_path: Path) -> None:
    words = words_under("cachegrind", ["ls", "-l"], tmp_path)
    assert words[0] == "valgrind"
    assert words[-2:] == ("ls", "-l")
    assert f"--cachegrind-out-file={tmp_path}/counts.%p" in words


def test_without_valgrind_the_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HeapwrightError, match="valgrind is not installed"):
        refuse_without_valgrind()
