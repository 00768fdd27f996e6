# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""SQLite's own tests in Tcl ("veryquick"), built from the distribution's source."""

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from .sources import source
from .suite import MissingError, Verdict, needed


class SQLite:
    name = "sqlite"
    program = "testfixture"
    limit_s = 3600
    rootless = True

    def prepare(self, folder: Path) -> None:
        for program, package in (("cc", "gcc"), ("make", "make"), ("tclsh", "tcl")):
            needed(program, package)
        if not Path("/usr/include/tcl8.6/tcl.h").exists():
            raise MissingError("Tcl's headers are not installed (package tcl-dev)")
        build = self._build(folder)
        if (build / "testfixture").exists():
            return
        build.mkdir(exist_ok=True)
        with (folder / "sqlite-build.log").open("wb") as log:
            for words in (
                ["../configure", "--enable-all"],
                ["make", f"-j{os.cpu_count()}", "testfixture"],
            ):
                done = subprocess.run(words, cwd=build, stdout=log, stderr=log, check=False)
                if done.returncode != 0:
                    raise MissingError(f"{' '.join(words)} failed: see {log.name}")

    def command(self, folder: Path, work: Path, only: Sequence[str]) -> list[str | Path]:
        del work
        tests = self._build(folder).parent / "test"
        # A failed test is named by its file and a number: the file can be run by itself.
        files = {tests / f"{name.split('-')[0].split('.')[-1]}.test" for name in only}
        chosen = sorted(path for path in files if path.exists())
        script = chosen[0] if len(chosen) == 1 else tests / "veryquick.test"
        return [self._build(folder) / "testfixture", script, "--verbose=0"]

    def environment(self) -> dict[str, str]:
        return {}

    def where(self, folder: Path, work: Path) -> Path:
        del folder
        return work

    def read(self, output: str) -> Verdict:
        failed = {
            name
            for listed in re.findall(r"^!?Failures on these tests: (.*)$", output, re.M)
            for name in listed.split()
        }
        counted = re.search(r"^(\d+) errors out of (\d+) tests", output, re.M)
        ran = int(counted[2]) if counted else 0
        return Verdict(frozenset(failed), ran, counted is not None)

    def _build(self, folder: Path) -> Path:
        return source("sqlite3", folder) / "build"
