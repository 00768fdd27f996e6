# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Tiny programs that misuse the heap, under the compositions that watch for it, and under granary.

What must happen stands in each program, a line `under COMPOSITION: WHAT` for each: the exact words
with which it is aborted, SIGSEGV, `reads XX` for what it finds in memory, or `nothing`: an end as
if all were well. docs/misuse.md shows the same as a table, which must agree.
"""

import os
import re
import resource
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from heapwright.base import native
from heapwright.compose.conformance import Conformance

HERE = Path(__file__).parent
PROGRAMS = sorted((HERE / "watched").glob("*.c"))
PAGE = HERE.parents[1] / "docs" / "misuse.md"
CATALOGUED = {"granary", "granary-hardened"}
WATCHERS = sorted(CATALOGUED | {header.stem for header in (HERE / "compositions").glob("*.hpp")})
# The compiler must neither see the mistake nor know what malloc is.
OPTIONS = ("-w", "-O0", "-fno-builtin")
# What pages of its own for each object cannot do: fill a narrow address space, outrun a timer, or
# fork as fast as others on a busy machine.
BEYOND_GUARD_PAGES = {
    *("limit-large", "limit-medium", "limit-new", "limit-small"),
    *("signal-timer", "fork-handlers"),
}
PLAIN = {key: value for key, value in os.environ.items() if not key.startswith("LD_")}


def expectations(source: Path) -> dict[str, str]:
    """What must happen to a program, by composition."""
    text = source.read_text(encoding="utf-8")
    return dict(re.findall(r"^// under ([\w-]+): (.*)$", text, re.MULTILINE))


def end(expectation: str) -> tuple[int, str]:
    """The exit status that an expectation stands for, and what is on standard error."""
    if expectation == "SIGSEGV":
        return -signal.SIGSEGV, ""
    if expectation == "nothing":
        return 0, ""
    status = -signal.SIGABRT if expectation.startswith("heapwright: ") else 0
    return status, f"{expectation}\n"


@pytest.fixture(scope="module", params=PROGRAMS, ids=lambda path: path.stem)
def source(request: pytest.FixtureRequest) -> Path:
    assert isinstance(request.param, Path)
    return request.param


@pytest.fixture(scope="module")
def program(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc") or pytest.skip("no compiler cc (package gcc)")
    made = tmp_path_factory.mktemp("watched") / source.stem
    subprocess.run([compiler, *OPTIONS, "-o", made, source], check=True)
    return made


def without_core() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def test_every_program_says_what_happens_under_each(source: Path) -> None:
    assert sorted(expectations(source)) == WATCHERS


def test_happens_as_it_says(source: Path, program: Path, watcher: tuple[str, Path]) -> None:
    name, library = watcher
    done = subprocess.run(
        [program],
        env=PLAIN | {"LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        preexec_fn=without_core,
    )
    status, words = end(expectations(source)[name])
    assert (done.returncode, done.stdout, done.stderr) == (status, "", words)


def test_the_page_says_the_same() -> None:
    rows = re.findall(r"^\| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    (head, *table) = [
        [cell.strip().strip("`") for cell in row.split("|")] for row in rows if "---" not in row
    ]
    shown = {}
    for link, *cells in table:
        path = re.fullmatch(r"\[.*\]\((.*)\)", link)
        assert path, link
        shown[(PAGE.parent / path[1]).resolve()] = dict(zip(head[1:], cells, strict=True))
    assert shown == {
        path.resolve(): {
            name: what.removeprefix("heapwright: ") for name, what in expectations(path).items()
        }
        for path in PROGRAMS
    }


@pytest.mark.slow
def test_conforms(watcher: tuple[str, Path]) -> None:
    """Watching changes nothing for a program that does no wrong."""
    name, library = watcher
    if name in CATALOGUED:
        pytest.skip("the conformance of the catalogue's is tested where all of it is")
    suite = Conformance(native.program("conformance"), str(library), os.environ, limit_s=150)
    verdict = suite.run(lambda _done, _all: None)
    beyond = BEYOND_GUARD_PAGES if name == "guard" else set()
    assert [each for each in verdict.failed if each.case not in beyond] == []
    assert verdict.left_out == 0
    assert verdict.passed > 60
