// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A snapshot in which no two figures are the same by chance: ten slots of 16 bytes, one large
// object, the caches of two threads.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/heap_snapshot.hpp>

namespace heapwright::testing {

inline HeapSnapshot someSnapshot() {
    HeapSnapshot some;
    some.blockBytes = 64 * KiB;
    some.heaps = 2;
    some.sizeClass(1, 32); // never used
    HeapSnapshot::SizeClass& first = some.sizeClass(0, 16);
    first.used = 10;
    first.cached = 3;
    first.held = 30;
    first.heldGlobal = 20;
    first.blocks = 1;
    first.returned = 4;
    some.addCache({.thread = 0,
                   .objects = 2,
                   .bytes = 32,
                   .remoteObjects = 1,
                   .remoteBytes = 16,
                   .refills = 9,
                   .flushes = 8});
    some.addCache({.thread = 3,
                   .objects = 0,
                   .bytes = 0,
                   .remoteObjects = 0,
                   .remoteBytes = 0,
                   .refills = 1,
                   .flushes = 0});
    some.large = {.objects = 1, .bytes = 1 * MiB, .direct = 0, .directBytes = 0};
    some.source = {.chunks = 1,
                   .chunkBytes = 4 * MiB,
                   .usedBytes = 2 * MiB,
                   .dirtyBytes = 1536 * KiB,
                   .cleanBytes = 512 * KiB};
    some.system = {.maps = 3,
                   .mappedBytes = 8 * MiB,
                   .unmaps = 1,
                   .unmappedBytes = 2 * MiB,
                   .purges = 5,
                   .purgedBytes = 640 * KiB,
                   .moves = 7};
    some.heapLocks = {.takes = 100, .waits = 2};
    some.globalLock = {.takes = 10, .waits = 1};
    some.sourceLock = {.takes = 5, .waits = 0};
    return some;
}

} // namespace heapwright::testing
