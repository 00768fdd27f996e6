# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The fast paths, counted to the instruction: no slower than by hand, no slower than they were.

Obstacks are held against those of the C library. Both scripts of benchmarks/ that are run here
print what they find as JSON, so these tests hold nothing but the comparison.
"""

import importlib
import json
import platform
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = {
    compiler: Path(__file__).with_name(f"instruction_counts_{name}.toml")
    for compiler, name in (("g++", "gcc"), ("clang++", "clang"))
}

pytestmark = [
    pytest.mark.skipif(shutil.which("valgrind") is None, reason="no valgrind (package valgrind)"),
    pytest.mark.skipif(
        platform.machine() != "x86_64", reason="counts are kept for x86-64, not this processor"
    ),
]

COMPILERS = ["g++", pytest.param("clang++", marks=pytest.mark.compiles)]
NAMES = {"g++": [("gcc", "g++")], "clang++": [("clang", "clang++"), ("clang-14", "clang++-14")]}


def need(compiler: str) -> None:
    if not any(all(map(shutil.which, pair)) for pair in NAMES[compiler]):
        pytest.skip(f"no {compiler} (package {'clang-14' if compiler == 'clang++' else compiler})")


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "benchmarks" / script), "--json", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize(
    "pair", ["kingsley core", "kingsley", "pool", "xalloc", "region", "obstack", "obstack in C"]
)
def test_composed_needs_no_more_than_written_by_hand(pair: str, compiler: str) -> None:
    need(compiler)
    done = run("layers_cost_nothing.py", "--compiler", compiler, "-O", "2", "--pair", pair)
    assert done.returncode in {0, 1}, done.stderr
    rows = [row for row in json.loads(done.stdout) if not row["case"].startswith("growth")]
    assert {row["pair"] for row in rows} == {pair}
    assert len(rows) >= 3
    assert all(row["by_hand"] > 5 for row in rows)  # a pair that does nothing would prove nothing
    assert all(row["composed_text"] > 50 and row["by_hand_text"] > 50 for row in rows)
    costly = [
        f"{row['pair']}, {row['case']}: {row['composed']} composed, {row['by_hand']} by hand"
        for row in rows
        if row["composed"] > row["by_hand"]
    ]
    assert not costly, "\n".join(costly)
    assert done.returncode == 0


@pytest.mark.parametrize("compiler", COMPILERS)
def test_composed_lea_needs_little_more_than_written_by_hand(compiler: str) -> None:
    """The exception among the pairs: benchmarks/README.md has its figures."""
    need(compiler)
    done = run("layers_cost_nothing.py", "--compiler", compiler, "-O", "2", "--pair", "lea core")
    assert done.returncode in {0, 1}, done.stderr
    rows = [row for row in json.loads(done.stdout) if not row["case"].startswith("growth")]
    assert len(rows) == 8
    assert {row["allowed_percent"] for row in rows} == {{"g++": 18, "clang++": 28}[compiler]}
    assert done.returncode == 0, done.stdout


def test_a_known_cost_fails_when_it_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    row = importlib.import_module("layers_cost_nothing").Row

    def costs(composed: float, allowed: int, case: str = "churn") -> bool:
        return bool(row("g++", "2", "lea core", case, composed, 100.0, 1, 1, allowed).costs)

    assert not costs(118.0, 18)
    assert costs(118.1, 18)
    assert costs(100.1, 0)
    assert not costs(200.0, 18, "growth: all is new")


@pytest.mark.compiles
@pytest.mark.long
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_the_fast_paths_are_no_slower_than_they_were(compiler: str) -> None:
    need(compiler)
    golden = tomllib.loads(GOLDEN[compiler].read_text())
    done = run("instruction_counts.py", "--compiler", compiler, "-O", "2")
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)[compiler]
    limit = 1 + golden["tolerance"]
    expected = {
        name: dict(zip(golden[compiler]["cases"], figures, strict=True))
        for name, figures in golden[compiler]["counts"].items()
    }
    assert {name: list(cases) for name, cases in counts.items()} == {
        name: list(cases) for name, cases in expected.items()
    }
    slower = [
        f"{name}, {case}: {counts[name][case]:.2f}, was {figure}"
        for name, cases in expected.items()
        for case, figure in cases.items()
        if counts[name][case] > figure * limit
    ]
    assert not slower, "\n".join(slower)
