// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The same composition over two sources. A general-purpose heap that splits and merges blocks. It
// works over pages from the system, and inside a buffer of the program, as on a machine without a
// system. Only the last parameter differs.
#include <heapwright/heap.hpp>

#include <cstring>
#include <iostream>
#include <vector>

using namespace heapwright;

template <class Source>
using General = AlignHeap<CheckedHeap<CoalesceHeap<16 * KiB, CoalesceableHeap<Source>>>>;

using OnPages = General<MmapHeap>;
using InABuffer = General<StaticBufferHeap<256 * KiB>>;

namespace {

constinit InABuffer buffered; // complete before the program starts, and no system call ever

/// Objects of 1000 bytes, until there are `most` or there is no memory; null is an answer.
template <class H>
std::size_t fill(H& heap, std::size_t most) {
    std::vector<void*> objects;
    while (objects.size() < most) {
        void* const object = heap.malloc(1000);
        if (object == nullptr) {
            break;
        }
        std::memset(object, 1, 1000);
        objects.push_back(object);
    }
    for (void* const object : objects) {
        heap.free(object);
    }
    return objects.size();
}

} // namespace

int main() {
    OnPages paged;
    std::cout << "pages: " << fill(paged, 10'000) << " objects\n";

    const std::size_t first = fill(buffered, 10'000);
    std::cout << "buffer of 256 KiB: " << (first > 200 && first < 262 ? "full" : "wrong") << '\n';
    std::cout << "the same again: " << (fill(buffered, 10'000) == first) << '\n';

    void* const large = buffered.memalign(4096, 100'000); // what was freed has merged
    std::cout << "large and aligned: "
              << (large != nullptr && reinterpret_cast<std::uintptr_t>(large) % 4096 == 0) << '\n';
    buffered.free(large);
}
