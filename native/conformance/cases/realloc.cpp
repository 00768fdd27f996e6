// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// realloc: keeps the bytes, in place or elsewhere, and its two special cases.
#include "conformance/suite.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <malloc.h>

using namespace conformance;

namespace {

void grows() {
    for (const std::size_t neighbour : {0U, 40U, 5000U}) {
        std::size_t size = 1;
        void* object = std::malloc(size);
        void* fence = std::malloc(neighbour);
        fill(object, size, 9);
        while (size < (std::size_t{1} << 20U)) {
            const std::size_t larger = size + size / 4 + 1;
            object = std::realloc(object, larger);
            require(object != nullptr, "realloc gave nothing");
            requireAligned(object, alignmentFor(larger));
            requireFilled(object, size, 9);
            fill(object, larger, 9);
            size = larger;
        }
        while (size > 1) {
            size = size * 2 / 3;
            object = std::realloc(object, size);
            require(object != nullptr, "realloc could not shrink");
            requireFilled(object, size, 9);
        }
        std::free(object);
        std::free(fence);
    }
}

void random() {
    constexpr std::size_t count = 300;
    static void* objects[count];
    static std::size_t sizes[count];
    Random choice(4);
    for (int step = 0; step < 20000; ++step) {
        const std::size_t i = choice.below(count);
        const std::size_t size = 1 + choice.below(std::size_t{1} << choice.below(19));
        objects[i] = std::realloc(objects[i], size);
        require(objects[i] != nullptr, "realloc gave nothing");
        requireFilled(objects[i], std::min({sizes[i], size, std::size_t{512}}),
                      static_cast<unsigned>(i));
        fill(objects[i], std::min(size, std::size_t{512}), static_cast<unsigned>(i));
        sizes[i] = size;
    }
    for (void* object : objects) {
        std::free(object);
    }
}

void null() {
    for (std::size_t size = 1; size < 300'000; size = size * 2 + 1) {
        void* object = std::realloc(hide<void*>(nullptr), size);
        require(object != nullptr, "realloc gave nothing");
        requireAligned(object, alignmentFor(size));
        fill(object, size, 1);
        std::free(object);
        object = reallocarray(hide<void*>(nullptr), size, 3);
        require(object != nullptr, "reallocarray gave nothing");
        fill(object, size * 3, 1);
        std::free(object);
    }
}

void zero() {
    limitAddressSpace(std::size_t{256} << 20U);
    // Without frees, this would reach the limit.
    for (int round = 0; round < 3000; ++round) {
        for (const std::size_t size : {24U, 3000U, 300'000U}) {
            void* object = std::malloc(size);
            require(object != nullptr, "realloc to zero does not free");
            errno = 0;
            require(std::realloc(hide(object), hide(std::size_t{0})) == nullptr,
                    "realloc to zero gave an object");
            require(errno == 0, "realloc to zero has set errno");
        }
    }
}

void array() {
    void* object = std::malloc(30);
    fill(object, 30, 8);
    object = reallocarray(object, 1000, 7);
    require(object != nullptr, "reallocarray gave nothing");
    requireFilled(object, 30, 8);
    fill(object, 7000, 8);
    object = reallocarray(object, 3, 5);
    requireFilled(object, 15, 8);
    std::free(object);
}

void moved() {
    std::size_t size = std::size_t{1} << 20U;
    void* object = std::malloc(size);
    fill(object, size, 4);
    for (const std::size_t next :
         {std::size_t{3} << 20U, std::size_t{2} << 20U, std::size_t{9} << 20U, std::size_t{200'000},
          std::size_t{4000}, std::size_t{6} << 20U}) {
        object = std::realloc(object, next);
        require(object != nullptr, "realloc gave nothing");
        requireFilled(object, std::min(size, next), 4);
        fill(object, next, 4);
        size = next;
    }
    std::free(object);
}

const Case cases[] = {
    {"realloc-content", Demand::standard,
     "growing and shrinking keep the bytes that both sizes have", grows},
    {"realloc-random", Demand::standard,
     "a random history of realloc among many objects keeps all bytes", random},
    {"realloc-null", Demand::standard, "realloc of null is malloc", null},
    {"realloc-zero", Demand::glibc, "realloc to zero bytes frees, and gives null without an error",
     zero},
    {"reallocarray", Demand::glibc, "reallocarray keeps the bytes", array},
    {"realloc-large", Demand::standard, "large objects grow and shrink with all their bytes",
     moved},
};

} // namespace
