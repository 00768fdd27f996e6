# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The command line as a function."""

import os
import shutil
import sys
import threading
from pathlib import Path

import pytest

from heapwright.base.native import NativeMissingError, native_dir
from heapwright.cli.main import main

from .tools import WORKER, Done, Heapwright, compile_c


@pytest.fixture
def native() -> Path:
    """The compiled parts, or a skip that says they are missing."""
    try:
        return native_dir()
    except NativeMissingError as error:
        pytest.skip(f"{error.message}: {error.hint}")


@pytest.fixture
def heapwright(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> Heapwright:
    """Runs the command line in this process, in `tmp_path`, with its state kept there."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("HEAPWRIGHT_HOME", str(tmp_path / "home"))
    for name in ("LD_PRELOAD", "GLIBC_TUNABLES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    # What other tests leave behind at this moment is not this one's to tell (test_killed.py is).
    monkeypatch.setattr("heapwright.cli.main.sweep", list)
    # How slow the machine is decides nothing (test_slow_steps.py tests the report of slow steps).
    monkeypatch.setattr("heapwright.commands.slow_steps.LATE_S", threading.TIMEOUT_MAX)

    def run(*arguments: str | Path) -> Done:
        monkeypatch.setattr(sys, "argv", ["heapwright", *map(os.fspath, arguments)])
        with pytest.raises(SystemExit) as leaving:
            main()
        printed = capfd.readouterr()
        assert isinstance(leaving.value.code, int)
        return Done(int(leaving.value.code), printed.out, printed.err)

    return run


@pytest.fixture
def cxx() -> None:
    if not any(map(shutil.which, ("c++", "g++", "clang++"))):
        pytest.skip("no C++ compiler (package g++)")


@pytest.fixture(scope="session")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_c(tmp_path_factory.mktemp("worker") / "worker", WORKER)
