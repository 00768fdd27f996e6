# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The call sites of a process that `attach` or `record` records, for `heapwright top --by-site`.

Each reading profiles the trace as far as it is written. What is never freed there is live now. The
trace grows, so readings take longer; the budget of `top` then makes them rarer.
"""

import time
from datetime import datetime

from heapwright.artefacts.stacks.profile import of_profile
from heapwright.artefacts.trace.processes import processes_of
from heapwright.base.errors import HeapwrightError
from heapwright.commands.top_lines import SiteLines
from heapwright.profile.run import profile_trace
from heapwright.profile.symbols.names import Known, named_calls
from heapwright.record.running import RunningTrace
from heapwright.report.top import SiteLine


class RecordedSites:
    """The sites in the trace of a process, as far as it is written."""

    def __init__(self, trace: RunningTrace) -> None:
        self._trace = trace
        self._known: Known = {}
        self._site_lines = SiteLines()
        self._is_over = False
        self._is_silent = False
        self._failure = ""
        self._sampled = 1

    @property
    def lines(self) -> tuple[SiteLine, ...]:
        """The largest holders of live memory at the last reading."""
        return self._site_lines.lines

    @property
    def note(self) -> str:
        """Since when blocks are known, and what is wrong."""
        if self._failure:
            return f"sites are those of the last reading: {self._failure}"
        if self._is_over:
            return "the recording is paused or has ended; sites are those of the last recorded call"
        if self._is_silent:
            return (
                "the process has made no call since its fork or exec; the blocks from before a "
                "fork are among the sites of its parent"
            )
        begin = datetime.fromtimestamp(self._trace.began_s).astimezone().strftime("%H:%M:%S")
        if not self.lines:
            return f"no block is live that was allocated since {begin}, when the recording began"
        estimate = (
            f"; they are estimated from one block in {self._sampled:,}" if self._sampled > 1 else ""
        )
        return f"sites have the blocks since {begin}, when the recording began{estimate}"

    def wait(self) -> None:
        """Make the first reading. Raises HeapwrightError."""
        self._read()

    def read(self) -> None:
        """Make another reading. The lines stay as they are if the trace is gone."""
        if self._failure:
            return
        try:
            if not self._is_over or self._trace.is_recording():  # a pause may end
                self._read()
        except HeapwrightError as error:
            self._failure = str(error)

    def close(self) -> None:
        """Nothing is left."""

    def _read(self) -> None:
        is_over = not self._trace.is_recording()  # before the reading, which has the last call then
        number = self._trace.process()
        self._is_over = is_over
        callers = [each.process for each in processes_of(self._trace.path)]
        self._is_silent = number is not None and number not in callers
        if self._is_silent:
            return
        profile = profile_trace(self._trace.path, number, names=False)
        when = time.monotonic()
        if profile.calls is not None:
            calls = named_calls(profile.calls, self._trace.root, self._known)
            self._sampled = max(profile.provenance.sampled, 1)
            self._site_lines.take(of_profile(profile, calls), when, self._sampled)
