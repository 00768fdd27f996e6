// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The objects that other threads have freed for one owner, until the owner collects them. A sender
// adds a chain with one atomic step, and takes no lock. A collector takes all chains at once.
//
// The queue is closed until its owner opens it, and after the owner has closed it. It refuses a
// chain that would raise the sum of all beyond `Most` bytes. The sender then returns the objects to
// their superblocks itself. So an owner that collects nothing withholds `Most` bytes at most.
//
// One word has the address of the newest object and the sum in granules of 16 bytes. It also has a
// bit that is set while the queue is open. Zero bytes are a closed queue.
//
// A sender releases the links that it wrote, and a collector acquires them. ABA is harmless: a
// sender uses only the head that it compares, and a collector takes the whole chain.
//
// Invariant: an object in the queue counts as used in its superblock.
// Cost: a compare and exchange for each chain, and one to collect.
// Source: the message queues of snmalloc (Lietar and others, 2019), which are not bounded.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/structure/object/object_chain.hpp>
#include <heapwright/sync/shared_word.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwright {

template <std::size_t Most>
class RemoteFrees {
    using Word = std::uint64_t;
    static constexpr unsigned addressShift = 16; ///< an address has 48 bits
    static constexpr Word isOpen = Word{1} << 15U;
    static constexpr Word sumMask = isOpen - 1;
    static constexpr std::size_t granule = 16;
    static_assert(Most / granule <= sumMask);

public:
    static constexpr std::size_t most = Most; ///< in bytes

    constexpr RemoteFrees() noexcept = default;

    /// Accepts chains from now on.
    void open() noexcept {
        Word expected = 0;
        word_.compareExchange(expected, isOpen, std::memory_order_relaxed,
                              std::memory_order_relaxed);
    }

    /// Accepts no more chains. Returns all objects, as a chain.
    [[nodiscard]] ObjectLink* close() noexcept {
        return firstOf(word_.exchange(0, std::memory_order_acquire));
    }

    /// Adds the chain from `first` to `last`, of objects of `bytes` bytes. False if the queue is
    /// closed or has no room. The link of `last` is then undefined.
    [[nodiscard]] bool send(ObjectLink* first, ObjectLink* last, std::size_t bytes) noexcept {
        const Word more = (bytes + granule - 1) / granule;
        Word seen = word_.load(std::memory_order_relaxed);
        do {
            if ((seen & isOpen) == 0 || (seen & sumMask) + more > Most / granule) {
                return false;
            }
            last->next = firstOf(seen);
        } while (!word_.compareExchange(
            seen, addressOf(first) << addressShift | ((seen & (isOpen | sumMask)) + more),
            std::memory_order_release, std::memory_order_relaxed));
        return true;
    }

    /// Removes all objects. Returns them as a chain, the newest first; null if there is none. Any
    /// thread may collect.
    [[nodiscard]] ObjectLink* collect() noexcept {
        Word seen = word_.load(std::memory_order_relaxed);
        do {
            if ((seen & sumMask) == 0) {
                return nullptr;
            }
        } while (!word_.compareExchange(seen, isOpen, std::memory_order_acquire,
                                        std::memory_order_relaxed));
        return firstOf(seen);
    }

    /// The newest object at this moment. Other threads may collect it.
    [[nodiscard]] ObjectLink* peek() const noexcept {
        return firstOf(word_.load(std::memory_order_acquire));
    }
    /// The sum of the objects at this moment, rounded up for each chain.
    [[nodiscard]] std::size_t bytes() const noexcept {
        return (word_.load(std::memory_order_relaxed) & sumMask) * granule;
    }

private:
    [[nodiscard]] static ObjectLink* firstOf(Word word) noexcept {
        return static_cast<ObjectLink*>(pointerTo(word >> addressShift));
    }

    SharedWord<Word> word_;
};

} // namespace heapwright
