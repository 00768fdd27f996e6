# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Names of functions as people write them, compared with the frames of call stacks. Pure.

`process` means every function of this name, in any namespace or class and with any parameters.
`audio::Filter::process` also names the outer scopes. `process(float*, int)` names one overload, and
operators are named in this way. A `*` stands for any text.
"""

import re
from collections.abc import Callable

from heapwright.artefacts.profile.library_frames import PLACE, qualified_name

IDENTIFIER = re.compile(r"\w+")
CUT = "(outer calls left out)"
"""The frame in place of those beyond the longest recorded chain."""

Matches = Callable[[str], bool]


def matcher(name: str) -> Matches:
    """Whether a frame, or a demangled name, is of the function `name`."""
    pattern = ".*".join(map(re.escape, name.strip().split("*")))
    if "(" in name.replace("(anonymous namespace)", ""):
        whole = re.compile(rf"(?:.*[\s:])?{pattern}", re.DOTALL)
        return lambda frame: whole.fullmatch(_without_place(frame)) is not None
    plain = re.compile(rf"(?:.*::)?{pattern}", re.DOTALL)

    def matches(frame: str) -> bool:
        text = _without_place(frame)
        return any(plain.fullmatch(each) for each in (text, qualified_name(text)) if each)

    return matches


def hint_of(name: str) -> str:
    """An identifier that every mangled name of this function contains; empty if there is none."""
    scopes = name.partition("(")[0].split("*")
    found = [each for scope in scopes for each in IDENTIFIER.findall(scope)]
    return max(found, key=len, default="")


def _without_place(frame: str) -> str:
    return PLACE.sub("", frame)
