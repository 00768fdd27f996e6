# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Writes derived levels as a study file, with the programs behind each level as comments.

What is written is read by `study_file` like any other study, and is meant to be changed.
"""

import json
from collections.abc import Sequence

from heapwright.study.derivation import CountLevel, Derived, SizeLevel

ALLOCATORS = ("glibc", "jemalloc", "tcmalloc", "mimalloc", "hoard")
SMALL_MOST = 500_000
SMALL_THREADS = 2
NAMED = 8
"""Programs in one comment; of more, the number."""


def study_text(derived: Derived, name: str) -> str:
    """The text of a study file."""
    return "\n".join(
        [
            *_head(derived, name),
            *_factors(derived),
            *_rest(derived),
            *_small(derived),
            "",
        ]
    )


def _head(derived: Derived, name: str) -> list[str]:
    quoted = json.dumps(name, ensure_ascii=False)
    growing = "{pattern.growing}"
    return [
        "# Written by heapwright study from; docs/reference/study.md says how levels are derived.",
        "format = 1",
        f"name = {quoted}",
        f'title = "Allocators under what {_number(derived.programs)} requested"',
        'workload = "uma-test"',
        "arguments = [",
        '  "--allocations", "{allocations}", "--threads", "{threads}",',
        '  "--least", "{size.least}", "--most", "{size.most}",',
        f'  "--growing", "{growing}", "--long", "{derived.long_percent}",',
        "]",
        "",
        "[factors.allocator]",
        f"levels = {json.dumps(ALLOCATORS)}",
        f"baseline = {json.dumps(ALLOCATORS[0])}",
        "",
    ]


def _factors(derived: Derived) -> list[str]:
    lines = ["[factors.allocations]"]
    lines += [f"# {each.value:,} is left out: {_listed(each.programs)}" for each in derived.fewer]
    lines += ["levels = [", *map(_count, derived.allocations), "]", "", "[factors.size]"]
    if derived.spread:
        lines.append(f"# 70 % of the sizes lie in no one range: {_listed(derived.spread)}")
    lines += ["levels = [", *map(_size, derived.sizes), "]", "", "[factors.pattern]", "levels = ["]
    for kind, programs in derived.patterns.items():
        lines.append(
            f'  {{ name = "{kind}", growing = {int(kind == "growing")} }},{_comment(programs)}'
        )
    threads = json.dumps(derived.threads)
    return [
        *lines,
        "]",
        "",
        "[factors.threads]",
        f"levels = {threads}",
        "",
        "[factors.cpus]",
        'role = "cpus"',
        f"levels = {threads}",
        "",
    ]


def _rest(derived: Derived) -> list[str]:
    del derived
    return [
        "[design]",
        "blocks = 10",
        "discard = 1",
        "",
        "[responses.time]",
        'from = "output"',
        'json = "seconds"',
        'unit = "s"',
        "",
        "[responses.memory]",
        'from = "peak_rss"',
        "",
        "[analysis]",
        'facets = [["allocations", "allocator", "size"], ["threads", "allocator", "cpus"]]',
        'scaling = [{ response = "time", by = "allocations" }]',
        "",
    ]


def _small(derived: Derived) -> list[str]:
    counts = sorted({min(each.value, SMALL_MOST) for each in derived.allocations})
    threads = [each for each in derived.threads if each <= SMALL_THREADS]
    return [
        "[scale.small.factors]",
        f"allocations.levels = {json.dumps(counts)}",
        f"threads.levels = {json.dumps(threads)}",
        f"cpus.levels = {json.dumps(threads)}",
        "",
        "[scale.small.design]",
        "blocks = 4",
    ]


def _count(level: CountLevel) -> str:
    return f"  {level.value},{_comment(level.programs)}"


def _size(level: SizeLevel) -> str:
    table = f'{{ name = "{level.name}", least = {level.least}, most = {level.high} }}'
    return f"  {table},{_comment(level.programs)}"


def _comment(programs: Sequence[str]) -> str:
    return f" # {_listed(programs)}" if programs else ""


def _listed(programs: Sequence[str]) -> str:
    shown = ", ".join("".join(c if c.isprintable() else "?" for c in p) for p in programs[:NAMED])
    more = len(programs) - NAMED
    return f"{shown} and {more} more" if more > 0 else shown


def _number(programs: Sequence[str]) -> str:
    return "one program" if len(programs) == 1 else f"{len(programs)} programs"
