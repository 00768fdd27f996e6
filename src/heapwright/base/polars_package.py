# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Polars, imported so that it leaves the environment as it was.

Polars sets _RJEM_MALLOC_CONF for the allocator that is built into it. Commands that are measured
inherit this process's environment. A program with such an allocator of its own would obey the
variable. Polars has read it when the import is over.
"""

import os

_SETTINGS = "_RJEM_MALLOC_CONF"
_before = os.environ.get(_SETTINGS)

import polars as pl  # noqa: E402
from polars.io.plugins import register_io_source  # noqa: E402

if _before is None:
    os.environ.pop(_SETTINGS, None)
else:
    os.environ[_SETTINGS] = _before

__all__ = ["pl", "register_io_source"]
