# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The mistakes whose ends the layers of a tailored allocator promise."""

import os

from heapwright.base import native
from heapwright.compose.compiler import Compiler
from heapwright.compose.mistakes import MISTAKES, wrong_endings
from heapwright.tailor.promises import PROMISES


def test_every_promise_is_about_a_known_mistake() -> None:
    assert set(PROMISES) == {"lists", "fit", "superblocks", "owner-caches"}
    for promises in PROMISES.values():
        assert promises.keys() <= MISTAKES.keys()


def test_granary_keeps_the_promises_of_owner_caches_and_not_those_of_superblocks(
    any_compiler: Compiler,
) -> None:
    library = str(native.library("granary"))
    assert wrong_endings(PROMISES["owner-caches"], library, any_compiler, os.environ) == ()
    broken = wrong_endings(PROMISES["superblocks"], library, any_compiler, os.environ)
    assert {"double-free", "free-interior", "realloc-freed"} <= {each.case for each in broken}
    assert all("it ended with status 0 and said 'nothing'" in each.why for each in broken)


def test_a_promise_with_other_words_is_broken(any_compiler: Compiler) -> None:
    promises = {"free-stack": "free(): another complaint"}
    (broken,) = wrong_endings(promises, str(native.library("granary")), any_compiler, os.environ)
    assert "it was killed by SIGABRT" in broken.why
    assert "free(): invalid pointer" in broken.why
