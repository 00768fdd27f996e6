# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Where `heapwright top --by-site` has the call sites from: the sampler, or a recording."""

from collections.abc import Sequence
from typing import Protocol

from heapwright.base.errors import HeapwrightError
from heapwright.commands.top_recorded import RecordedSites
from heapwright.commands.top_sampled import SIGNAL, SampledSites, is_sampled
from heapwright.record.running import running_trace
from heapwright.report.top import SiteLine


class Sites(Protocol):
    """The call sites of one process."""

    @property
    def lines(self) -> Sequence[SiteLine]:
        """The largest holders of live memory at the last reading."""

    @property
    def note(self) -> str:
        """What a reader has to know of them; empty: nothing."""

    def wait(self) -> None:
        """Make the first reading. Raises HeapwrightError."""

    def read(self) -> None:
        """Make another reading. Raises HeapwrightError."""

    def close(self) -> None:
        """Remove what the readings left."""


def sites_of(pid: int) -> Sites:
    """The call sites of a process. Raises HeapwrightError if nothing in it knows them.

    The sampler is preferred, because it knows all blocks since the start of the process.
    """
    if is_sampled(pid):
        return SampledSites(pid)
    trace = running_trace(pid)
    if trace is None:
        raise HeapwrightError(
            f"process {pid} is not under the sampler and is not recorded, so its call sites are "
            "unknown",
            f"record it now, in another terminal: heapwright attach --stacks {pid}; or start it "
            f"with LD_PRELOAD=libheapwright-sampler.so and {SIGNAL}=USR2 "
            "(docs/reference/sampling.md)",
        )
    if not trace.has_stacks:
        raise HeapwrightError(
            f"process {pid} is recorded without call stacks ({trace.path})",
            f"end this recording, and begin another: heapwright attach --stacks {pid}",
        )
    return RecordedSites(trace)
