# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Sentences on missing data of a profile, for the page and the terminal."""

from heapwright.artefacts.profile.document import Profile
from heapwright.artefacts.trace.file import STOPPED


def remarks(profile: Profile) -> list[str]:
    """One sentence each; none if nothing is missing."""
    origin, totals = profile.provenance, profile.totals
    told: list[str] = []
    if profile.coverage is not None:
        told += [f"{each}." for each in profile.coverage.remarks()]
    if origin.sampled > 1:
        told.append(f"One block in {origin.sampled:,} was recorded; the figures are of those.")
    for what, value in (
        ("calls that passed unrecorded", origin.lost),
        ("requests answered with null", totals.failed),
        ("frees or reallocs of addresses that were not live", totals.unknown_frees),
        ("frees of blocks that a parent process may have made", totals.inherited_frees),
        ("blocks that ended without their free being seen", totals.overwritten),
    ):
        if value:
            told.append(f"{what[0].upper()}{what[1:]}: {value:,}.")
    if origin.stopped != "none":
        why = STOPPED[origin.stopped]
        told.append(f"Recording stopped early: {why}; what came later is missing.")
    elif not origin.closed:
        told.append("The recording was not closed: it still goes on, or its recorder was killed.")
    count = sum(each.events > 0 for each in origin.processes)
    if count > 1:
        told.append(
            f"{count:,} processes are counted together."
            if origin.selected is None
            else f"This is process {origin.selected}, one of {count:,} in the trace."
        )
    told += [f"At byte {fault.offset:,}: {fault.what}; left out." for fault in origin.faults]
    if origin.faults_omitted:
        told.append(f"{origin.faults_omitted:,} more pieces could not be read.")
    return told
