# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The instructions that samples add to a pair of malloc and free, by callgrind."""

import os
import re
import shutil
from pathlib import Path

import pytest

from heapwright.base import native
from support.running import ran

from .bench import Compiled

PAIRS = """
#include <stdlib.h>
int main(int n, char** a) {
    for (long i = n > 1 ? atol(a[1]) : 0; i > 0; --i) { void* volatile p = malloc(64); free(p); }
    return 0;
}
"""
OPERATORS = """
#include <cstdlib>
int main(int n, char** a) {
    for (long i = n > 1 ? atol(a[1]) : 0; i > 0; --i) { char* volatile p = new char; delete p; }
    return 0;
}
"""
FEW, MANY = 1000, 21000
MOST = 18


def instructions(program: Path, pairs: int, preload: str, folder: Path) -> int:
    """Of the whole process, with samples if the library takes some."""
    environment = {
        **os.environ,
        "LD_PRELOAD": preload,
        "HEAPWRIGHT_SAMPLE": "1T",
        "HEAPWRIGHT_GRANARY": "sample=1T" if "sampled" in preload else "",
        "HEAPWRIGHT_SAMPLE_FILE": str(folder / "of"),
    }
    words = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder / 'out'}"]
    done = ran([*words, program, str(pairs)], env=environment)
    found = re.search(r"Collected : (\d+)", done.stderr)
    assert found is not None, done.stderr
    return int(found[1])


def of_a_pair(program: Path, preload: str, folder: Path) -> float:
    if shutil.which("valgrind") is None:
        pytest.skip("needs valgrind (Debian's package valgrind)")
    few, many = (instructions(program, pairs, preload, folder) for pairs in (FEW, MANY))
    return (many - few) / (MANY - FEW)


def test_a_pair_needs_at_most_18_instructions_more(
    library: Path, compiled: Compiled, tmp_path: Path
) -> None:
    """Without samples, which are rare."""
    program = compiled(PAIRS)
    extra = of_a_pair(program, str(library), tmp_path) - of_a_pair(program, "", tmp_path)
    assert 5 < extra <= MOST


@pytest.mark.parametrize(
    ("text", "suffix"),
    [(PAIRS, ".c"), pytest.param(OPERATORS, ".cpp", marks=pytest.mark.slow)],
)
def test_a_pair_in_granary_needs_3_instructions_more(
    text: str, suffix: str, granary_sampled: Path, compiled: Compiled, tmp_path: Path
) -> None:
    """tests/golden/instruction_counts_gcc.toml has those of granary."""
    program = compiled(text, suffix)
    plain = of_a_pair(program, str(native.library("granary")), tmp_path)
    assert of_a_pair(program, str(granary_sampled), tmp_path) - plain == pytest.approx(3, abs=0.01)
