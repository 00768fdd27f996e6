# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Rows that touch are one region, and the table says of each how full it is."""

from heapwright.artefacts.profile.document import Profile
from heapwright.artefacts.profile.series import HeapRow
from heapwright.report.profile.heap_map import Region, level, regions_of, regions_table


def test_regions_end_where_addresses_do() -> None:
    rows = [HeapRow(start=start, bytes=16) for start in (0, 16, 48, 64, 128)]
    assert regions_of(rows) == [Region(0, 2), Region(2, 4), Region(4, 5)]
    assert regions_of([]) == []


def test_levels_keep_nothing_apart_from_next_to_nothing() -> None:
    assert [level(share) for share in (0, 1e-9, 0.5, 1)] == [0, 1, 128, 255]


def test_the_table_has_peak_end_and_holes(profile: Profile) -> None:
    drawn = profile.heap_map
    assert drawn is not None
    rows = regions_table(drawn, regions_of(drawn.rows)).rows
    assert rows == [
        ("0x10000", "16 KiB", "75.0 %", "75.0 %", "25.0 %"),
        ("0x7f0000000000", "128 KiB", "50.0 %", "50.0 %", "0 %"),
    ]
