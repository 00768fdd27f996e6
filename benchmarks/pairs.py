# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What is composed beside what is written by hand: the pairs of layers_cost_nothing.py."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from callgrind import HERE, ROOT, Compiler, Counted, count, count_composed

KINGSLEY = "heapwright/allocators/kingsley.hpp"
LEA = "heapwright/allocators/lea.hpp"
TWINS = "twins/compositions.hpp"


@dataclass(frozen=True)
class Pair:
    """A composed heap and its twin, under the same loops.

    `composed` is a type in `header`, or a source file below benchmarks/ where there is no header;
    `by_hand` is a source file below benchmarks/. `library` is what the composed one is linked with.
    `allowed_percent` is the known cost of the layers under each compiler, with a margin of 2. Above
    it the pair fails. Without an entry, the layers must cost nothing.
    """

    name: str
    composed: str
    by_hand: str
    driver: str = "driver.c"
    header: str = ""
    library: tuple[Path, ...] = ()
    allowed_percent: Mapping[str, int] = field(default_factory=dict)

    def count_composed(self, compiler: Compiler, optimisation: str) -> Counted:
        if self.header:
            return count_composed(compiler, optimisation, self.header, self.composed, self.driver)
        return count(compiler, optimisation, HERE / self.composed, self.driver, self.library)

    def count_by_hand(self, compiler: Compiler, optimisation: str) -> Counted:
        return count(compiler, optimisation, HERE / self.by_hand, self.driver)


PAIRS = [
    Pair(
        "kingsley core",
        "heapwright::allocators::kingsley::Checked",
        "twins/kingsley_core.c",
        header=KINGSLEY,
    ),
    Pair("kingsley", "heapwright::allocators::Kingsley", "twins/kingsley.c", header=KINGSLEY),
    Pair(
        "lea core",
        "heapwright::allocators::lea::Checked",
        "twins/lea_core.c",
        header=LEA,
        # Known: a list costs 1 to 4 instructions, and splitting and merging cost up to 16 % (g++)
        # and 26 % (clang++). The layers of the blocks serve any fit policy, the twin serves one.
        allowed_percent={"g++": 18, "clang++": 28},
    ),
    Pair("pool", "heapwright::twins::Pool", "twins/freelist_pool.c", "pool_driver.c", TWINS),
    Pair("xalloc", "heapwright::twins::Xalloc", "twins/xalloc.c", "xalloc_driver.c", TWINS),
    Pair("region", "heapwright::twins::Region", "twins/region.c", "region_driver.c", TWINS),
    Pair("obstack", "obstacks/composed.cpp", "obstacks/libc.c", "obstack_driver.c"),
    Pair(
        "obstack in C",
        "obstacks/c_api.c",
        "obstacks/libc.c",
        "obstack_driver.c",
        library=(
            ROOT / "native" / "capi" / "obstack.c",
            ROOT / "native" / "capi" / "obstack_shared.c",
        ),
    ),
]
