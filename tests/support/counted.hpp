// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A real source under the ledger. Every verb of the source is there, its allocations and frees are
// written down, and the request that is to be refused is refused. Memory that need not be zero is
// filled, so that no test takes it for zero.
#pragma once

#include <support/counting_heap.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <string_view>

namespace heapwright::testing {

template <Heap SuperHeap>
class Counted : private SuperHeap {
public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr bool tagged = requires { requires SuperHeap::tagged; };
    static constexpr bool contiguous = requires { requires SuperHeap::contiguous; };
    static constexpr bool memoryless = requires { requires SuperHeap::memoryless; };
    static constexpr bool concurrent = requires { requires SuperHeap::concurrent; };
    static constexpr bool acceptsForeignObjects =
        requires { requires SuperHeap::acceptsForeignObjects; };
    static constexpr std::string_view caption = "counts what a source gives out";
    using Below = Heaps<SuperHeap>;

    constexpr Counted() noexcept = default;
    /// A source that can be cleared ends with all that it has given out.
    constexpr ~Counted() {
        if constexpr (ClearableHeap<SuperHeap>) {
            forgetAll();
        }
    }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        return asked(size) ? noted(SuperHeap::malloc(size), size, true) : nullptr;
    }
    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        return asked(size) ? noted(SuperHeap::zalloc(size), size, false) : nullptr;
    }
    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        return asked(size) ? noted(SuperHeap::memalign(align, size), size, true) : nullptr;
    }
    [[nodiscard]] void* mallocAt(std::size_t size, std::size_t align, std::size_t from) noexcept
        requires requires(SuperHeap heap) { heap.mallocAt(size, align, from); }
    {
        return asked(size) ? noted(SuperHeap::mallocAt(size, align, from), size, true) : nullptr;
    }
    void free(void* object) noexcept {
        if (forgotten(object)) {
            SuperHeap::free(object);
        }
    }
    void free(void* object, std::size_t size) noexcept
        requires SizedFreeHeap<SuperHeap>
    {
        if (forgotten(object)) {
            SuperHeap::free(object, size);
        }
    }
    [[nodiscard]] std::size_t getSize(void* object) noexcept
        requires SizedHeap<SuperHeap>
    {
        return SuperHeap::getSize(object);
    }
    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept
        requires ResizableHeap<SuperHeap>
    {
        return asked(size) && SuperHeap::resize(object, size);
    }
    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        void* const moved = asked(size) ? SuperHeap::relocate(object, size) : nullptr;
        if (moved != nullptr) {
            [[maybe_unused]] const bool known = forgotten(object);
            noted(moved, size, false);
        }
        return moved;
    }
    void clear() noexcept
        requires ClearableHeap<SuperHeap>
    {
        SuperHeap::clear();
        forgetAll();
    }
    bool flush() noexcept
        requires FlushableHeap<SuperHeap>
    {
        return SuperHeap::flush();
    }
    bool trim(std::size_t pad) noexcept
        requires TrimmableHeap<SuperHeap>
    {
        return SuperHeap::trim(pad);
    }
    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap>
    {
        SuperHeap::measure(usage);
    }
    [[nodiscard]] bool owns(const void* object) noexcept
        requires OwningHeap<SuperHeap>
    {
        return SuperHeap::owns(object);
    }

private:
    static constexpr std::size_t most = std::size_t{1} << 40U;
    static constexpr std::size_t filled = 128 * KiB;

    static bool asked(std::size_t size) noexcept {
        return !Ledger::the().refuses() && size <= most;
    }
    void* noted(void* object, std::size_t size, bool fill) noexcept {
        if (object != nullptr) {
            Ledger::the().stale.erase(object);
            Ledger::the().foreign.emplace(object, this);
            if (fill) {
                std::memset(object, 0xA5, std::min(size, filled));
            }
        }
        return object;
    }
    void forgetAll() noexcept {
        std::erase_if(Ledger::the().foreign,
                      [this](const auto& entry) { return entry.second == this; });
    }
    /// Whether there was such an object; one of an earlier test is taken back in silence.
    static bool forgotten(void* object) noexcept {
        Ledger& ledger = Ledger::the();
        if (ledger.foreign.erase(object) == 1 || ledger.stale.erase(object) == 1) {
            return true;
        }
        ++ledger.wrongFrees;
        return false;
    }
};

} // namespace heapwright::testing
