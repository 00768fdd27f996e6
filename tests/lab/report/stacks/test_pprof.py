# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A file for pprof has all call sites with their sums, and pprof reads it."""

import gzip
import re
import shutil
from collections import defaultdict
from pathlib import Path

import pytest

from heapwright.artefacts.stacks.profile import StackProfile
from heapwright.base.protobuf import fields_of, packed_integers
from heapwright.report.stacks.pprof import VALUES, pprof_of
from support.running import ran

Fields = dict[int, list[int | bytes]]


def fields(data: bytes) -> Fields:
    """The fields of a message, by their numbers."""
    found: Fields = defaultdict(list)
    for field, value in fields_of(data):
        found[field].append(value)
    return found


def messages(found: Fields, field: int) -> list[Fields]:
    return [fields(each) for each in found[field] if isinstance(each, bytes)]


def samples_of(data: bytes) -> dict[tuple[str, ...], list[int]]:
    """The values of each chain of functions, innermost first."""
    whole = fields(gzip.decompress(data))
    strings = [each.decode() for each in whole[6] if isinstance(each, bytes)]
    assert strings[0] == ""
    functions = {each[1][0]: strings[int(each[2][0])] for each in messages(whole, 5)}
    locations = {
        each[1][0]: [functions[line[1][0]] for line in messages(each, 4)]
        for each in messages(whole, 4)
    }
    found: dict[tuple[str, ...], list[int]] = {}
    for sample in messages(whole, 2):
        (places,), (values,) = sample[1], sample[2]
        assert isinstance(places, bytes)
        assert isinstance(values, bytes)
        chain = tuple(name for place in packed_integers(places) for name in locations[place])
        before = found.get(chain, [0] * len(VALUES))
        found[chain] = [a + b for a, b in zip(before, packed_integers(values), strict=True)]
    return found


def test_each_chain_has_its_own_sums(stacks: StackProfile) -> None:
    assert samples_of(pprof_of(stacks)) == {
        ("no stack",): [10, 1_100, 0, 0, 0, 0],
        ("keep", "main"): [500, 10_000, 0, 0, 6, 600],
        ("grow;it", "keep", "main"): [500, 50_000, 1, 100, 5, 500],
        ("libx.so.1+0xabc", "keep", "main"): [100, 50_000, 100, 10_000, 0, 0],
    }


def test_the_same_profile_gives_the_same_bytes(stacks: StackProfile) -> None:
    assert pprof_of(stacks) == pprof_of(stacks)


def test_times_and_the_command_are_there(stacks: StackProfile) -> None:
    whole = fields(gzip.decompress(pprof_of(stacks)))
    strings = [each.decode() for each in whole[6] if isinstance(each, bytes)]
    assert whole[9] == [1_767_323_045 * 10**9]
    assert whole[10] == [2_500_000_000]
    (comments,) = whole[13]
    assert isinstance(comments, bytes)
    assert [strings[each] for each in packed_integers(comments)] == ["/usr/bin/program -v"]
    assert [strings[int(each[5][0])] for each in messages(whole, 3)] == [
        "/usr/bin/program",
        "/lib/libx.so.1",
    ]


@pytest.mark.slow  # newer releases of Go compile pprof at its first use
def test_pprof_itself_reads_it(stacks: StackProfile, tmp_path: Path) -> None:
    go = shutil.which("go") or pytest.skip("no go (package golang-go)")
    file = tmp_path / "p.pb.gz"
    file.write_bytes(pprof_of(stacks))
    for index, total in enumerate((1110, 111_100, 101, 10_100, 11, 1_100)):
        name = list(VALUES.values())[index][0]
        told = ran(
            [go, "tool", "pprof", "-top", "-unit=bytes", f"-sample_index={name}", file], timeout=600
        )
        assert told.returncode == 0, told.stderr
        assert re.search(rf"100% of {total}(bytes|B)? total", told.stdout), told.stdout
    assert "File: program" in told.stdout
