// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Requests that cannot be served: null, ENOMEM, and no other change.
#include "conformance/suite.hpp"

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <malloc.h>

using namespace conformance;

namespace {

constexpr std::size_t tooMuch[] = {
    std::size_t{PTRDIFF_MAX} + 1,
    SIZE_MAX - 65536,
    SIZE_MAX - 4096,
    SIZE_MAX - 4095,
    SIZE_MAX - 64,
    SIZE_MAX - 16,
    SIZE_MAX - 15,
    SIZE_MAX - 8,
    SIZE_MAX - 1,
    SIZE_MAX,
};

void requireRefused(const void* object, Location where = Location::current()) {
    require(object == nullptr, "memory was given that cannot exist", where);
    require(errno == ENOMEM, "errno is not ENOMEM", where);
    errno = 0;
}

void huge() {
    void* object = std::malloc(100);
    fill(object, 100, 5);
    errno = 0;
    for (const std::size_t size : tooMuch) {
        requireRefused(std::malloc(hide(size)));
        requireRefused(std::calloc(1, hide(size)));
        requireRefused(std::calloc(hide(size), 1));
        requireRefused(std::realloc(hide<void*>(nullptr), hide(size)));
        requireRefused(std::realloc(hide(object), hide(size)));
        requireRefused(reallocarray(hide(object), hide(size), 1));
        requireRefused(std::aligned_alloc(64, hide(size)));
        requireRefused(memalign(4096, hide(size)));
        requireRefused(valloc(hide(size)));
#if defined(__GLIBC__) // its extension
        requireRefused(pvalloc(hide(size)));
#endif
        void* out = object;
        require(posix_memalign(&out, 64, hide(size)) == ENOMEM,
                "posix_memalign did not say ENOMEM");
        require(out == object, "posix_memalign has failed and changed its result");
    }
    requireFilled(object, 100, 5);
    std::free(object);
}

void overflow() {
    constexpr std::size_t half = std::size_t{1} << 32U;
    void* object = std::malloc(100);
    fill(object, 100, 6);
    errno = 0;
    for (const std::size_t extra : {std::size_t{0}, std::size_t{1}, half / 2}) {
        requireRefused(std::calloc(hide(half + extra), half));
        requireRefused(std::calloc(half, hide(half + extra)));
        requireRefused(reallocarray(hide(object), half, hide(half + extra)));
        requireRefused(reallocarray(hide<void*>(nullptr), hide(half + extra), half));
    }
    requireRefused(std::calloc(hide(SIZE_MAX / 16 + 1), 16));
    requireRefused(reallocarray(hide(object), hide(SIZE_MAX), hide(SIZE_MAX)));
    requireFilled(object, 100, 6);
    std::free(object);
}

void alignmentOverflow() {
    errno = 0;
    for (unsigned shift = 40; shift < 64; ++shift) {
        const std::size_t alignment = std::size_t{1} << shift;
        requireRefused(std::aligned_alloc(alignment, hide(SIZE_MAX - alignment / 2)));
        requireRefused(memalign(alignment, hide(std::size_t{PTRDIFF_MAX})));
    }
}

void freeErrno() {
    for (std::size_t size = 1; size < (std::size_t{32} << 20U); size *= 3) {
        void* first = std::malloc(size);
        void* second = std::malloc(size);
        errno = EXDEV;
        std::free(hide(first));
        require(errno == EXDEV, "errno has changed");
        std::free(hide(second));
        require(errno == EXDEV, "errno has changed");
    }
    errno = EXDEV;
    std::free(nullptr);
    require(errno == EXDEV, "errno has changed");
}

const Case cases[] = {
    {"huge-sizes", Demand::standard,
     "more than PTRDIFF_MAX bytes are refused with ENOMEM by every function", huge},
    {"overflow", Demand::standard,
     "count times size beyond SIZE_MAX is refused, not taken modulo 2^64", overflow},
    {"alignment-overflow", Demand::standard,
     "an alignment and a size whose sum overflows are refused", alignmentOverflow},
    {"free-keeps-errno", Demand::standard, "free does not change errno", freeErrno},
};

} // namespace
