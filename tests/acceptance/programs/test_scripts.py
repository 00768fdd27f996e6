# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Language runtimes running one program each, which prints what the C library's run prints."""

from collections.abc import Callable
from pathlib import Path

import pytest

from .under import Under, needed

INPUTS = Path(__file__).parent / "inputs"


def perl(place: Under) -> bytes:
    command = [needed("perl", "perl"), str(INPUTS / "work.pl")]
    # The order of hash keys is random otherwise.
    return place.run(command, extra={"PERL_HASH_SEED": "0"}).output


def node(place: Under) -> bytes:
    return place.run([needed("node", "nodejs"), str(INPUTS / "work.mjs")]).output


def test_perl_prints_the_same(
    under: Under, plain: Callable[[Callable[[Under], bytes]], bytes]
) -> None:
    printed = perl(under)
    assert printed.endswith(b"done\n")
    assert printed == plain(perl)


@pytest.mark.programs
def test_node_prints_the_same(
    under: Under, plain: Callable[[Callable[[Under], bytes]], bytes]
) -> None:
    printed = node(under)
    assert printed.endswith(b"done\n")
    assert printed == plain(node)
