# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""C++ and Rust names as people write them, by the system's c++filt; without it as they are."""

from collections.abc import Iterable

from heapwright.profile.symbols.tools import answer_of

PROGRAM = "c++filt"
MANGLED = ("_Z", "_R")
PATIENCE_S = 60


def demangled(names: Iterable[str]) -> dict[str, str]:
    """What each name stands for; names that stand for themselves are missing."""
    asked = sorted({name for name in names if name.startswith(MANGLED) and "\n" not in name})
    if not asked:
        return {}
    answers = answer_of(PROGRAM, (), "\n".join(asked) + "\n", PATIENCE_S).splitlines()
    if len(answers) != len(asked):
        return {}
    return {name: answer for name, answer in zip(asked, answers, strict=True) if name != answer}
