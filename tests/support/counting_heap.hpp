// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A source for tests. It returns memory of the system's malloc, keeps a ledger of it, and refuses a
// chosen request. Layers inherit their superheap privately, so the ledger is one for the process; a
// test begins it anew.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

namespace heapwright::testing {

/// The memory that the counting heaps have given out and that is not returned, and the number of
/// their requests.
struct Ledger {
    std::map<void*, std::size_t> live;
    std::map<void*, const void*> foreign; ///< what `Counted` sources have given out, and which
    std::map<void*, const void*> stale;   ///< that of earlier tests
    std::size_t requests = 0;
    std::size_t refuse = 0;     ///< the request to refuse, counted from 1; 0: none
    std::size_t wrongFrees = 0; ///< of what was not live

    /// A value of `refuse`: refuse them all.
    static constexpr std::size_t all = ~std::size_t{0};

    Ledger() = default;
    Ledger(const Ledger&) = delete;
    Ledger& operator=(const Ledger&) = delete;
    /// Memory that heaps have left to later heaps, as an acceptsForeignObjects one may, stays known
    /// to a leak checker at the end. The tests decide whether the heaps may do so.
    ~Ledger() {
        release();
        stale.merge(foreign);
        left = new std::map<void*, const void*>(std::move(stale));
    }

    static Ledger& the() {
        static Ledger ledger;
        return ledger;
    }
    /// Counts a request; whether it is one to refuse.
    bool refuses() {
        ++requests;
        return refuse == all || requests == refuse;
    }
    /// How many blocks have not come back.
    [[nodiscard]] std::size_t outstanding() const { return live.size() + foreign.size(); }
    /// Forgets what came before; what earlier tests left behind is freed.
    static void begin(std::size_t refuse = 0) {
        the().release();
        the().stale.merge(the().foreign);
        the().foreign.clear();
        the().requests = 0;
        the().refuse = refuse;
        the().wrongFrees = 0;
    }

private:
    static inline const std::map<void*, const void*>* left = nullptr;

    void release() {
        for (const auto& [block, size] : live) {
            std::free(pointerTo(roundDown(addressOf(block), minAlignment)));
        }
        live.clear();
    }
};

/// Blocks at `Phase` modulo 16. Its memory is filled with a pattern, so that no test takes it for
/// zero. It is filled again when it is returned.
template <std::size_t Phase = 0>
class CountingHeapAt {
public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr std::size_t alignmentOffset = Phase;
    static constexpr std::string_view caption = "counts";
    using Below = Heaps<>;

    constexpr CountingHeapAt() noexcept = default;
    CountingHeapAt(const CountingHeapAt&) = delete;
    CountingHeapAt& operator=(const CountingHeapAt&) = delete;
    ~CountingHeapAt() = default;

    [[nodiscard]] void* malloc(std::size_t size) noexcept { return take(size, 0xA5); }

    void free(void* block) noexcept {
        Ledger& ledger = Ledger::the();
        const auto entry = ledger.live.find(block);
        if (entry == ledger.live.end()) {
            ++ledger.wrongFrees;
            return;
        }
        std::memset(block, 0x5A, entry->second);
        ledger.live.erase(entry);
        std::free(backward(block, Phase));
    }

    [[nodiscard]] std::size_t getSize(void* block) noexcept { return Ledger::the().live.at(block); }

    void measure(MemoryUsage& usage) const noexcept {
        for (const auto& [block, size] : Ledger::the().live) {
            usage.mapped += size;
        }
    }

protected:
    static void* take(std::size_t size, int fill) noexcept {
        Ledger& ledger = Ledger::the();
        if (ledger.refuses() || size > (std::size_t{1} << 40U)) {
            return nullptr;
        }
        void* const memory = std::aligned_alloc(minAlignment, roundUp(size + Phase, minAlignment));
        if (memory == nullptr) {
            return nullptr;
        }
        void* const block = forward(memory, Phase);
        std::memset(block, fill, size);
        ledger.live.emplace(block, size);
        return block;
    }
};

using CountingHeap = CountingHeapAt<0>;

/// The same with `zalloc`.
class ZeroingCountingHeap : public CountingHeapAt<0> {
public:
    [[nodiscard]] void* zalloc(std::size_t size) noexcept { return take(size, 0); }
};

/// A contiguous source: one run that can be made longer and shorter at its end, inside a block.
class ContiguousCountingHeap : public CountingHeapAt<0> {
    static constexpr std::size_t runRoom = 16 * MiB;

public:
    static constexpr bool contiguous = true;

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        if (size > runRoom) {
            return nullptr;
        }
        void* const run = take(runRoom, 0xA5);
        if (run != nullptr) {
            sizes()[run] = size;
        }
        return run;
    }
    void free(void* run) noexcept {
        sizes().erase(run);
        CountingHeapAt::free(run);
    }
    [[nodiscard]] std::size_t getSize(void* run) noexcept { return sizes().at(run); }
    [[nodiscard]] bool resize(void* run, std::size_t size) noexcept {
        Ledger& ledger = Ledger::the();
        if (ledger.refuses() || size > runRoom) {
            return false;
        }
        sizes().at(run) = size;
        return true;
    }

private:
    static std::map<void*, std::size_t>& sizes() {
        static std::map<void*, std::size_t> sizes;
        return sizes;
    }
};

static_assert(SizedHeap<CountingHeap> && ZeroingHeap<ZeroingCountingHeap>);
static_assert(ResizableHeap<ContiguousCountingHeap>);

} // namespace heapwright::testing
