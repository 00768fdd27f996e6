// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The system for tests of heaps of extents. It is the real one, with a ledger of the mapped memory.
// It has a call that is refused, and a clock and a delay that the test moves. It is one for the
// process; a test begins it anew.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/structure/extent/purge_policy.hpp>
#include <heapwright/structure/extent/system_extents.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace heapwright::testing {

struct ExtentLedger {
    /// A value of `refuse`: refuse them all.
    static constexpr std::size_t all = ~std::size_t{0};

    std::atomic<std::size_t> discarded{0}; ///< bytes, all in all
    std::atomic<std::size_t> maps{0};      ///< calls
    std::atomic<std::size_t> huge{0};      ///< bytes for which huge pages were requested
    std::atomic<std::size_t> declined{0};  ///< bytes for which ordinary pages were requested
    std::atomic<std::size_t> resident{0};  ///< eighths of any range that have memory
    std::atomic<std::size_t> calls{0};     ///< of any kind
    std::atomic<std::size_t> refuse{0};    ///< the call to refuse, counted from 1; 0: none
    std::atomic<std::size_t> limit{all};   ///< bytes that may be mapped at a time
    std::atomic<std::uint32_t> now{1000};
    std::atomic<std::uint32_t> delay{250};

    static ExtentLedger& the() {
        static ExtentLedger ledger;
        return ledger;
    }
    static void begin(std::size_t refuse = 0) {
        ExtentLedger& ledger = the();
        ledger.pieces_.clear();
        ledger.discarded = 0;
        ledger.maps = 0;
        ledger.huge = 0;
        ledger.declined = 0;
        ledger.resident = 0;
        ledger.calls = 0;
        ledger.refuse = refuse;
        ledger.limit = all;
        ledger.now = 1000;
        ledger.delay = 250;
    }

    bool refuses() { return ++calls == refuse || refuse == all; }

    /// How many bytes are mapped.
    [[nodiscard]] std::size_t mapped() {
        const std::lock_guard hold(mutex_);
        return pieces_.size() * piece;
    }
    /// Of these, what the system has not refused to take back.
    [[nodiscard]] std::size_t lost() {
        const std::lock_guard hold(mutex_);
        std::size_t count = 0;
        for (const auto& [address, stuck] : pieces_) {
            count += stuck ? 0U : 1U;
        }
        return count * piece;
    }

    void enter(const void* pages, std::size_t bytes, bool stuck) {
        const std::lock_guard hold(mutex_);
        for (std::size_t at = 0; at < bytes; at += piece) {
            pieces_[addressOf(pages) + at] = stuck;
        }
    }
    void leave(const void* pages, std::size_t bytes) {
        const std::lock_guard hold(mutex_);
        for (std::size_t at = 0; at < bytes; at += piece) {
            pieces_.erase(addressOf(pages) + at);
        }
    }

private:
    static constexpr std::size_t piece = 1 * MiB; ///< the least that comes or goes

    std::mutex mutex_;
    std::map<Address, bool> pieces_; ///< what is mapped; whether it was refused to be taken back
};

struct LedgerExtents {
    [[nodiscard]] static void* map(Address wish, std::size_t bytes, std::size_t align) noexcept {
        ++ledger().maps;
        const bool beyond = bytes > ledger().limit || ledger().mapped() > ledger().limit - bytes;
        void* const pages =
            ledger().refuses() || beyond ? nullptr : SystemExtents::map(wish, bytes, align);
        ledger().enter(pages, pages == nullptr ? 0 : bytes, false);
        return pages;
    }
    static bool unmap(void* pages, std::size_t bytes) noexcept {
        if (ledger().refuses()) {
            ledger().enter(pages, bytes, true);
            return false;
        }
        ledger().leave(pages, bytes); // before another thread is given it
        return SystemExtents::unmap(pages, bytes);
    }
    static bool discard(void* pages, std::size_t bytes) noexcept {
        if (ledger().refuses() || !SystemExtents::discard(pages, bytes)) {
            return false;
        }
        ledger().discarded += bytes;
        return true;
    }
    [[nodiscard]] static bool extend(void* pages, std::size_t bytes,
                                     std::size_t newBytes) noexcept {
        if (ledger().refuses() || !SystemExtents::extend(pages, bytes, newBytes)) {
            return false;
        }
        ledger().enter(forward(pages, bytes), newBytes - bytes, false);
        return true;
    }
    [[nodiscard]] static bool moveOnto(void* pages, std::size_t bytes, void* target) noexcept {
        if (ledger().refuses()) {
            return false;
        }
        ledger().leave(pages, bytes);
        return SystemExtents::moveOnto(pages, bytes, target);
    }
    [[nodiscard]] static bool moveOutOnto(void* pages, std::size_t bytes, void* target) noexcept {
        return !ledger().refuses() && SystemExtents::moveOutOnto(pages, bytes, target);
    }
    static void wishForHugePages(void* pages, std::size_t bytes) noexcept {
        ledger().huge += bytes;
        SystemExtents::wishForHugePages(pages, bytes);
    }
    static void declineHugePages(void* pages, std::size_t bytes) noexcept {
        ledger().declined += bytes;
        SystemExtents::declineHugePages(pages, bytes);
    }
    [[nodiscard]] static std::size_t residentBytes(void* /*pages*/, std::size_t bytes) noexcept {
        return bytes / 8 * ledger().resident;
    }
    [[nodiscard]] static std::uint32_t milliseconds() noexcept { return ledger().now; }

private:
    static ExtentLedger& ledger() { return ExtentLedger::the(); }
};

/// The delay of the ledger.
struct SetDelay {
    [[nodiscard]] static std::uint32_t returnDelay() noexcept { return ExtentLedger::the().delay; }
    [[nodiscard]] static bool hugePages() noexcept { return false; }
};

} // namespace heapwright::testing
