// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The properties of every object: alignment, bytes and an address of its own, and a usable size.
#include "conformance/size_check.hpp"
#include "conformance/suite.hpp"

#include <cstdlib>
#include <cstring>
#include <malloc.h>

using namespace conformance;

namespace {

/// All sizes near zero, then the neighbourhoods of powers of two up to 64 MiB.
template <class Visit>
void forEachSize(Visit visit) {
    for (std::size_t size = 0; size <= 2100; ++size) {
        visit(size);
    }
    for (std::size_t power = 4096; power <= (std::size_t{64} << 20U); power *= 2) {
        for (const std::size_t size : {power - 17, power - 8, power - 1, power, power + 1}) {
            visit(size);
        }
    }
}

void alignment() {
    forEachSize([](std::size_t size) {
        void* objects[4];
        for (void*& object : objects) {
            object = std::malloc(hide(size));
            require(object != nullptr, "malloc gave nothing");
            requireAligned(object, alignmentFor(size));
        }
        for (void* object : objects) {
            std::free(object);
        }
    });
}

void zeroSize() {
    void* objects[64];
    for (int i = 0; i < 64; ++i) {
        void* object = i % 3 == 0   ? std::malloc(hide(std::size_t{0}))
                       : i % 3 == 1 ? std::calloc(hide(std::size_t{0}), 8)
                                    : std::realloc(hide<void*>(nullptr), 0);
        require(object != nullptr, "null for zero bytes");
        for (int j = 0; j < i; ++j) {
            require(object != objects[j], "two live objects at one address");
        }
        objects[i] = object;
    }
    for (void* object : objects) {
        std::free(object);
    }
    std::free(nullptr);
}

void content() {
    constexpr int count = 2000;
    static void* objects[count];
    static std::size_t sizes[count];
    Random random(1);
    for (int round = 0; round < 4; ++round) {
        for (int i = 0; i < count; ++i) {
            sizes[i] = random.size();
            objects[i] = std::malloc(sizes[i]);
            require(objects[i] != nullptr, "malloc gave nothing");
            fill(objects[i], sizes[i], static_cast<unsigned>(i));
        }
        for (int i = 0; i < count; ++i) {
            const int which = (i * 7 + round) % count;
            requireFilled(objects[which], sizes[which], static_cast<unsigned>(which));
            std::free(objects[which]);
        }
    }
}

/// The malloc of the process, as a heap.
struct ProcessHeap {
    static void* malloc(std::size_t size) { return std::malloc(hide(size)); }
    static void free(void* object) { std::free(object); }
    static std::size_t getSize(void* object) { return malloc_usable_size(object); }
};

void usable() {
    require(malloc_usable_size(nullptr) == 0, "null has a usable size");
    ProcessHeap heap;
    forEachSize([&heap](std::size_t size) {
        if (size > (std::size_t{1} << 20U)) {
            return;
        }
        const char* const fault = wrongSize(heap, size);
        require(fault == nullptr, fault);
    });
}

void large() {
    for (int round = 0; round < 40; ++round) {
        void* objects[8];
        std::size_t size = 100'000;
        for (void*& object : objects) {
            object = std::malloc(size);
            require(object != nullptr, "malloc gave nothing");
            std::memset(object, 7, 16);
            std::memset(static_cast<char*>(object) + size - 16, 7, 16);
            size = size * 2 + 4095;
        }
        for (int i = 0; i < 8; ++i) {
            std::free(objects[(i * 3 + round) % 8]);
        }
    }
}

const Case cases[] = {
    {"alignment", Demand::standard, "objects of every size are aligned for any type of that size",
     alignment},
    {"zero-size", Demand::standard, "requests for nothing give distinct objects that can be freed",
     zeroSize},
    {"content", Demand::standard, "no object's bytes belong to another one", content},
    {"usable-size", Demand::glibc,
     "malloc_usable_size is at least the request, and all of it is the object's own", usable},
    {"large-objects", Demand::standard,
     "objects of megabytes come, keep their bytes, and go, again and again", large},
};

} // namespace
