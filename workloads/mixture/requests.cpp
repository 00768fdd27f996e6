// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See requests.hpp.
#include "requests.hpp"

#include "support/calls.hpp"
#include "support/observers.hpp"

#include <new>

namespace heapwright::workloads {

void* newObject(std::size_t size) {
    return ::operator new(size, std::nothrow);
}

void deleteObject(void* object) {
    ::operator delete(object);
}

std::size_t randomSize(Random& random, std::size_t largest) {
    const std::uint64_t chance = random.below(1000);
    const std::size_t most = chance < 10    ? 0
                             : chance < 780 ? 256
                             : chance < 960 ? 4096
                             : chance < 999 ? 64 * 1024
                                            : largest;
    return random.between(0, most < largest ? most : largest);
}

Object randomObject(Random& random, std::size_t largest) {
    const std::size_t size = randomSize(random, largest);
    Object object{nullptr, size, false};
    const std::uint64_t kind = random.below(100);
    if (kind < 45) {
        object.address = calls.malloc(size);
    } else if (kind < 60) {
        object.address = calls.calloc(1 + size % 3, size / (1 + size % 3));
        object.size = (1 + size % 3) * (size / (1 + size % 3));
    } else if (kind < 70) {
        object.size = size == 0 ? 1 : size; // some allocators ignore the alignment of a size of 0
        object.address = calls.memalign(std::size_t{8} << random.below(10), object.size);
    } else if (kind < 75) {
        object.address = calls.realloc(nullptr, size);
    } else {
        object.address = calls.create(size);
        object.isNew = true;
    }
    if (object.address == nullptr) {
        noMemory("a request of mixed", size);
    }
    use(object.address, object.size);
    return object;
}

void freeObject(const Object& object) {
    if (object.isNew) {
        calls.destroy(object.address);
    } else {
        calls.free(object.address);
    }
}

void resizeObject(Object& object, Random& random, std::size_t largest) {
    // A slightly different size, or an unrelated one with the same probability: in place, or moved.
    const std::size_t near = object.size + random.below(64);
    const std::size_t size = random.below(2) == 0 ? near : randomSize(random, largest);
    object.size = size == 0 ? 1 : size;
    object.address = reallocate(object.address, object.size);
    use(object.address, object.size);
}

} // namespace heapwright::workloads
