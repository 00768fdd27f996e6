# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""CPython's regression tests as the distribution packages them, all objects from malloc."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from .suite import MissingError, Verdict, needed

FOLDER = Path("/usr/lib/python3.11/test")
# What fails on the C library as well, on the machines that this was made on, and why.
LEFT_OUT = {
    "test_socket": "waits for packets that the machine's network does not carry, up to its limit",
    "test_ensurepip": "the distribution has taken out what it installs",
    "test_idle": "needs Tk",
}


class CPython:
    name = "cpython"
    program = "python3.11"
    limit_s = 3600
    rootless = False

    def prepare(self, folder: Path) -> None:
        del folder
        needed("python3.11", "python3")
        if not (FOLDER / "test_dict.py").is_file():
            raise MissingError("Python's tests are not installed (package libpython3.11-testsuite)")

    def command(self, folder: Path, work: Path, only: Sequence[str]) -> list[str | Path]:
        del folder
        jobs = os.cpu_count() or 1
        options = [f"-j{jobs}", "--timeout", "900", "--tempdir", str(work)]
        chosen = list(only) or ["-x", *LEFT_OUT]
        return [needed("python3.11", "python3"), "-m", "test", *options, *chosen]

    def environment(self) -> dict[str, str]:
        return {"PYTHONMALLOC": "malloc"}

    def where(self, folder: Path, work: Path) -> Path:
        del folder
        return work

    def read(self, output: str) -> Verdict:
        """Modules: which of their tests fail is in the log."""
        failed: set[str] = set()
        for listed in re.findall(r"^\d+ tests? failed(?: again)?:\n((?:    .*\n?)+)", output, re.M):
            failed |= set(listed.split())
        modules = set(re.findall(r"\] (test_\w+)", output))
        ended = re.search(r"^Tests result: ", output, re.M) is not None
        return Verdict(frozenset(failed), len(modules), ended)
