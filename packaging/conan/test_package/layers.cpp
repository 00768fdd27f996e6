// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A heap inside a buffer, from the headers alone.
#include <heapwright/layers/source/static_buffer_heap.hpp>

int main() {
    static heapwright::StaticBufferHeap<1024> heap;
    return heap.malloc(100) != nullptr && heap.malloc(1024) == nullptr ? 0 : 1;
}
