# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Polars, an optional library, loaded at its first use so that it leaves the environment as it was.

Polars sets _RJEM_MALLOC_CONF for the allocator that is built into it. Commands that are measured
inherit this process's environment. A program with such an allocator of its own would obey the
variable. Polars has read it when the import is over.

Modules import the name `pl` from here. The first access to one of its names loads the library.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from heapwright.base.extras import without

__all__ = ["pl", "register_io_source"]

_SETTINGS = "_RJEM_MALLOC_CONF"


@cache
def _loaded() -> Any:
    """The library. Raises HeapwrightError if it is not installed."""
    before = os.environ.get(_SETTINGS)
    try:
        library = import_module("polars")
        import_module("polars.io.plugins")
    except ModuleNotFoundError as error:
        raise without("polars") from error
    finally:
        if before is None:
            os.environ.pop(_SETTINGS, None)
        else:
            os.environ[_SETTINGS] = before
    return library


class _Polars:
    """Stands for the library, and caches each name of it."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(_loaded(), name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    import polars as pl
    from polars.io.plugins import register_io_source
else:
    pl = _Polars()

    def register_io_source(*arguments: Any, **settings: Any) -> Any:
        """`polars.io.plugins.register_io_source`."""
        return _loaded().io.plugins.register_io_source(*arguments, **settings)
