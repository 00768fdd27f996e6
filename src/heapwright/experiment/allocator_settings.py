# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the settings of one allocator: environment variables that the catalogue names for it.

A setting is `VARIABLE=VALUE`, or the value of the one variable that has all settings, such as
`return=2s` for granary.
"""

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from heapwright.artefacts.allocator.catalogue import BrokenAllocator, Entry
from heapwright.base.errors import HeapwrightError
from heapwright.experiment.treatments import TUNABLES, Request, Setting

VARIABLE = re.compile(r"(?P<variable>[A-Z][A-Z0-9_]*)=(?P<value>.*)", re.DOTALL)


def read_settings(request: Request, entry: Entry | None, texts: Iterable[str]) -> list[Setting]:
    """The settings `texts` of an allocator. Raises HeapwrightError for one that it does not have.

    A library that is named by its path has none, because the catalogue does not know it.
    """
    own: Sequence[str] = ()
    if entry is not None and request.library is None and not isinstance(entry, BrokenAllocator):
        own = entry.settings
    settings = [_setting(request, own, text) for text in texts]
    names = [each.variable for each in settings if each.variable != TUNABLES]
    for name in names:
        if names.count(name) > 1:
            raise HeapwrightError(
                f"--set gives {name} twice, and the last one would replace the others",
                "write one --set with all of them",
            )
    return settings


def _setting(request: Request, own: Sequence[str], text: str) -> Setting:
    if not own:
        raise HeapwrightError(
            f"{request.name} has no settings that heapwright knows, so --set {text} is refused",
            f"set a variable of your own outside: env VARIABLE=VALUE heapwright run -a "
            f"{request.library or request.name} -- …",
        )
    if named := VARIABLE.fullmatch(text):
        if any(fnmatchcase(named["variable"], each) for each in own):
            return Setting(request.name, named["variable"], named["value"])
        raise HeapwrightError(
            f"{request.name} does not read {named['variable']}", f"it reads {', '.join(own)}"
        )
    if own[0].endswith("*"):
        raise HeapwrightError(
            f"{request.name} has no variable with all settings: cannot read --set {text}",
            f"write --set VARIABLE=VALUE, where VARIABLE is one of {own[0]}",
        )
    return Setting(request.name, own[0], text)
