# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""C++ and Rust names as people write them, by the system's c++filt; without it as they are."""

import re
from collections.abc import Iterable

from heapwright.profile.symbols.tools import answer_of

PROGRAM = "c++filt"
MANGLED = ("_Z", "_R")
PATIENCE_S = 60
HASH = re.compile(r"(?<=\w)\[[0-9a-f]{8,16}\]|::h[0-9a-f]{16}$")
"""What tells two crates of one name apart in Rust's names, as in `alloc[fdfd2bd8633a6659]::vec` and
`server::open::h7cf2a7dd97757e43`."""


def demangled(names: Iterable[str]) -> dict[str, str]:
    """What each name stands for; names that stand for themselves are missing."""
    asked = sorted({name for name in names if name.startswith(MANGLED) and "\n" not in name})
    if not asked:
        return {}
    answers = answer_of(PROGRAM, (), "\n".join(asked) + "\n", PATIENCE_S).splitlines()
    if len(answers) != len(asked):
        return {}
    return {
        name: HASH.sub("", answer)
        for name, answer in zip(asked, answers, strict=True)
        if name != answer
    }
