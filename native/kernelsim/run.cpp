// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The four models, each the heap of its name on the machine's pages and processors.
#include "kernelsim/run.hpp"

#include <heapwright/layers/kernel/slab_heap.hpp>
#include <heapwright/layers/kernel/slob_heap.hpp>
#include <heapwright/layers/kernel/slqb_heap.hpp>
#include <heapwright/layers/kernel/slub_heap.hpp>

namespace heapwright::kernelsim {

bool sameButForTime(const Outcome& one, const Outcome& other) {
    return one.samples == other.samples && one.caches == other.caches && one.takes == other.takes &&
           one.gives == other.gives && one.refused == other.refused &&
           one.dropped == other.dropped && one.mostSlabPages == other.mostSlabPages &&
           one.keptPages == other.keptPages && one.slabsTaken == other.slabsTaken &&
           one.fallbacks.events == other.fallbacks.events && one.counts == other.counts;
}

Outcome runModel(std::string_view name, const Traffic& traffic, std::size_t samples) {
    using Slab = SlabHeap<MachineProcessors, NoLock, MachinePages>;
    using Slob = SlobHeap<NoLock, MachinePages>;
    using Slub = SlubHeap<MachineProcessors, NoLock, MachinePages>;
    using Slqb = SlqbHeap<MachineProcessors, NoLock, MachinePages>;
    if (name == "slab")
        return Run<Slab>(traffic, samples).run();
    if (name == "slob")
        return Run<Slob>(traffic, samples).run();
    if (name == "slub")
        return Run<Slub>(traffic, samples).run();
    return Run<Slqb>(traffic, samples).run();
}

} // namespace heapwright::kernelsim
