// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A heap for one purpose, without CMake. Exact lists over a coalescing heap serve small objects,
// mappings of the system serve large ones, and every free is checked. One line defines the object.
#include <heapwright/heap.hpp>

#include <cstring>
#include <iostream>

using namespace heapwright;

using Blocks = CoalesceHeap<64 * KiB, CoalesceableHeap<MmapHeap>>;
using Lists = StrictSegHeap<Exact<8>, FreelistHeap<NullHeap>, Blocks>;
using Routed = SelectMmapHeap<FixedLimit<128 * KiB>, MmapHeap, Lists>;
using Mine = ANSIWrapper<CheckedHeap<Routed>>;

int main() {
    std::size_t live = 0;
    {
        Mine heap;
        for (std::size_t i = 0; i < 10'000; ++i) {
            auto* object = static_cast<char*>(heap.malloc(i % 3000));
            std::memset(object, 'x', i % 3000);
            if (i % 3 == 0) {
                object = static_cast<char*>(heap.realloc(object, 2 * (i % 3000) + 1));
            }
            if (i % 2 == 0) {
                heap.free(object);
            } else {
                ++live;
            }
        }
        void* const large = heap.malloc(10 * MiB);
        MemoryUsage usage;
        heap.measure(usage);
        std::cout << "large objects with a mapping of their own: " << usage.directCount << '\n';
        heap.free(large);
    } // the heap goes, and with it what is still live
    std::cout << "live at the end: " << live << '\n';
}
