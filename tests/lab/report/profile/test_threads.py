# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The matrix has every pair in it, alone or among others, for any number of threads."""

import re

from heapwright.artefacts.profile.document import CrossThreadFrees, Profile
from heapwright.report.profile.threads import MOST, OTHERS, matrix, short, threads


def cells(text: str) -> list[list[str]]:
    rows = re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', text.partition("<details")[0])
    return [[name, *re.findall(r"<td[^>]*>(.*?)</td>", rest)] for name, rest in rows]


def test_each_pair_stands_in_its_cell(profile: Profile) -> None:
    assert cells(threads(profile)) == [
        ["0", "", "100", "20"],
        ["1", "3", "", "0"],
        ["2", "0", "0", ""],
    ]


def test_shades_deepen_with_figures(profile: Profile) -> None:
    depths = [int(depth) for depth in re.findall(r"--d:(\d+)%", threads(profile))]
    assert depths[0] == 100
    assert depths[0] > depths[1] > depths[2] > 0


def test_ten_thousand_threads_stay_a_small_table(profile: Profile) -> None:
    pairs = tuple((0, ender, 10_000 - ender) for ender in range(1, 10_000))
    crossed = CrossThreadFrees(count=50_000_000, share=0.5, pairs=pairs, omitted=7)
    many = profile.model_copy(update={"cross_thread_frees": crossed})
    names, found = matrix(many)
    assert len(names) == MOST + 1
    assert names[-1] == OTHERS
    assert found[OTHERS, OTHERS] == 7
    assert sum(found.values()) == sum(blocks for *_, blocks in pairs) + 7
    assert len(cells(threads(many))) == MOST + 1


def test_threads_that_keep_to_themselves_have_no_matrix(profile: Profile) -> None:
    alone = profile.model_copy(update={"cross_thread_frees": CrossThreadFrees(count=0, share=0)})
    assert "Every thread freed its own." in threads(alone)
    assert '<table class="matrix">' not in threads(alone)


def test_figures_are_short() -> None:
    assert [short(value) for value in (7, 999, 1000, 52_345, 3_000_000)] == [
        "7",
        "999",
        "1k",
        "52.3k",
        "3M",
    ]
