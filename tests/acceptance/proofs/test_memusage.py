# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The C library's own memusage and the project's agree to the last call and byte, on one thread.

Both look at the same run, the project's first. Programs hash addresses, so no two runs are alike.
Of a realloc, memusage counts only its growth (`totals.growth_bytes`). It counts operator new, which
calls malloc, as malloc.
"""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from heapwright.artefacts.profile.document import Profile

from .recording import needed, profiled, record

LIBRARIES = tuple(Path("/usr/lib").glob("*-linux-gnu*/libmemusage.so"))
QUERY = """
with recursive c(x) as (select 1 union all select x + 1 from c where x < 30000)
select count(*), sum(length(hex(x))) from (select distinct x % 1000 as x from c order by x);
"""
SOURCE = """
#include <algorithm>
#include <map>
#include <string>
#include <vector>
int main() {
    std::map<std::string, std::vector<int>> numbers;
    for (int i = 0; i < 1000; ++i) numbers[std::to_string(i % 50)].push_back(i);
    return std::all_of(numbers.begin(), numbers.end(), [](auto& n) { return n.second.size() > 9; });
}
"""


@dataclass(frozen=True)
class Row:
    calls: int
    bytes: int
    failed: int


@dataclass(frozen=True)
class Usage:
    """What memusage says at the end."""

    total: int
    peak: int
    rows: dict[str, Row]


def read_usage(text: str) -> Usage:
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    head = re.search(r"heap total: (\d+), heap peak: (\d+)", text)
    assert head, text
    rows = {
        name: Row(int(calls), int(size), int(failed or 0))
        for name, calls, size, failed in re.findall(
            r"^\s*(malloc|realloc|calloc|free)\|\s+(\d+)\s+(\d+)(?:\s+(\d+))?", text, re.MULTILINE
        )
    }
    return Usage(int(head[1]), int(head[2]), rows)


def calls(profile: Profile, *routines: str) -> int:
    detail = profile.routines.detail
    return sum(detail[name].calls for name in routines if name in detail)


def requested(profile: Profile, *routines: str) -> int:
    detail = profile.routines.detail
    return sum(detail[name].bytes for name in routines if name in detail)


def agree(command: list[str], folder: Path) -> Profile:
    """Runs the command under both."""
    if not LIBRARIES:
        pytest.skip("there is no libmemusage.so (package libc6)")
    said = record(command, folder / "trace", behind=LIBRARIES[0], cwd=folder)
    usage = read_usage(said["stderr"])
    profile = profiled(folder / "trace")
    assert len(profile.threads) == 1
    assert profile.totals.growth_bytes == usage.total
    assert profile.peak_live_bytes == usage.peak
    assert calls(profile, "malloc", "new", "new[]") == usage.rows["malloc"].calls
    assert requested(profile, "malloc", "new", "new[]") == usage.rows["malloc"].bytes
    assert calls(profile, "calloc") == usage.rows["calloc"].calls
    assert requested(profile, "calloc") == usage.rows["calloc"].bytes
    assert calls(profile, "realloc", "reallocarray") == usage.rows["realloc"].calls
    assert profile.totals.frees == usage.rows["free"].calls
    return profile


def test_sqlite(tmp_path: Path) -> None:
    (tmp_path / "query.sql").write_text(QUERY)
    profile = agree([needed("sqlite3", "sqlite3"), ":memory:", ".read query.sql"], tmp_path)
    assert profile.provenance.events > 50_000


def test_the_compiler_proper(tmp_path: Path) -> None:
    driver = needed("g++", "g++")
    proper = subprocess.check_output([driver, "-print-prog-name=cc1plus"], text=True).strip()
    multiarch = subprocess.check_output([driver, "-print-multiarch"], text=True).strip()
    (tmp_path / "source.cpp").write_text(SOURCE)
    folders = ["-imultiarch", multiarch] if multiarch else []
    command = [proper, "-quiet", *folders, "-O1", "source.cpp", "-o", "/dev/null"]
    profile = agree(command, tmp_path)
    assert profile.provenance.events > 100_000


def test_perl(tmp_path: Path) -> None:
    program = 'my %h; $h{$_} = "x" x ($_ % 50) for 1..20000; print scalar keys %h'
    agree([needed("perl", "perl"), "-e", program], tmp_path)
