# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Libraries that are loaded at their first use, not where a module imports them.

Charts and statistics need libraries that take most of a second to load. Many verbs import modules
that use them, but draw a page or analyse runs only if the user asks for it. A library of this list
is at first an empty module. The first access to one of its names loads the library.
"""

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from threading import RLock
from types import ModuleType
from typing import Any

from heapwright.base.extras import EXTRAS, without

LIBRARY_OF_CHARTS = "altair"
LIBRARIES = (
    LIBRARY_OF_CHARTS,
    "vl_convert",
    "scipy",
    "scipy.sparse",
    "scipy.special",
    "scipy.stats",
)
_LOADING = RLock()


class Postponed(ModuleType):
    """Stands for a library until one of its names is used."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in {"__path__", "__version__"}:
            raise AttributeError(name)
        part = sys.modules.get(f"{self.__name__}.{name}")
        if part is not None:
            return part
        return getattr(_loaded(self), name)


def _loaded(library: Postponed) -> ModuleType:
    """The library itself, and its parents before it."""
    name = library.__name__
    with _LOADING:
        if sys.modules.get(name) is library:
            parent = sys.modules.get(name.rpartition(".")[0])
            if isinstance(parent, Postponed):
                _loaded(parent)
            del sys.modules[name]
            try:
                import_module(name)
            except BaseException as error:
                sys.modules[name] = library
                if name in EXTRAS and isinstance(error, ModuleNotFoundError):
                    raise without(name) from error
                raise
            if name == LIBRARY_OF_CHARTS:
                _check_no_charts()
        return sys.modules[name]


def _check_no_charts() -> None:
    """Altair compares each part of a chart with its schema, which takes most of the time of a page.
    The tests draw the same charts with these checks."""
    sys.modules["altair.utils.schemapi"].disable_debug_mode()


def postpone() -> None:
    """Postpone the libraries that are not loaded yet."""
    for name in LIBRARIES:
        if name not in sys.modules:
            module = Postponed(name)
            module.__spec__ = ModuleSpec(name, None)
            if any(other.startswith(f"{name}.") for other in LIBRARIES):
                module.__path__ = []
            sys.modules[name] = module
