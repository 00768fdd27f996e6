// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See live_bitmap.hpp.
#include "live_bitmap.hpp"

#include "fatal_error.hpp"

#include <sys/mman.h>

namespace heapwright::replayer {

namespace {

/// Pages that are committed at their first access. Most of the bitmap is never accessed.
void* mapSparse(std::size_t bytes) {
    void* const pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) {
        fatalError(Status::noMemory, "no memory for the bitmap of the check (%zu bytes)", bytes);
    }
    return pages;
}

} // namespace

LiveBitmap::LiveBitmap()
    : leaves_(
          static_cast<std::atomic<Word*>*>(mapSparse(sizeof(Word*) << (addressBits - leafBits)))) {}

LiveBitmap::Word& LiveBitmap::wordOf(std::uint64_t grain) {
    std::atomic<Word*>& entry = leaves_[(grain >> (leafBits - grainBits)) &
                                        ((std::uint64_t{1} << (addressBits - leafBits)) - 1)];
    Word* leaf = entry.load(std::memory_order_acquire);
    if (leaf == nullptr) {
        constexpr std::size_t bytes = leafWords * sizeof(Word);
        auto* const fresh = static_cast<Word*>(mapSparse(bytes));
        if (entry.compare_exchange_strong(leaf, fresh, std::memory_order_acq_rel)) {
            leaf = fresh;
        } else {
            ::munmap(fresh, bytes);
        }
    }
    return leaf[(grain >> 6U) & (leafWords - 1)];
}

template <class Change>
void LiveBitmap::eachWord(const void* object, std::size_t size, Change change) {
    const std::uint64_t address = reinterpret_cast<std::uintptr_t>(object);
    std::uint64_t grain = address >> grainBits;
    const std::uint64_t last = (address + (size == 0 ? 1 : size) - 1) >> grainBits;
    while (grain <= last) {
        const std::uint64_t from = grain & 63U;
        const std::uint64_t end = (grain | 63U) < last ? 63U : last & 63U;
        const std::uint64_t mask = (~std::uint64_t{0} << from) & (~std::uint64_t{0} >> (63U - end));
        change(wordOf(grain), mask);
        grain = (grain | 63U) + 1;
    }
}

bool LiveBitmap::mark(const void* object, std::size_t size) {
    bool clean = true;
    eachWord(object, size, [&clean](Word& word, std::uint64_t mask) {
        clean = (word.fetch_or(mask, std::memory_order_relaxed) & mask) == 0 && clean;
    });
    return clean;
}

void LiveBitmap::unmark(const void* object, std::size_t size) {
    eachWord(object, size, [](Word& word, std::uint64_t mask) {
        word.fetch_and(~mask, std::memory_order_relaxed);
    });
}

} // namespace heapwright::replayer
