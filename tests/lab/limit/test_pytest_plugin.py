# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The mark `heapwright` of pytest, in runs of pytest of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from support.running import ran

TESTS = """
import unittest
import pytest

BLOCK = 1 << 20

@pytest.fixture
def large():
    return bytearray(8 * BLOCK)

@pytest.mark.heapwright(peak="2 MiB", kept="100 KiB", allocations=1000)
def test_kept(large):
    assert len(bytearray(BLOCK)) == BLOCK

@pytest.mark.heapwright(peak="2 MiB")
def test_exceeded():
    bytearray(3 * BLOCK)

class TestMethods:
    store = []
    @pytest.mark.heapwright(kept=0.5e6, bytes="1G")
    def test_keeps(self):
        self.store.append(bytearray(BLOCK))

@pytest.mark.heapwright(peak="abc")
def test_wrong_size():
    pass

@pytest.mark.heapwright(speed=3)
def test_wrong_name():
    pass

class TestOld(unittest.TestCase):
    @pytest.mark.heapwright(peak="1G")
    def test_old(self):
        pass

def test_without_a_mark():
    pass
"""


@pytest.fixture
def run(tmp_path: Path) -> "Run":
    (tmp_path / "test_it.py").write_text(TESTS)
    return Run(tmp_path)


class Run:
    """pytest with the plugin, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        options = ["-p", "heapwright.pytest_plugin", "-p", "no:cacheprovider", "--strict-markers"]
        if _is_installed():
            options = options[2:]
        environment = {**os.environ, **more}
        command = [sys.executable, "-m", "pytest", *options, "-q", *words]
        return ran(command, cwd=self.folder, env=environment)


def _is_installed() -> bool:
    """Whether the entry point loads the plugin."""
    code = (
        "import importlib.metadata as m; print(m.entry_points(group='pytest11', name='heapwright'))"
    )
    return "pytest_plugin" in ran([sys.executable, "-c", code]).stdout


@pytest.fixture
def library() -> Path:
    try:
        return native.library("counter")
    except HeapwrightError as error:
        pytest.skip(f"needs the compiled parts: {error}")


def test_budgets_are_checked_after_a_second_start(run: Run, library: Path) -> None:
    assert library.is_file()
    done = run("--heapwright", "-rA", "--junitxml=junit.xml")
    assert done.returncode == 1
    said = done.stdout
    assert "PASSED test_it.py::test_kept" in said
    assert "PASSED test_it.py::test_without_a_mark" in said
    for name in ("test_exceeded", "TestMethods::test_keeps", "test_wrong_size", "test_wrong_name"):
        assert f"FAILED test_it.py::{name}" in said
    assert "heapwright: peak: 3,14" in said
    assert ", at most 2,097,152 bytes" in said
    assert "heapwright: kept: 1,04" in said
    assert "peak='abc' is not a size such as '50 MiB'" in said
    assert "the mark takes allocations=, bytes=, peak= and kept=" in said
    assert "tests of unittest.TestCase are not measured" in said
    assert "were not checked" not in said
    assert 'name="heapwright_peak"' in (run.folder / "junit.xml").read_text("utf-8")


def test_workers_of_xdist_check_budgets(run: Run, library: Path) -> None:
    assert library.is_file()
    pytest.importorskip("xdist", reason="pytest-xdist is not installed (extra dev)")
    done = run("--heapwright", "-n2", "-k", "test_kept or test_exceeded", "-rA")
    assert "PASSED test_it.py::test_kept" in done.stdout
    assert "FAILED test_it.py::test_exceeded" in done.stdout


def test_without_the_library_tests_run_and_the_summary_says_so(run: Run) -> None:
    done = run("-k", "kept or exceeded or mark or keeps")
    assert done.returncode == 0
    assert "the budgets of 3 tests were not checked; run pytest --heapwright" in done.stdout
    assert "heapwright" not in run("-k", "without").stdout


def test_budgets_are_unchecked_without_the_small_objects_of_python(run: Run, library: Path) -> None:
    counted = {"LD_PRELOAD": str(library), "PYTHONMALLOC": "pymalloc"}
    done = run("-k", "kept or exceeded", **counted)
    assert done.returncode == 0
    assert "the budgets of 2 tests were not checked; set PYTHONMALLOC=malloc" in done.stdout
    done = run("-k", "kept or exceeded", **{**counted, "PYTHONMALLOC": "malloc"})
    assert done.returncode == 1
    assert "not checked" not in done.stdout


def test_a_library_that_cannot_be_loaded_is_no_endless_loop(run: Run) -> None:
    done = run("--heapwright", HEAPWRIGHT_PYTEST="1")
    assert done.returncode == 4
    assert "cannot be loaded into Python" in done.stderr
