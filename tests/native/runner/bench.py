# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of the harness share: small C programs, built once, and runs of them."""

import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from heapwright.artefacts.run.measured import ProcessRecord
from heapwright.base import native
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.runner import RawRun, RunSpec, run_once, with_preload

SOURCES = Path(__file__).parent / "programs"
MIB = 1 << 20


@dataclass
class Bench:
    """Builds programs and libraries into one folder, and measures commands with the witness in."""

    folder: Path
    paths: PreloadPaths
    built: dict[tuple[str, ...], Path] = field(default_factory=dict)

    def program(self, name: str, *flags: str) -> str:
        """The program from `programs/NAME.c`; another one for other flags."""
        return str(self._build(f"{name}.c", *flags))

    def library(self, name: str, text: str) -> Path:
        """A shared library from C source text."""
        source = self.folder / f"{name}.c"
        source.write_text(text)
        return self._build(str(source), "-shared", "-fPIC")

    def _build(self, source: str, *flags: str) -> Path:
        key = (source, *flags)
        if key not in self.built:
            compiler = shutil.which("cc")
            if compiler is None:
                pytest.skip("needs a C compiler (package gcc)")
            stem = "".join(c if c.isalnum() else "-" for c in "".join((Path(source).stem, *flags)))
            output = self.folder / stem
            words = [compiler, "-O1", *flags, "-o", str(output), str(SOURCES / source)]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.returncode != 0 and flags:
                pytest.skip(f"cannot build with {' '.join(flags)}: {done.stderr.strip()[:200]}")
            assert done.returncode == 0, done.stderr
            self.built[key] = output
        return self.built[key]

    def environment(self, *libraries: Path) -> dict[str, str]:
        """The project's runner, with the libraries and then the witness preloaded."""
        texts = [self.paths.of(each) for each in (*libraries, native.witness())]
        return with_preload(os.environ, *texts)

    def spec(self, *command: str, preload: Path | None = None) -> RunSpec:
        libraries = () if preload is None else (preload,)
        return RunSpec(command, self.environment(*libraries), grace_s=1.0, timeout_s=60.0)

    def run(self, *command: str, preload: Path | None = None) -> RawRun:
        return run_once(self.spec(*command, preload=preload))


def of(run: RawRun, name: str) -> list[ProcessRecord]:
    """The processes of a run that ran the program of that name, in the order of their pids."""
    found = [process for process in run.processes if Path(process.exe).name == name]
    return sorted(found, key=lambda process: process.pid)


def cpu_of(run: RawRun) -> float:
    """All the CPU time that the kernel charged."""
    assert run.user_s is not None
    assert run.sys_s is not None
    return run.user_s + run.sys_s
