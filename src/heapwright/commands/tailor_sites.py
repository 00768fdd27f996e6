# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The figures of a trace with those of its call sites, which need the profile of the trace."""

from pathlib import Path

from heapwright.artefacts.trace.file import trace_info
from heapwright.artefacts.trace.processes import processes_of
from heapwright.profile.run import profile_trace
from heapwright.tailor.figures import Figures, figures_of
from heapwright.tailor.sites import places_of, sites_of


def figures_with_sites(trace: Path) -> Figures:
    """The figures of the process with the most calls. Without stacks, there are no call sites.

    Raises HeapwrightError.
    """
    figures = figures_of(trace)
    if trace_info(trace).stacks:
        process = processes_of(trace)[0].process
        places = places_of(profile_trace(trace, process, every_site=True, names=False))
        figures.sites = sites_of(trace, process, places)
    return figures
