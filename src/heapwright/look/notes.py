# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What a reader has to know about the figures of a look: what they lack, and why. Pure."""

from heapwright.base.quantities import several, size
from heapwright.look.scan import Scan


def notes_on(scan: Scan) -> list[str]:
    """What a reader has to know about the figures."""
    notes = _notes_on_heap(scan)
    if scan.is_core:
        notes.append(
            "A core file does not say which pages were resident: pages of zeros count as absent."
        )
    if scan.missing_bytes:
        notes.append(
            f"The core file is truncated: it lacks {size(scan.missing_bytes)}, so all sums are too "
            "small. A full disk or `ulimit -c` may be the reason."
        )
    if scan.leaks is not None and not scan.leaks.is_complete:
        notes.append("There are too many blocks for a search for leaks.")
    elif scan.leaks is not None and scan.leaks.blocks and _ran(scan):
        notes.append(
            "The process ran during the search, so a block whose pointer is only in a register "
            "counts as lost."
        )
    if scan.stacks.ended_resident_bytes > 1 << 20:
        notes.append(
            f"Stacks of {several(scan.stacks.ended, 'ended thread')} hold "
            f"{size(scan.stacks.ended_resident_bytes)}."
        )
    if scan.pause_ms is not None:
        notes.append(
            f"The process was stopped for {scan.pause_ms:.1f} ms, to copy "
            f"{size(scan.copied_bytes)}."
        )
    return notes


def _notes_on_heap(scan: Scan) -> list[str]:
    notes: list[str] = []
    if scan.glibc is None:
        return notes
    arenas = scan.glibc.arenas
    lost = sum(each.lost_bytes for each in arenas)
    repeats = sum(each.repeats for each in arenas)
    if lost:
        notes.append(f"In {size(lost)} of the heap no block was recognised. {_why_lost(scan)}")
    elif repeats:
        notes.append(
            f"The heap changed during the look, and {several(repeats, 'walk')} began again."
        )
    if not scan.glibc.is_whole:
        notes.append("Not all arenas were found, so the sums are too small.")
    if scan.glibc.parameters is None:
        notes.append(
            "The settings of this version of glibc were not found; it is not one of 2.35 to 2.41."
        )
    elif scan.glibc.parameters.mmaps != scan.glibc.mapped.blocks:
        notes.append(
            f"glibc counts {several(scan.glibc.parameters.mmaps, 'block')} with mappings of "
            f"their own, and {scan.glibc.mapped.blocks} were found."
        )
    locked = sum(each.is_locked for each in arenas)
    if locked:
        notes.append(
            f"{several(locked, 'arena')} had a locked lock: a thread was in malloc, or hangs."
        )
    return notes


def _why_lost(scan: Scan) -> str:
    if scan.missing_bytes:
        return "The core file lacks it, or it is damaged."
    if not _ran(scan):
        return "It is damaged."
    return (
        "The program changed it during the look, or it is damaged. --pause stops the process for "
        "the look."
    )


def _ran(scan: Scan) -> bool:
    return scan.pause_ms is None and not scan.is_core
