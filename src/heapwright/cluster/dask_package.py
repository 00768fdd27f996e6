# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Dask distributed, an optional dependency; set up so that a worker disturbs its host little."""

import contextlib
import logging
import os
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from heapwright.base.errors import HeapwrightError
from heapwright.base.scratch import Scratch

QUIET = {
    # By default a worker samples its own stack a hundred times a second.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.tick.interval": "1s",
    # A run may last long, and a host may be busy with it; it is gone when its connection is.
    "distributed.scheduler.worker-ttl": "300s",
    "distributed.comm.timeouts.connect": "10s",
}


def dask() -> Any:
    """The package. Raises ImportError if it is not installed."""
    return import_module("dask")


def distributed() -> Any:
    """The package. Raises ImportError if it is not installed."""
    return import_module("distributed")


def need_dask() -> None:
    """Raises HeapwrightError, with what to install, if there is no Dask; sets it up otherwise."""
    try:
        settings = dask().config
        distributed()
    except ImportError as error:
        raise HeapwrightError(
            f"many hosts need Dask distributed, which is not installed ({error})",
            "pip install 'heapwright[cluster]'; one machine needs none of it",
        ) from error
    settings.set(QUIET)
    # What matters of what it says is said here, in other words and without its tracebacks.
    for name in ("asyncio", *logging.root.manager.loggerDict):
        if name.partition(".")[0] in {"asyncio", "distributed", "tornado"}:
            logging.getLogger(name).setLevel(logging.CRITICAL)


@contextlib.contextmanager
def temporary_files() -> Iterator[None]:
    """What Dask makes among the temporary files goes when this is over."""
    with Scratch() as folder, dask().config.set({"temporary-directory": str(folder)}):
        yield


def forget_settings() -> None:
    """Take back what Dask sets for the processes that it starts: a run must not inherit it.

    `dask worker` tells the C library when to give memory back, among others; that is one of the
    things that are measured here.
    """
    distributed()  # its defaults are part of the configuration
    for name, value in dask().config.get("distributed.nanny.pre-spawn-environ", {}).items():
        if os.environ.get(name) == str(value):
            del os.environ[name]
