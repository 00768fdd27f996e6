# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Every program of programs/ runs at its small scale, is proven, and gives the right answers.

Under one allocator of the project, the C library and some of the representatives, by `make
test-programs`.
"""

import os
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from heapwright.artefacts.program.file import ProgramFile, read_program
from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.run.provenance import Allocator, Kind
from heapwright.base import native
from heapwright.experiment.measurement import Conditions, Specs
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.program.data import prepare_data
from heapwright.experiment.program.needs import missing
from heapwright.experiment.program.own_allocator import c_library
from heapwright.experiment.program.session import Prepared, Session, SessionRun
from heapwright.experiment.program.template_values import reaching_servers
from heapwright.experiment.treatments import Treatment

from .under import FOREIGN, GLIBC

# Those of the tree, independent of the installed ones.
PROGRAMS = Path(__file__).parents[3] / "catalogue" / "programs"
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.toml"))
ALLOCATORS = ("hoard", GLIBC, "kingsley", "lea", "vmalloc")
SCALE = "small"


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where data is kept while the tests run."""
    return tmp_path_factory.mktemp("home")


def plain() -> dict[str, str]:
    kept = {name: text for name, text in os.environ.items() if not name.startswith(FOREIGN)}
    return reaching_servers(kept | {"PATH": "/usr/local/bin:/usr/bin:/bin"})


def treatment(name: str) -> Treatment:
    if name == GLIBC:
        return Treatment(Allocator(name=name, kind=Kind.SYSTEM, caption="the C library's"))
    path = str(native.library(name))
    return Treatment(Allocator(name=name, kind=Kind.COMPOSED, caption="ours", path=path))


def program(name: str) -> ProgramFile:
    return read_program(PROGRAMS / f"{name}.toml", SCALE)


def taken(name: str, allocator: str, home: Path) -> SessionRun:
    file = program(name)
    lacks = missing(file, plain())
    if lacks:
        pytest.skip(f"{'; '.join(lacks)} (packages {' '.join(file.program.packages)})")
    found = prepare_data(file, home, plain(), print)
    prepared = Prepared(file, None if found is None else found.files)
    # Redis is linked to an allocator of its own: for glibc, the C library is preloaded into it.
    first = c_library() if name == "redis" else None
    with PreloadPaths() as paths:
        session = Session(prepared, Specs(Conditions((), plain(), Path.cwd()), paths, first))
        chosen = replace(treatment(allocator), proven=not file.program.own_allocator)
        return session.take(chosen, 300.0)


def seen_in_temporary_folders() -> set[str]:
    return {each.name for each in Path(tempfile.gettempdir()).glob(f"heapwright*-{os.getpid()}-*")}


@pytest.mark.programs
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("allocator", ALLOCATORS)
def test_it_runs_is_proven_and_answers_rightly(name: str, allocator: str, home: Path) -> None:
    try:
        native.program("run")
        native.library("hoard")
    except native.NativeMissingError as error:
        pytest.skip(f"{error.message}: {error.hint}")
    own = program(name).program.own_allocator
    if own and allocator != GLIBC:
        return  # refused: no preload changes it (tests/lab/cli/test_programs_long.py)
    before = seen_in_temporary_folders()
    run = taken(name, allocator, home)
    assert run.named.outcome is Outcome.OK, run.named.detail
    assert run.proof.effective
    assert run.responses.keys() == program(name).program.responses.keys()
    assert run.figures["leftover_processes"] == 0
    assert seen_in_temporary_folders() == before
