// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A bitmap of the memory of live objects. It has one bit for each 8 bytes of the address space, in
// leaves that are mapped at their first use. Any number of threads may mark at the same time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwright::replayer {

class LiveBitmap {
public:
    LiveBitmap();

    /// Marks an object live. False if a part of it was already marked.
    bool mark(const void* object, std::size_t size);
    void unmark(const void* object, std::size_t size);

private:
    using Word = std::atomic<std::uint64_t>;

    static constexpr unsigned grainBits = 3;
    static constexpr unsigned leafBits = 26; ///< a leaf covers 64 MiB
    static constexpr unsigned addressBits = 48;
    static constexpr std::size_t leafWords = std::size_t{1} << (leafBits - grainBits - 6);

    Word& wordOf(std::uint64_t grain);

    /// Calls `change(word, mask)` for all words that an object has bits in.
    template <class Change>
    void eachWord(const void* object, std::size_t size, Change change);

    std::atomic<Word*>* leaves_;
};

} // namespace heapwright::replayer
