// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The aligned functions, each with its own definition of an invalid alignment.
#include "conformance/suite.hpp"

#include <cerrno>
#include <cstdlib>
#include <malloc.h>
#include <unistd.h>

using namespace conformance;

namespace {

constexpr std::size_t sizes[] = {0, 1, 7, 8, 15, 16, 24, 100, 1000, 4000, 5000, 70'000, 200'000};

std::size_t page() {
    return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

void* byPosix(std::size_t alignment, std::size_t size) {
    void* object = nullptr;
    require(posix_memalign(&object, alignment, size) == 0, "posix_memalign failed");
    return object;
}

void tryObject(void* object, std::size_t alignment, std::size_t size) {
    require(object != nullptr, "an aligned function gave nothing");
    requireAligned(object, alignment);
    require(malloc_usable_size(object) >= size, "the usable size is below the request");
    fill(object, size, 3);
}

void alignments() {
    for (std::size_t alignment = sizeof(void*); alignment <= (std::size_t{4} << 20U);
         alignment *= 2) {
        for (const std::size_t size : sizes) {
            void* objects[3] = {byPosix(alignment, size), std::aligned_alloc(alignment, hide(size)),
                                memalign(alignment, hide(size))};
            for (void* object : objects) {
                tryObject(object, alignment, size);
            }
            for (void* object : objects) {
                requireFilled(object, size, 3);
                std::free(object);
            }
        }
    }
}

void hugeAlignment() {
    for (std::size_t alignment = std::size_t{8} << 20U; alignment <= (std::size_t{1} << 30U);
         alignment *= 4) {
        tryObject(byPosix(alignment, 100), alignment, 100);
        void* object = memalign(alignment, 300'000);
        tryObject(object, alignment, 300'000);
        std::free(object);
    }
}

void posix() {
    int marker = 0;
    void* out = &marker;
    for (const std::size_t bad : {0U, 1U, 2U, 4U, 7U, 12U, 24U, 48U, 100U, 4097U}) {
        require(posix_memalign(&out, hide(bad), 32) == EINVAL, "not EINVAL");
        require(out == &marker, "the result was changed");
    }
    require(posix_memalign(&out, 64, hide(SIZE_MAX - 100)) == ENOMEM, "not ENOMEM");
    require(out == &marker, "the result was changed");
}

void posixErrno() {
    void* out = nullptr;
    errno = EXDEV;
    require(posix_memalign(&out, hide(std::size_t{24}), 32) == EINVAL, "not EINVAL");
    require(errno == EXDEV, "errno was changed");
    require(posix_memalign(&out, 64, 1 << 20) == 0, "posix_memalign failed");
    require(errno == EXDEV, "errno was changed");
    std::free(out);
    require(posix_memalign(&out, 64, hide(SIZE_MAX - 100)) == ENOMEM, "not ENOMEM");
    require(errno == ENOMEM, "errno is not ENOMEM");
}

void alignedErrors() {
    for (const std::size_t bad : {0U, 3U, 6U, 24U, 48U, 4097U}) {
        errno = 0;
        require(std::aligned_alloc(hide(bad), 64) == nullptr, "not null");
        require(errno == EINVAL, "errno is not EINVAL");
    }
}

void rounding() {
    for (const std::size_t odd : {0U, 1U, 3U, 17U, 24U, 100U, 1000U, 4097U}) {
        void* object = memalign(hide(odd), 50);
        require(object != nullptr, "memalign gave nothing");
        std::size_t alignment = 16;
        while (alignment < odd) {
            alignment *= 2;
        }
        tryObject(object, alignment, 50);
        std::free(object);
    }
    errno = 0;
    require(memalign(hide(SIZE_MAX / 2 + 2), 8) == nullptr, "not null");
    require(errno == EINVAL, "errno is not EINVAL");
}

#if defined(__GLIBC__) // pvalloc is its extension
void pages() {
    for (const std::size_t size : sizes) {
        void* object = valloc(hide(size));
        tryObject(object, page(), size);
        void* whole = pvalloc(hide(size));
        tryObject(whole, page(), (size + page() - 1) / page() * page());
        std::free(object);
        std::free(whole);
    }
}
#endif

void resized() {
    for (std::size_t alignment = 32; alignment <= 65536; alignment *= 2) {
        void* object = std::aligned_alloc(alignment, 1000);
        fill(object, 1000, 2);
        object = std::realloc(object, 300'000);
        requireFilled(object, 1000, 2);
        object = std::realloc(object, 10);
        requireFilled(object, 10, 2);
        void* other = memalign(alignment, 10);
        fill(other, 10, 1);
        other = std::realloc(other, 20);
        requireFilled(other, 10, 1);
        std::free(object);
        std::free(other);
    }
}

void manyAligned() {
    static void* objects[400];
    Random random(8);
    for (int round = 0; round < 30; ++round) {
        for (void*& object : objects) {
            const std::size_t size = random.below(2000);
            const std::size_t alignment = std::size_t{8} << random.below(10);
            object = random.below(3) == 0 ? std::malloc(size) : byPosix(alignment, size);
            fill(object, size, 7);
        }
        for (int i = 0; i < 400; ++i) {
            std::free(objects[(i * 7 + round) % 400]);
        }
    }
}

const Case cases[] = {
    {"posix_memalign-errors", Demand::standard,
     "posix_memalign refuses by its value, and leaves its result as it was", posix},
    {"posix_memalign-errno", Demand::glibc,
     "posix_memalign sets errno to ENOMEM without memory, and else keeps it", posixErrno},
    {"aligned", Demand::standard,
     "every alignment up to 4 MiB, from each function, with every kind of size", alignments},
    {"aligned-huge", Demand::standard, "alignments of up to a gigabyte", hugeAlignment},
    {"aligned_alloc-errors", Demand::standard,
     "aligned_alloc gives null and EINVAL for what is no power of two", alignedErrors},
    {"memalign-rounds", Demand::glibc, "memalign rounds an alignment up to a power of two",
     rounding},
#if defined(__GLIBC__)
    {"valloc", Demand::glibc, "valloc and pvalloc give pages, pvalloc whole ones", pages},
#endif
    {"aligned-realloc", Demand::standard, "aligned objects can be resized like any other", resized},
    {"aligned-reuse", Demand::standard,
     "freeing aligned objects in any order leaves a heap that works", manyAligned},
};

} // namespace
