# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Misuse of the heap under the compositions that watch for it, and under granary.

The table of docs/reference/misuse.md has the required end. It is the exact words with which the
program is aborted, or SIGSEGV. It may be `reads XX` for the value that it finds in memory, or
`nothing` for an end as if all were well.
"""

import os
import re
import signal
from pathlib import Path

import pytest

from heapwright.base import native
from heapwright.compose.conformance import Conformance
from support.mistakes import compiled, make, mistakes_of

HERE = Path(__file__).parent
SOURCE = HERE / "watched.c"
PAGE = HERE.parents[1] / "docs" / "reference" / "misuse.md"
CATALOGUED = {"granary", "granary-hardened"}
WATCHERS = sorted(CATALOGUED | {header.stem for header in (HERE / "compositions").glob("*.hpp")})
# The limits of pages for each object. They cannot fill a narrow address space, outrun a timer, or
# fork as fast as others on a busy machine.
BEYOND_GUARD_PAGES = {
    *("limit-large", "limit-medium", "limit-new", "limit-small", "limit-threads"),
    *("signal-timer", "fork-handlers"),
}


def table() -> dict[str, dict[str, str]]:
    """What the page says of each mistake, by composition."""
    _, mistakes = PAGE.read_text(encoding="utf-8").split("\n| mistake |")
    rows = re.findall(r"^\| (.*) \|$", f"| mistake |{mistakes}", re.MULTILINE)
    (head, *lines) = [
        [cell.strip().strip("`") for cell in row.split("|")] for row in rows if "---" not in row
    ]
    return {
        name.replace(" ", "_"): dict(zip(head[1:], cells, strict=True)) for name, *cells in lines
    }


TABLE = table()


def end(said: str) -> tuple[int, str]:
    """The exit status that a cell of the page stands for, and what is on standard error."""
    if said == "SIGSEGV":
        return -signal.SIGSEGV, ""
    if said == "nothing":
        return 0, ""
    return (0, f"{said}\n") if "reads" in said else (-signal.SIGABRT, f"heapwright: {said}\n")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(SOURCE, tmp_path_factory.mktemp("watched"))


def test_the_page_has_each_mistake_and_each_watcher() -> None:
    assert sorted(TABLE) == sorted(mistakes_of(SOURCE))
    assert {tuple(sorted(row)) for row in TABLE.values()} == {tuple(WATCHERS)}


@pytest.mark.parametrize("mistake", TABLE)
def test_each_mistake_ends_as_the_page_states(
    mistake: str, program: Path, watcher: tuple[str, Path]
) -> None:
    name, library = watcher
    done = make(program, mistake, library)
    status, words = end(TABLE[mistake][name])
    assert (done.returncode, done.stdout, done.stderr) == (status, "", words)


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
