// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The account of a heap that several threads use: live objects and bytes, the peak, and a quota
// that may change while the program runs.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/platform/pages.hpp>
#include <heapwright/sync/shared_word.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heapwright::capi {

/// Invariant: `live()` has never exceeded the quota that was valid when the bytes were added.
class Account {
public:
    static constexpr std::size_t unlimited = SIZE_MAX;

    /// Whether there is room for more bytes at the moment.
    [[nodiscard]] bool fits(std::size_t bytes) const noexcept {
        const std::size_t live = live_.load(relaxed);
        const std::size_t quota = quota_.load(relaxed);
        return live <= quota && bytes <= quota - live;
    }

    /// Adds live bytes; false, without an effect, if they do not fit.
    [[nodiscard]] bool add(std::size_t bytes) noexcept {
        std::size_t live = live_.load(relaxed);
        for (;;) {
            const std::size_t quota = quota_.load(relaxed);
            if (live > quota || bytes > quota - live) {
                return false;
            }
            if (live_.compareExchange(live, live + bytes, relaxed, relaxed)) {
                return true;
            }
        }
    }
    /// Call it when the caller gets what was added.
    void updatePeak() noexcept {
        const std::size_t live = live_.load(relaxed);
        std::size_t peak = peak_.load(relaxed);
        while (peak < live && !peak_.compareExchange(peak, live, relaxed, relaxed)) {
        }
    }
    void remove(std::size_t bytes) noexcept { live_.fetchSub(bytes, relaxed); }

    void countAllocation() noexcept { allocations_.fetchAdd(1, relaxed); }
    void countFree() noexcept { frees_.fetchAdd(1, relaxed); }
    void countRefusal() noexcept { refusals_.fetchAdd(1, relaxed); }

    /// All objects end.
    /// Pre: no other thread uses the account.
    void clear() noexcept {
        live_.store(0, relaxed);
        frees_.store(allocations_.load(relaxed), relaxed);
    }

    void setQuota(std::size_t bytes) noexcept { quota_.store(bytes, relaxed); }
    [[nodiscard]] std::size_t quota() const noexcept { return quota_.load(relaxed); }
    [[nodiscard]] std::size_t live() const noexcept { return live_.load(relaxed); }
    [[nodiscard]] std::size_t peak() const noexcept { return peak_.load(relaxed); }
    [[nodiscard]] std::uint64_t refusals() const noexcept { return refusals_.load(relaxed); }
    [[nodiscard]] std::uint64_t allocations() const noexcept { return allocations_.load(relaxed); }
    /// The frees are read first, so that the difference is never negative.
    [[nodiscard]] std::uint64_t objects() const noexcept {
        const std::uint64_t frees = frees_.load(std::memory_order_acquire);
        return allocations() - frees;
    }

private:
    static constexpr auto relaxed = std::memory_order_relaxed;

    SharedWord<std::size_t> live_; ///< usable bytes of the live objects
    SharedWord<std::size_t> quota_{unlimited};
    SharedWord<std::size_t> peak_;
    SharedWord<std::uint64_t> allocations_;
    SharedWord<std::uint64_t> frees_;
    SharedWord<std::uint64_t> refusals_;
};

/// Keeps the account of the heap below. A request that does not fit returns null.
///
/// An object counts with its usable size. It is added after the heap below has returned it, because
/// only then is the size known, and before the caller sees it.
/// Invariant: the live bytes are the sum over the objects that callers have.
template <SizedHeap SuperHeap>
    requires ConcurrentHeap<SuperHeap> && CheckingHeap<SuperHeap> && UnlockedSizeHeap<SuperHeap> &&
             AlignedHeap<SuperHeap> && ZeroingHeap<SuperHeap> && ResizableHeap<SuperHeap> &&
             RelocatingHeap<SuperHeap>
class AccountHeap : public SuperHeap {
public:
    static constexpr bool concurrent = true;
    static constexpr std::string_view caption = "keeps the live bytes within a quota";
    using Below = Heaps<SuperHeap>;

    [[nodiscard]] Account& account() noexcept { return account_; }
    [[nodiscard]] const Account& account() const noexcept { return account_; }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        return account_.fits(size) ? added(SuperHeap::malloc(size)) : nullptr;
    }
    [[nodiscard]] void* zalloc(std::size_t size) noexcept {
        return account_.fits(size) ? added(SuperHeap::zalloc(size)) : nullptr;
    }
    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept {
        return account_.fits(size) ? added(SuperHeap::memalign(align, size)) : nullptr;
    }

    /// The object leaves the account first, because another thread may get its memory at once.
    /// Pre: the object was checked.
    void free(void* object) noexcept {
        account_.countFree();
        account_.remove(SuperHeap::getSizeUnlocked(object));
        SuperHeap::free(object);
    }

    /// An object that has grown beyond the quota shrinks again to its old size.
    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept {
        const std::size_t had = SuperHeap::getSizeUnlocked(object);
        if (size > had && !account_.fits(size - had)) {
            return false;
        }
        if (!SuperHeap::resize(object, size)) {
            return false;
        }
        const std::size_t have = SuperHeap::getSizeUnlocked(object);
        if (have > had && !account_.add(have - had)) {
            static_cast<void>(SuperHeap::resize(object, had)); // to shrink never fails
            return false;
        }
        account_.updatePeak();
        account_.remove(have < had ? had - have : 0);
        return true;
    }

    /// A move by pages must have room for one more page, because its result is only known when it
    /// cannot be taken back.
    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept {
        const std::size_t had = SuperHeap::getSizeUnlocked(object);
        std::size_t most = 0;
        if (__builtin_add_overflow(size, platform::smallestPage, &most)) {
            return nullptr;
        }
        const std::size_t more = most > had ? most - had : 0;
        if (!account_.add(more)) {
            return nullptr;
        }
        void* const moved = SuperHeap::relocate(object, size);
        const std::size_t have = moved == nullptr ? had : SuperHeap::getSizeUnlocked(moved);
        account_.remove(had + more - have);
        account_.updatePeak();
        return moved;
    }

    /// Pre: no other thread uses the heap.
    void clear() noexcept {
        SuperHeap::clear();
        account_.clear();
    }

private:
    [[nodiscard]] void* added(void* object) noexcept {
        if (object == nullptr) {
            return nullptr;
        }
        if (!account_.add(SuperHeap::getSizeUnlocked(object))) {
            SuperHeap::free(object);
            return nullptr;
        }
        account_.updatePeak();
        account_.countAllocation();
        return object;
    }

    Account account_;
};

} // namespace heapwright::capi
