# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Misuse of the heap, one mistake at a time, each with the exact words it must die with.

The words stand above the mistake, after `aborts:`; a line `under NAMES: SIGSEGV` states that some
of the allocators cannot see the mistake before the processor does. A line `under NAMES: nothing`
states that the program continues to its end there. A line `under NAMES: heapwright: …` states that
it dies with other words. Nothing but those words may be on standard error, and the end must be
abort, not a crash on the way to it.
"""

import re
import signal
from pathlib import Path

import pytest

from heapwright.artefacts.allocator.catalogue import read_catalogue
from heapwright.base import native
from support.mistakes import compiled, make, mistakes_of

HERE = Path(__file__).parent
MISTAKES = {
    name: (source, comment)
    for source in ("misuse.c", "deletes.cpp")
    for name, comment in mistakes_of(HERE / source).items()
}
CATALOGUE = read_catalogue(HERE.parents[1] / "catalogue" / "allocators.toml")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The program of each source."""
    folder = tmp_path_factory.mktemp("misuse")
    return {source: compiled(HERE / source, folder) for source, _ in MISTAKES.values()}


def expectation(comment: str, allocator: str) -> tuple[int, str]:
    """The signal and the words with which the program must end."""
    (words,) = re.findall(r"^// aborts: (.*)$", comment, re.MULTILINE)
    for names, other in re.findall(r"^// under ([^:]*): (.*)$", comment, re.MULTILINE):
        words = other if allocator in re.split(r",\s+(?://\s+)?", names) else words
    if not words.startswith("heapwright: "):
        return {"SIGSEGV": signal.SIGSEGV, "nothing": 0}[words], ""
    return signal.SIGABRT, f"{words}\n"


@pytest.mark.parametrize("allocator", [entry.name for entry in CATALOGUE.composed])
@pytest.mark.parametrize("mistake", MISTAKES)
def test_each_mistake_aborts_with_its_message(
    mistake: str, allocator: str, programs: dict[str, Path]
) -> None:
    source, comment = MISTAKES[mistake]
    done = make(programs[source], mistake, native.library(allocator))
    number, words = expectation(comment, allocator)
    assert (done.returncode, done.stdout, done.stderr) == (-number, "", words)
