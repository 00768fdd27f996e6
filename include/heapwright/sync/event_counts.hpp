// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts how threads disturb each other: the data that one processor would have to fetch from
// another. The counts come from the operations themselves, so they do not depend on the number of
// processors.
//
// Two open-addressing tables hold the last writer of each shared word and the writer of each cache
// line. They have a fixed size and are zero-initialised, so that counting works before any
// constructor. No operation here waits. A word or line without a place in its table is counted as
// `unknown`.
// Cost: for each event, an atomic addition to a counter that few threads share, and a table lookup.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/platform/thread.hpp>
#include <heapwright/sync/events.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwright {

/// The counts. Reads of shared words are not counted, because they do not transfer data by
/// themselves.
struct EventTotals {
    std::uint64_t lockTakes = 0;        ///< locks taken, with or without waiting
    std::uint64_t lockWaits = 0;        ///< locks that were not free
    std::uint64_t atomicOperations = 0; ///< atomic read-modify-writes, those of locks included
    std::uint64_t handOvers = 0;        ///< writes to a word that another thread wrote last
    std::uint64_t writtenLines = 0;     ///< cache lines written
    std::uint64_t sharedLines = 0;      ///< cache lines written by more than one thread
    /// Writes to shared lines, including those before they were shared.
    std::uint64_t writesToSharedLines = 0;
    std::uint64_t unknown = 0;       ///< words and lines without a place in the tables
    std::uint64_t lockHandOvers = 0; ///< the hand-overs of locks
};

namespace detail {

/// The last writer of a word or line, and the number of its writes. The fields are plain words, so
/// that a table of them is zero without constructors. They are accessed atomically.
struct Writer {
    std::uint32_t threadWord;
    std::uint32_t writesWord;

    [[nodiscard]] std::atomic_ref<std::uint32_t> thread() noexcept {
        return std::atomic_ref(threadWord);
    }
    [[nodiscard]] std::atomic_ref<std::uint32_t> writes() noexcept {
        return std::atomic_ref(writesWord);
    }
};

/// A hash table from keys to writers.
template <std::size_t Places>
class WriterOf {
    static_assert(Places % 2 == 0);

public:
    /// The entry of a key; null if the table has no place near it.
    /// Pre: the key is not 0.
    [[nodiscard]] Writer* find(std::uint64_t key) noexcept {
        constexpr std::size_t most = 32;
        const std::uint64_t start = (key * 0x9E37'79B9'7F4A'7C15U) >> 20U;
        for (std::size_t i = 0; i < most; ++i) {
            Entry& entry = entries_[(start + i) % Places];
            const std::atomic_ref<std::uint64_t> taken(entry.key);
            std::uint64_t there = taken.load(std::memory_order_relaxed);
            if (there == key || (there == 0 && (taken.compare_exchange_strong(
                                                    there, key, std::memory_order_relaxed) ||
                                                there == key))) {
                return &entry.writer;
            }
        }
        return nullptr;
    }

private:
    struct Entry {
        std::uint64_t key;
        Writer writer;
    };
    std::array<Entry, Places> entries_{};
};

} // namespace detail

class EventCounts {
public:
    constexpr EventCounts() noexcept = default;

    void add(Event event, const volatile void* address) noexcept {
        Share& share = shares_[platform::threadNumber() % shares];
        switch (event) {
        case Event::lockTaken:
            count(share.lockTakes);
            wrote(share, address, &share.lockHandOvers);
            break;
        case Event::lockWaiting:
            count(share.lockWaits);
            break;
        case Event::lockAtomic:
            count(share.atomicOperations);
            break;
        case Event::readModifyWrite:
            count(share.atomicOperations);
            wrote(share, address);
            break;
        case Event::store:
        case Event::written:
            wrote(share, address);
            break;
        case Event::load:
        case Event::lockTrying:
        case Event::lockTaking:
        case Event::lockFreeing:
            break;
        }
    }

    [[nodiscard]] EventTotals totals() const noexcept {
        EventTotals sum;
        for (const Share& share : shares_) {
            sum.lockTakes += share.lockTakes.load(std::memory_order_relaxed);
            sum.lockWaits += share.lockWaits.load(std::memory_order_relaxed);
            sum.atomicOperations += share.atomicOperations.load(std::memory_order_relaxed);
            sum.handOvers += share.handOvers.load(std::memory_order_relaxed);
            sum.writtenLines += share.writtenLines.load(std::memory_order_relaxed);
            sum.sharedLines += share.sharedLines.load(std::memory_order_relaxed);
            sum.writesToSharedLines += share.writesToSharedLines.load(std::memory_order_relaxed);
            sum.unknown += share.unknown.load(std::memory_order_relaxed);
            sum.lockHandOvers += share.lockHandOvers.load(std::memory_order_relaxed);
        }
        return sum;
    }

private:
    using Counter = std::atomic<std::uint64_t>;

    static constexpr std::size_t cacheLine = 64;
    static constexpr std::size_t shares = 64;
    /// The writer of a line that several threads have written.
    static constexpr std::uint32_t several = 0xFFFFFFFFU;

    struct alignas(cacheLine) Share {
        Counter lockTakes{0};
        Counter lockWaits{0};
        Counter atomicOperations{0};
        Counter handOvers{0};
        Counter writtenLines{0};
        Counter sharedLines{0};
        Counter writesToSharedLines{0};
        Counter unknown{0};
        Counter lockHandOvers{0};
    };

    static void count(Counter& counter, std::uint64_t times = 1) noexcept {
        counter.fetch_add(times, std::memory_order_relaxed);
    }

    /// `handOvers` is a second counter for hand-overs, if there is one.
    void wrote(Share& share, const volatile void* address, Counter* handOvers = nullptr) noexcept {
        const std::uint32_t me = platform::threadNumber() + 1;
        const auto where = reinterpret_cast<Address>(address);
        if (detail::Writer* const last = words_.find(where); last == nullptr) {
            count(share.unknown);
        } else if (last->thread().load(std::memory_order_relaxed) != me) {
            if (last->thread().exchange(me, std::memory_order_relaxed) != 0) {
                count(share.handOvers);
                if (handOvers != nullptr) {
                    count(*handOvers);
                }
            }
        }
        if (detail::Writer* const writer = lines_.find(where / cacheLine); writer == nullptr) {
            count(share.unknown);
        } else {
            wroteLine(share, *writer, me);
        }
    }

    /// The writes of a line's only writer are counted with the line, in case it is shared later.
    static void wroteLine(Share& share, detail::Writer& line, std::uint32_t me) noexcept {
        std::uint32_t before = line.thread().load(std::memory_order_relaxed);
        while (before != me && before != several) {
            const std::uint32_t now = before == 0 ? me : several;
            if (line.thread().compare_exchange_weak(before, now, std::memory_order_relaxed)) {
                count(now == several ? share.sharedLines : share.writtenLines);
                before = now;
            }
        }
        if (before == me) {
            line.writes().fetch_add(1, std::memory_order_relaxed);
        } else {
            const bool none = line.writes().load(std::memory_order_relaxed) == 0;
            const std::uint32_t alone =
                none ? 0 : line.writes().exchange(0, std::memory_order_relaxed);
            count(share.writesToSharedLines, alone + std::uint64_t{1});
        }
    }

    std::array<Share, shares> shares_{};
    detail::WriterOf<1U << 17U> words_;
    detail::WriterOf<1U << 17U> lines_;
};

} // namespace heapwright
