// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Functions that report on the heap: the results have the right form and agree with each other.
#include "conformance/suite.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <malloc.h>
#include <unistd.h>

using namespace conformance;

namespace {

template <class Function>
Function* find(const char* name) {
    auto* function = reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
    require(function != nullptr, name);
    return function;
}

#if defined(__GLIBC__) // the functions and the figures are its own

void figures() {
    constexpr std::size_t much = std::size_t{24} << 20U;
    const struct mallinfo2 before = mallinfo2();
    void* object = std::malloc(much);
    require(object != nullptr, "malloc gave nothing");
    const struct mallinfo2 with = mallinfo2();
    require(with.arena + with.hblkhd >= before.arena + before.hblkhd + much,
            "a large object is not in the figures");
    require(with.uordblks + with.hblkhd >= much, "it is not in use");
    require(with.uordblks + with.fordblks == with.arena, "used and free are not the whole");
    std::free(object);
    const struct mallinfo2 after = mallinfo2();
    require(after.uordblks + after.hblkhd < with.uordblks + with.hblkhd,
            "freeing is not in the figures");
    const struct mallinfo old = find<struct mallinfo()>("mallinfo")();
    require(old.arena >= 0 && old.uordblks >= 0 && old.hblkhd >= 0,
            "mallinfo has negative figures");
}

void xml() {
    char* text = nullptr;
    std::size_t length = 0;
    std::FILE* stream = open_memstream(&text, &length);
    require(stream != nullptr, "open_memstream");
    require(malloc_info(0, stream) == 0, "malloc_info failed");
    std::fclose(stream);
    require(std::strncmp(text, "<malloc version=\"1\">", 20) == 0, "not the element's start");
    require(std::strstr(text, "</malloc>") != nullptr, "not the element's end");
    require(std::strstr(text, "<total type=\"mmap\"") != nullptr, "no totals");
    require(std::strstr(text, "<system type=\"current\"") != nullptr, "no size");
    std::free(text);
    require(malloc_info(1, stdout) == EINVAL, "unknown options must be refused");
}

void statistics() {
    char path[] = "/tmp/heapwright-conformance-XXXXXX";
    const int file = ::mkstemp(path);
    require(file >= 0, "mkstemp");
    ::unlink(path);
    require(::dup2(file, STDERR_FILENO) >= 0, "dup2");
    malloc_stats();
    std::fflush(stderr);
    char text[512] = {};
    require(::pread(file, text, sizeof text - 1, 0) > 0, "nothing was written");
    require(std::strstr(text, "system bytes") != nullptr &&
                std::strstr(text, "in use bytes") != nullptr,
            "the figures are missing");
}

void trim() {
    static void* objects[4000];
    for (int round = 0; round < 3; ++round) {
        for (void*& object : objects) {
            object = std::malloc(3000);
            std::memset(object, 1, 3000);
        }
        for (int i = 0; i < 4000; i += 1 + round) {
            std::free(objects[i]);
            objects[i] = nullptr;
        }
        const int answer = malloc_trim(round == 1 ? 100'000 : 0);
        require(answer == 0 || answer == 1, "malloc_trim is neither 0 nor 1");
        for (void* object : objects) {
            std::free(object);
        }
    }
    require(malloc_trim(0) >= 0, "malloc_trim");
    void* object = std::calloc(1, 3000);
    requireZero(object, 3000);
    std::free(object);
}

void options() {
    require(mallopt(M_MMAP_THRESHOLD, 256 * 1024) == 1, "M_MMAP_THRESHOLD");
    require(mallopt(M_TRIM_THRESHOLD, 512 * 1024) == 1, "M_TRIM_THRESHOLD");
    require(mallopt(M_TOP_PAD, 64 * 1024) == 1, "M_TOP_PAD");
    require(mallopt(M_MMAP_MAX, 1000) == 1, "M_MMAP_MAX");
    require(mallopt(M_ARENA_MAX, 2) == 1, "M_ARENA_MAX");
    void* object = std::malloc(1'000'000);
    fill(object, 1'000'000, 1);
    std::free(object);
}

#endif

void aliases() {
    auto* libcFree = find<void(void*)>("__libc_free");
    void* object = find<void*(std::size_t)>("__libc_malloc")(100);
    object = find<void*(void*, std::size_t)>("__libc_realloc")(object, 5000);
    std::free(object);
    object = find<void*(std::size_t, std::size_t)>("__libc_calloc")(10, 10);
    requireZero(object, 100);
    std::free(std::realloc(object, 700));
    libcFree(std::malloc(200));
    object = find<void*(std::size_t, std::size_t)>("__libc_memalign")(256, 100);
    requireAligned(object, 256);
    std::free(object);
    for (const char* name : {"__libc_valloc", "__libc_pvalloc"}) {
        object = find<void*(std::size_t)>(name)(100);
        requireAligned(object, 4096);
        std::free(object);
    }
    if (::dlsym(RTLD_DEFAULT, "__posix_memalign") != nullptr) {
        auto* align = find<int(void**, std::size_t, std::size_t)>("__posix_memalign");
        require(align(&object, 128, 10) == 0, "__posix_memalign");
        std::free(object);
    }
}

void sized() {
    using Sized = void(void*, std::size_t);
    using AlignedSized = void(void*, std::size_t, std::size_t);
    auto* freeSized = find<Sized>("free_sized");
    auto* freeAlignedSized = find<AlignedSized>("free_aligned_sized");
    freeSized(nullptr, 10);
    freeAlignedSized(nullptr, 64, 10);
    freeAlignedSized(nullptr, 0, 0); // a null object is allowed with any values
    for (std::size_t size = 0; size < 400'000; size = size * 2 + 3) {
        errno = EXDEV;
        freeSized(std::malloc(size), size);
        freeSized(std::calloc(1, size), size);
        freeSized(std::realloc(std::malloc(1), size + 1), size + 1);
        freeAlignedSized(std::aligned_alloc(256, size), 256, size);
        require(errno == EXDEV, "errno has changed");
    }
}

const Case cases[] = {
#if defined(__GLIBC__)
    {"malloc_info", Demand::glibc, "malloc_info writes one XML element, and checks options", xml},
    {"mallinfo", Demand::glibc, "mallinfo2 and mallinfo add up, and see large memory come and go",
     figures},
    {"malloc_stats", Demand::glibc, "malloc_stats writes to standard error", statistics},
    {"malloc_trim", Demand::glibc, "malloc_trim answers, and the heap works afterwards", trim},
    {"mallopt", Demand::glibc, "mallopt takes the C library's parameters", options},
#endif
    {"libc-aliases", Demand::robust, "objects of __libc_malloc and its family are the same heap's",
     aliases},
    {"sized-frees", Demand::standard,
     "free_sized and free_aligned_sized take objects with the sizes they were given", sized},
};

} // namespace
