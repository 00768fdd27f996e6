// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the caches of freed objects share.
#pragma once

#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/thread/locked_heap.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace heapwright::testing {

using Shared1 = LockedHeap<FutexLock, SizeHeap<CountingHeap>>;

/// `count` objects, all different.
template <class H>
std::vector<void*> several(H& heap, std::size_t number, std::size_t size = 24) {
    std::vector<void*> objects;
    for (std::size_t i = 0; i < number; ++i) {
        objects.push_back(heap.malloc(size));
    }
    EXPECT_EQ(std::set<void*>(objects.begin(), objects.end()).size(), number);
    return objects;
}

template <class H>
void freeAll(H& heap, const std::vector<void*>& objects) {
    for (void* const object : objects) {
        heap.free(object);
    }
}

} // namespace heapwright::testing
