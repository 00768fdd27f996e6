# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Memcheck finds lost blocks in the programs whose case states a leak, and in no others.

A case may give the reason for an exception.
"""

import re
import shutil

import pytest

from support.running import ran

from .cases import COMPILERS, Builder, Case, read_cases

COMPILED = [
    each
    for each in read_cases()
    if each.language in COMPILERS and each.allocator == "glibc" and not each.blind
]
LOST = re.compile(r"(?:definitely|indirectly) lost: ([\d,]+) bytes")
LEAST = 1_000
"""Less is no leak: `lost-once` loses 300 bytes."""


@pytest.fixture(scope="module")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Builder:
    return Builder(tmp_path_factory.mktemp("truths"))


@pytest.mark.slow
@pytest.mark.parametrize("case", COMPILED, ids=lambda each: each.name)
def test_memcheck_agrees(case: Case, builder: Builder) -> None:
    valgrind = shutil.which("valgrind") or pytest.skip("no valgrind (package valgrind)")
    words = [valgrind, "--leak-check=full", "--trace-children=yes", *builder.command(case)]
    done = ran(words, timeout=300)
    lost = sum(int(each.replace(",", "")) for each in LOST.findall(done.stderr))
    assert "HEAP SUMMARY" in done.stderr, done.stderr
    if "leak" in case.truth or case.unlike_memcheck:
        assert lost >= LEAST, done.stderr
    elif "growth or leak" not in case.truth:
        assert lost < LEAST, done.stderr
