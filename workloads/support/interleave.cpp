// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See interleave.hpp.
#include "interleave.hpp"

#include <sched.h>

namespace heapwright::workloads {

namespace {

Calls below;

void* then(void* object) {
    sched_yield();
    return object;
}

} // namespace

Calls interleavedCalls(const Calls& under) {
    below = under;
    return {
        [](std::size_t size) { return then(below.malloc(size)); },
        [](void* object) {
            below.free(object);
            sched_yield();
        },
        [](std::size_t count, std::size_t size) { return then(below.calloc(count, size)); },
        [](void* object, std::size_t size) { return then(below.realloc(object, size)); },
        [](std::size_t alignment, std::size_t size) {
            return then(below.memalign(alignment, size));
        },
        [](std::size_t size) { return then(below.create(size)); },
        [](void* object) {
            below.destroy(object);
            sched_yield();
        },
    };
}

} // namespace heapwright::workloads
