# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A worker: a process of Dask's that does one thing at a time, until its scheduler is gone."""

import asyncio
import signal

from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.cluster.dask_package import distributed, temporary_files

WAITED_S = 60


def serve(address: str) -> None:
    """Work for the scheduler at `address`. Raises HeapwrightError if it is not there."""
    try:
        with temporary_files():
            asyncio.run(_serve(address))
    except (OSError, TimeoutError, ValueError) as error:
        raise HeapwrightError(
            f"there is no scheduler at {address}: {error}",
            "`heapwright study run --listen HOST:PORT` says where it waits",
            exit_code=ExitCode.NOTHING_COMPARED,
        ) from error


async def _serve(address: str) -> None:
    worker = await distributed().Worker(
        address,
        nthreads=1,
        memory_limit=0,
        dashboard=False,
        death_timeout=WAITED_S,
    )
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, lambda: loop.create_task(worker.close(executor_wait=False)))
    await worker.finished()
