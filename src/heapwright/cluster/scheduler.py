# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The Dask scheduler of a study: an existing one, or one that heapwright starts and the hosts
connect to.

A scheduler of heapwright and its workers use TLS with a certificate made for the session, unless
the user selects plain connections. A worker on another host gets the certificate through ssh's
standard input, so that it is in no command line.
"""

import contextlib
import os
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heapwright.base.errors import HeapwrightError
from heapwright.cluster.certificate import security_of, temporary_certificate
from heapwright.cluster.dask_package import distributed, need_dask, temporary_files

SSH = ("ssh", "-o", "BatchMode=yes", "-T")
REMOTE = "heapwright"
CONNECTING_S = 30.0
LEAVING_S = 10.0


@dataclass(frozen=True, slots=True)
class SchedulerPlace:
    """Exactly one of the first two is given; hosts need a scheduler that heapwright starts."""

    scheduler: str | None = None
    """Address of one that is there, as in tcp://host:8786."""
    listen: str | None = None
    """HOST:PORT or PORT of the started scheduler; port 0 selects a free one."""
    hosts: tuple[str, ...] = ()
    """Where workers are started over ssh."""
    insecure: bool = False
    """Whether the started scheduler takes plain connections."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """Dask's client, and what a worker needs to come."""

    client: Any
    certificate: Path | None = None
    """None: the scheduler needs none, or it existed before."""

    @property
    def address(self) -> str:
        return str(self.client.scheduler.address)

    @property
    def invitation(self) -> str:
        """The command that a host takes part with."""
        words = [REMOTE, "study", "worker", self.address]
        if self.certificate is not None:
            words += ["--certificate", str(self.certificate)]
        return shlex.join(words)


@contextlib.contextmanager
def connected(place: SchedulerPlace | None) -> Iterator[Meeting | None]:
    """Connect to hosts, and start workers on those that are named. None without a scheduler option.

    Raises HeapwrightError if nothing listens at the address.
    """
    if place is None:
        yield None
        return
    need_dask()
    with contextlib.ExitStack() as stack:
        certificate = None
        address: Any = place.scheduler
        if place.scheduler is None:
            if not place.insecure:
                certificate = stack.enter_context(temporary_certificate())
            address = stack.enter_context(_own_scheduler(place, certificate))
        try:
            client: Any = distributed().Client(address, timeout=CONNECTING_S, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise HeapwrightError(
                f"there is no scheduler at {place.scheduler}: {error}",
                "start one (dask scheduler), or let the study have its own (--listen)",
            ) from error
        stack.callback(_quietly, client.close)
        meeting = Meeting(client, certificate)
        stack.enter_context(workers_over_ssh(place.hosts, meeting.address, certificate))
        yield meeting


@contextlib.contextmanager
def _own_scheduler(place: SchedulerPlace, certificate: Path | None) -> Iterator[Any]:
    """A scheduler in this process, without workers."""
    host, _, port = (place.listen or "0").rpartition(":")
    if not port.isdigit():
        raise HeapwrightError(f"cannot read {place.listen!r}", "write HOST:PORT, or PORT alone")
    security = None if certificate is None else security_of(certificate)
    with temporary_files():
        try:
            cluster = distributed().LocalCluster(
                n_workers=0,
                host=host or (distributed().utils.get_ip() if place.hosts else "127.0.0.1"),
                scheduler_port=int(port),
                dashboard_address=None,
                protocol="tcp://" if security is None else "tls://",
                security=security,
            )
        except (OSError, RuntimeError) as error:
            raise HeapwrightError(
                f"the scheduler cannot listen at {place.listen}: {error.__cause__ or error}",
                "choose another HOST:PORT; port 0 is any that is free",
            ) from error
        try:
            yield cluster
        finally:
            _quietly(cluster.close)


@contextlib.contextmanager
def workers_over_ssh(
    hosts: Sequence[str], address: str, certificate: Path | None = None
) -> Iterator[None]:
    """A worker on each host while this lasts; each ends by itself when the scheduler is gone."""
    started: list[subprocess.Popen[bytes]] = []
    try:
        for host in hosts:
            started.append(_over_ssh(host, address, certificate))
        yield
    finally:
        for each in started:
            each.terminate()
        for each in started:
            try:
                each.wait(LEAVING_S)
            except subprocess.TimeoutExpired:
                each.kill()
                each.wait()


def _over_ssh(host: str, address: str, certificate: Path | None) -> subprocess.Popen[bytes]:
    if host.startswith("-"):
        raise HeapwrightError(f"{host!r} is no host")
    words = [REMOTE, "study", "worker", address]
    if certificate is not None:
        words += ["--certificate", "-"]
    try:
        with contextlib.ExitStack() as stack:
            given = stack.enter_context(Path(certificate or os.devnull).open("rb"))
            return subprocess.Popen(
                [*SSH, host, shlex.join(words)],
                stdin=given,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
    except OSError as error:
        raise HeapwrightError(f"ssh cannot be run: {error.strerror or error}") from error


def _quietly(close: Any) -> None:
    """Close what may be gone already."""
    with contextlib.suppress(OSError, RuntimeError, TimeoutError):
        close()
