# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The instructions that the sampler adds to a pair of malloc and free, by callgrind."""

import os
import re
import shutil
from pathlib import Path

import pytest

from support.running import ran

from .bench import Compiled

PAIRS = """
#include <stdlib.h>
int main(int n, char** a) {
    for (long i = n > 1 ? atol(a[1]) : 0; i > 0; --i) { void* volatile p = malloc(64); free(p); }
    return 0;
}
"""
FEW, MANY = 1000, 21000
MOST = 18


def instructions(program: Path, pairs: int, preload: str, folder: Path) -> int:
    environment = {
        **os.environ,
        "LD_PRELOAD": preload,
        "HEAPWRIGHT_SAMPLE": "1T",
        "HEAPWRIGHT_SAMPLE_FILE": str(folder / "of"),
    }
    words = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder / 'out'}"]
    done = ran([*words, program, str(pairs)], env=environment)
    found = re.search(r"Collected : (\d+)", done.stderr)
    assert found is not None, done.stderr
    return int(found[1])


def test_a_pair_needs_at_most_18_instructions_more(
    library: Path, compiled: Compiled, tmp_path: Path
) -> None:
    """Without samples, which are rare."""
    if shutil.which("valgrind") is None:
        pytest.skip("needs valgrind (Debian's package valgrind)")
    program = compiled(PAIRS)
    each = {
        preload: (
            instructions(program, MANY, preload, tmp_path)
            - instructions(program, FEW, preload, tmp_path)
        )
        / (MANY - FEW)
        for preload in ("", str(library))
    }
    extra = each[str(library)] - each[""]
    assert 5 < extra <= MOST
