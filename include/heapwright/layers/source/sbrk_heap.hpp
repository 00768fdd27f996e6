// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Contiguous memory from the end of the data segment. A run starts where the break is, and can be
// made longer and shorter there (`resize`) as long as nobody else has moved the break; then the
// next request starts a new run. Where the system moves the break no further, pages are mapped
// instead.
//
// Layout: as in `MmapHeap`, 16 bytes before the memory, the last 8 a tag; its `direct` flag tells
// mapped runs from the others. Runs end at page boundaries. An older run that is freed, of which
// the break cannot be lowered, gives its pages back but not its addresses.
//
// Example: SbrkHeap
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>
#include <heapwright/platform/pages.hpp>
#include <heapwright/structure/object/tag.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

namespace heapwright {

class SbrkHeap {
public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool tagged = true;
    static constexpr Tags writes = Tags::someDirect;
    /// `resize` can be expected to lengthen the newest run, and does so with zero bytes.
    static constexpr bool contiguous = true;
    static constexpr std::string_view caption =
        "moves the program break; maps pages where it sticks";
    using Below = Heaps<>;

    constexpr SbrkHeap() noexcept = default;
    SbrkHeap(const SbrkHeap&) = delete;
    SbrkHeap& operator=(const SbrkHeap&) = delete;
    ~SbrkHeap() = default;

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        if (size > largest) {
            return nullptr;
        }
        const std::size_t page = platform::pageSize();
        const Address before = platform::currentBreak();
        const Address start = roundUp(before, minAlignment);
        const Address end = roundUp(start + overhead + size, page);
        if (!move(before, end - before)) {
            return instead_.malloc(size < leastMapping ? leastMapping : size);
        }
        mapped_ += end - start;
        return place(start, end);
    }

    /// Fresh pages are zero; in a page that a run shares with what others had there, it is cleared.
    [[nodiscard]] void* zalloc(std::size_t size) noexcept {
        void* const run = malloc(size);
        if (run != nullptr && !Tag::of(run).has(Flag::direct)) {
            const std::size_t shared =
                roundUp(addressOf(run), platform::pageSize()) - addressOf(run);
            std::memset(run, 0, shared < size ? shared : size);
        }
        return run;
    }

    /// Lowers the break if the run is the last thing below it.
    void free(void* run) noexcept {
        const Tag tag = Tag::of(run);
        if (tag.has(Flag::direct)) {
            instead_.free(run);
            return;
        }
        const Address start = addressOf(run) - minAlignment;
        const Address end = endOf(run);
        mapped_ -= end - start;
        if (platform::currentBreak() == end && move(end, start - end)) {
            return;
        }
        const std::size_t page = platform::pageSize();
        const Address first = roundUp(start, page);
        if (first < end) {
            platform::discardPages(pointerTo(first), end - first);
        }
    }

    [[nodiscard]] std::size_t getSize(void* run) noexcept {
        return Tag::of(run).size() - Tag::bytes;
    }

    /// Moves the break so that the run holds `size` bytes, to the next page boundary.
    [[nodiscard]] bool resize(void* run, std::size_t size) noexcept {
        if (Tag::of(run).has(Flag::direct)) {
            return instead_.resize(run, size);
        }
        const Address end = endOf(run);
        const Address newEnd = roundUp(addressOf(run) + Tag::bytes + size, platform::pageSize());
        if (size > largest || platform::currentBreak() != end || !move(end, newEnd - end)) {
            return false;
        }
        mapped_ += newEnd - end;
        retag(addressOf(run), newEnd);
        return true;
    }

    void measure(MemoryUsage& usage) const noexcept {
        usage.mapped += mapped_;
        instead_.measure(usage);
    }

private:
    static constexpr std::size_t overhead = minAlignment + Tag::bytes;
    static constexpr std::size_t largest = PTRDIFF_MAX / 2;
    static constexpr std::size_t leastMapping = 1 * MiB - 2 * minAlignment;

    /// A run's last 8 bytes stay unused, since a tag holds multiples of 16.
    static Address endOf(void* run) noexcept { return addressOf(run) + Tag::of(run).size(); }

    /// Moves the break by a difference that may be negative. If it was not where it was expected,
    /// somebody else moved it meanwhile: then it is moved back, if it can be, and false.
    static bool move(Address from, std::size_t difference) noexcept {
        const auto bytes = static_cast<std::intptr_t>(difference);
        const Address before = platform::moveBreak(bytes);
        if (before == from) {
            return true;
        }
        if (before != 0 && platform::currentBreak() == before + difference) {
            [[maybe_unused]] const Address undone = platform::moveBreak(-bytes);
        }
        return false;
    }

    static void* place(Address start, Address end) noexcept {
        retag(start + minAlignment, end);
        return pointerTo(start + minAlignment);
    }

    static void retag(Address run, Address end) noexcept {
        ::new (pointerTo(run - Tag::bytes)) Tag(roundDown(end - run, minAlignment), State::live);
    }

    MmapHeap instead_;
    std::size_t mapped_ = 0;
};

static_assert(SizedHeap<SbrkHeap> && ResizableHeap<SbrkHeap> && TaggedHeap<SbrkHeap>);
static_assert(ZeroingHeap<SbrkHeap>);

} // namespace heapwright
