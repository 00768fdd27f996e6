// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The regions of Vo's vmalloc. A program opens any number of them, each with a discipline: the
// functions from which it takes its memory (layers/source/discipline_heap.hpp). Objects can be
// freed one by one, and a region returns all its memory when it ends. Regions cannot be nested.
// vmalloc.hpp has one such region as a program's malloc, with its own mappings.
//
// Cost: that of vmalloc.hpp. A region has no lock, so it is for one thread at a time.
#pragma once

#include <heapwright/allocators/vmalloc.hpp>
#include <heapwright/heap.hpp>

namespace heapwright::allocators {

namespace vmalloc_region {
template <NamedDiscipline Named>
using Objects = CoalesceableHeap<DisciplineHeap<Named>>; // each object knows its neighbours
template <NamedDiscipline Named>
using Blocks = SequentialFitHeap<SizeTree, 4 * KiB, Objects<Named>>; // best fit, grows by a page
} // namespace vmalloc_region

/// A region whose memory comes from the named discipline.
template <NamedDiscipline Named>
using VmallocRegion =
    StrictSegHeap<vmalloc::CacheClasses, vmalloc::PerClass, vmalloc_region::Blocks<Named>>;

static_assert(SizedHeap<VmallocRegion<MallocDiscipline>>);
static_assert(ClearableHeap<VmallocRegion<MallocDiscipline>>);

} // namespace heapwright::allocators
