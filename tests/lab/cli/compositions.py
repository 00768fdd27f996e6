# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of `heapwright compose` share: a header with a layer of its own, the command."""

import os
import sys
from pathlib import Path

from support.running import ran

from .tools import Done

OWN_LAYER = """#pragma once
#include <heapwright/heap.hpp>
namespace heapwright {
template <TaggedHeap SuperHeap>
class PaddedHeap : private SuperHeap {
public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr bool tagged = true;
    static constexpr std::string_view caption = "asks for a little more";
    using Below = Heaps<SuperHeap>;
    constexpr PaddedHeap() noexcept = default;
    void* malloc(std::size_t size) noexcept { BEFORE; return SuperHeap::malloc(size + 16); }
    void free(void* object) noexcept { SuperHeap::free(object); }
    std::size_t getSize(void* object) noexcept { return SuperHeap::getSize(object); }
    void measure(MemoryUsage& usage) noexcept { SuperHeap::measure(usage); }
};
} // namespace heapwright
"""
OWN_RUNGS = """#pragma once
#include <heapwright/heap.hpp>
#include "parts/padded_heap.hpp"
namespace mine {
using namespace heapwright;
using Objects = CoalesceableHeap<MmapHeap>;       // each object knows its neighbours
using Blocks = CoalesceHeap<128 * KiB, Objects>;  // split and merged
using Padded = PaddedHeap<Blocks>;                // never quite full
} // namespace mine
"""


def compose(home: Path, *arguments: str | Path) -> Done:
    """The command in a process of its own, with its registry in `home`."""
    plain = {key: text for key, text in os.environ.items() if not key.startswith("LD_")}
    done = ran(
        [sys.executable, "-m", "heapwright", "compose", *map(str, arguments)],
        env=plain | {"HEAPWRIGHT_HOME": str(home)},
        timeout=300,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def write_own(folder: Path, before: str = "") -> Path:
    (folder / "parts").mkdir(parents=True)
    layer = folder / "parts" / "padded_heap.hpp"
    layer.write_text(OWN_LAYER.replace("BEFORE;", before))
    header = folder / "rungs.hpp"
    header.write_text(OWN_RUNGS)
    return header


def installed(home: Path) -> list[str]:
    folder = home / "allocators"
    return sorted(each.name for each in folder.iterdir()) if folder.exists() else []
