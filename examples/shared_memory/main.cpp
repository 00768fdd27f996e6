// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A heap that processes share. It is composed like any other. Its source is memory that forked
// children see. Its lock works between processes. `ResidentHeap` puts the heap itself into that
// memory. Children build their results in it, with plain pointers. The parent reads and frees them.
#include <heapwright/adaptor/resident_heap.hpp>
#include <heapwright/heap.hpp>

#include <array>
#include <iostream>
#include <new>
#include <sys/wait.h>
#include <unistd.h>

using namespace heapwright;

using Blocks = CoalesceHeap<16 * KiB, CoalesceableHeap<SharedMemoryHeap<16 * MiB>>>;
using Shared = LockedHeap<SharedFutexLock, CheckedHeap<Blocks>>;

struct Link {
    long number;
    Link* next;
};

namespace {

/// What a child does: the multiples of its number, newest first.
Link* multiplesOf(long number, Shared& heap) {
    Link* list = nullptr;
    for (long i = 1; i <= 1000; ++i) {
        void* const place = heap.malloc(sizeof(Link));
        if (place == nullptr) {
            return nullptr;
        }
        list = ::new (place) Link{i * number, list};
    }
    return list;
}

} // namespace

int main() {
    const ResidentHeap<Shared> heap;
    if (!heap) {
        std::cerr << "there is no shared memory\n";
        return 1;
    }
    void* const table = heap->malloc(3 * sizeof(Link*));
    auto* const results = ::new (table) std::array<Link*, 3>{};

    for (std::size_t child = 0; child < 3; ++child) {
        if (::fork() == 0) {
            (*results)[child] = multiplesOf(static_cast<long>(child) + 1, *heap);
            ::_exit(0);
        }
    }
    while (::wait(nullptr) > 0) {
    }
    for (Link* list : *results) {
        long sum = 0;
        long count = 0;
        while (list != nullptr) {
            sum += list->number;
            ++count;
            Link* const next = list->next;
            heap->free(list);
            list = next;
        }
        std::cout << count << " numbers, sum " << sum << '\n';
    }
    heap->free(table);
}
