// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// calloc: zero bytes, also in reused memory.
#include "conformance/suite.hpp"

#include <cstdlib>
#include <cstring>

using namespace conformance;

namespace {

void dirty(std::size_t size) {
    void* objects[16];
    for (void*& object : objects) {
        object = std::malloc(size);
        require(object != nullptr, "malloc gave nothing");
        std::memset(object, 0xA5, size);
        hide(object);
    }
    for (void* object : objects) {
        std::free(object);
    }
}

void zeroes() {
    for (std::size_t size = 1; size < (std::size_t{2} << 20U); size += size / 3 + 1) {
        dirty(size);
        void* objects[20];
        for (void*& object : objects) {
            object = std::calloc(1, hide(size));
            require(object != nullptr, "calloc gave nothing");
            requireZero(object, size);
            std::memset(object, 0x5A, size);
            hide(object);
        }
        for (void* object : objects) {
            std::free(object);
        }
    }
}

void counts() {
    for (std::size_t count = 1; count < 300; count += 7) {
        for (std::size_t size = 1; size < 300; size += 11) {
            void* object = std::calloc(hide(count), hide(size));
            void* other = std::calloc(hide(size), hide(count));
            require(object != nullptr && other != nullptr, "calloc gave nothing");
            fill(object, count * size, 1);
            requireZero(other, count * size);
            requireFilled(object, count * size, 1);
            std::free(object);
            std::free(other);
        }
    }
}

void split() {
    Random random(3);
    static void* objects[500];
    for (int round = 0; round < 60; ++round) {
        for (void*& object : objects) {
            const std::size_t size = 1 + random.below(3000);
            object = random.below(2) == 0 ? std::calloc(size, 1) : nullptr;
            if (object != nullptr) {
                requireZero(object, size);
            } else {
                object = std::malloc(size);
            }
            std::memset(object, 0xC3, size);
            hide(object);
        }
        for (int i = 0; i < 500; ++i) {
            const int which = (i * 3 + round) % 500;
            std::free(objects[which]);
        }
    }
}

const Case cases[] = {
    {"calloc-zeroes", Demand::standard, "calloc's memory is zero, fresh and reused, in every size",
     zeroes},
    {"calloc-counts", Demand::standard, "calloc gives count times size bytes", counts},
    {"calloc-after-merge", Demand::standard,
     "memory that was split or merged since it was last used is zero too", split},
};

} // namespace
