# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Language runtimes running one program each, which prints what the C library's run prints."""

from pathlib import Path

import pytest

from .under import Under, needed

INPUTS = Path(__file__).parent / "inputs"


def test_perl_prints_the_same(under: Under, control: Under) -> None:
    command = [needed("perl", "perl"), str(INPUTS / "work.pl")]
    fixed = {"PERL_HASH_SEED": "0"}  # the order of hash keys is random otherwise
    finished = under.run(command, extra=fixed)
    assert finished.output.endswith(b"done\n")
    assert finished.output == control.run(command, extra=fixed).output


@pytest.mark.programs
def test_node_prints_the_same(under: Under, control: Under) -> None:
    command = [needed("node", "nodejs"), str(INPUTS / "work.mjs")]
    finished = under.run(command)
    assert finished.output.endswith(b"done\n")
    assert finished.output == control.run(command).output
