// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See live_bitmap.hpp. A piece covers 1 GiB of addresses with 16 MiB of bits. Only the used part is
// resident. 2^17 pieces cover the 47 bits of user space.
#include "live_bitmap.hpp"

#include "fatal_error.hpp"

#include <atomic>
#include <sys/mman.h>

namespace heapwright::workloads {

namespace {

using Word = std::atomic<std::uint64_t>;
constexpr unsigned pieceBits = 30;
constexpr std::size_t pieceCount = std::size_t{1} << (47U - pieceBits);
constexpr std::size_t pieceBytes = (std::size_t{1} << pieceBits) / LiveBitmap::granule / 8;

std::atomic<Word*> pieces[pieceCount];

Word* pieceOf(std::size_t number) {
    std::atomic<Word*>& place = pieces[number % pieceCount];
    Word* piece = place.load(std::memory_order_acquire);
    if (piece != nullptr) {
        return piece;
    }
    void* const pages = mmap(nullptr, pieceBytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) {
        noMemory("the program's own map of live memory", pieceBytes);
    }
    if (!place.compare_exchange_strong(piece, static_cast<Word*>(pages))) {
        munmap(pages, pieceBytes);
        return piece;
    }
    return static_cast<Word*>(pages);
}

/// Changes the bits of an object word by word; `change` answers whether the bits were as they
/// should.
template <class Change>
bool eachWord(std::uintptr_t address, std::size_t size, Change change) {
    bool good = true;
    std::size_t bit = address / LiveBitmap::granule;
    const std::size_t end = (address + (size == 0 ? 1 : size) - 1) / LiveBitmap::granule + 1;
    while (bit < end) {
        const std::size_t low = bit % 64;
        const std::size_t many = end - bit < 64 - low ? end - bit : 64 - low;
        const std::uint64_t mask = (many == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << many) - 1)
                                   << low;
        constexpr std::size_t perPiece = pieceBytes * 8;
        good &= change(pieceOf(bit / perPiece)[bit % perPiece / 64], mask);
        bit += many;
    }
    return good;
}

} // namespace

bool LiveBitmap::mark(std::uintptr_t address, std::size_t size) {
    return eachWord(address, size, [](Word& word, std::uint64_t mask) {
        return (word.fetch_or(mask, std::memory_order_relaxed) & mask) == 0;
    });
}

bool LiveBitmap::clear(std::uintptr_t address, std::size_t size) {
    return eachWord(address, size, [](Word& word, std::uint64_t mask) {
        return (word.fetch_and(~mask, std::memory_order_relaxed) & mask) == mask;
    });
}

} // namespace heapwright::workloads
