# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A worker: a process of Dask's that does one thing at a time, until its scheduler is gone."""

import asyncio
import re
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.cluster.certificate import security_of
from heapwright.cluster.dask_package import dask, distributed, temporary_files

WAITED_S = 60
ADDRESS = re.compile(
    r"((?P<scheme>tcp|tls)://)?(?P<host>[^\s:/\[\]]+|\[[^\s\[\]/]+\]):(?P<port>[0-9]+)"
)
LARGEST_PORT = 65535


def read_address(text: str, certificate: Path | None) -> str:
    """The scheduler's address with its scheme. Raises HeapwrightError for what is none."""
    match = ADDRESS.fullmatch(text)
    if match is None or not 0 < int(match["port"]) <= LARGEST_PORT:
        raise HeapwrightError(
            f"{text!r} is no address of a scheduler",
            "write tls://HOST:PORT or tcp://HOST:PORT; `heapwright study run --listen` prints it",
        )
    scheme = match["scheme"] or ("tcp" if certificate is None else "tls")
    if scheme == "tcp" and certificate is not None:
        raise HeapwrightError(
            f"{text} is an address of plain connections, and a certificate is given",
            "write tls://, or leave --certificate out",
        )
    if (
        scheme == "tls"
        and certificate is None
        and not dask().config.get("distributed.comm.tls.ca-file", None)
    ):
        raise HeapwrightError(
            f"{text} needs the certificate of the study",
            "give it with --certificate FILE; the leading host names the file while it waits",
        )
    return f"{scheme}://{match['host']}:{match['port']}"


def _need_host(address: str) -> None:
    """Refuse a name that no address belongs to: Dask would wait for it as for a late scheduler."""
    place = urlsplit(address)
    host = place.hostname or ""
    try:
        socket.getaddrinfo(host, place.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise HeapwrightError(
            f"the host {host!r} has no address: {reason}",
            "write the name or the address of the host that leads the study",
        ) from error


def serve(address: str, connected: Callable[[], None], certificate: Path | None = None) -> None:
    """Work for the scheduler at `address`, and call `connected` once it has taken this worker.

    Raises HeapwrightError if the scheduler is not there, or refuses this worker.
    """
    _need_host(address)
    try:
        with temporary_files():
            asyncio.run(_serve(address, connected, certificate))
    except (OSError, TimeoutError, ValueError) as error:
        reason = str(error) or type(error).__name__
        raise HeapwrightError(
            f"no scheduler at {address} takes this worker: {reason}",
            "`heapwright study run --listen HOST:PORT` prints its address and its certificate; "
            "both are new at each run and resume",
            exit_code=ExitCode.NOTHING_COMPARED,
        ) from error


async def _serve(address: str, connected: Callable[[], None], certificate: Path | None) -> None:
    worker = await distributed().Worker(
        address,
        nthreads=1,
        memory_limit=0,
        dashboard=False,
        death_timeout=WAITED_S,
        security=None if certificate is None else security_of(certificate),
    )
    connected()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, lambda: loop.create_task(worker.close(executor_wait=False)))
    await worker.finished()
