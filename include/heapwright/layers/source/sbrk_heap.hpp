// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Contiguous memory at the program break. A run starts at the break and can grow and shrink there
// (`resize`) as long as no other code moves the break. After that, the next request starts a new
// run. If the system does not move the break any further, pages are mapped instead.
//
// Layout: as in `MmapHeap`, 16 bytes before the memory, the last 8 a tag. Its `direct` flag marks
// mapped runs. Runs end at page boundaries. An older run that is freed returns its pages but not
// its addresses, because the break cannot be lowered past newer runs.
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
    /// `resize` usually extends the newest run, with zero bytes.
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

    /// Fresh pages are zero. A page that a run shares with memory of other code is cleared.
    [[nodiscard]] void* zalloc(std::size_t size) noexcept {
        void* const run = malloc(size);
        if (run != nullptr && !Tag::of(run).has(Flag::direct)) {
            const std::size_t shared =
                roundUp(addressOf(run), platform::pageSize()) - addressOf(run);
            std::memset(run, 0, shared < size ? shared : size);
        }
        return run;
    }

    /// Lowers the break if the run is the last one below it.
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

    /// Moves the break so that the run holds `size` bytes, rounded up to a page boundary.
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

    /// A run's last 8 bytes stay unused, because a tag holds multiples of 16.
    static Address endOf(void* run) noexcept { return addressOf(run) + Tag::of(run).size(); }

    /// Moves the break by `difference`, which may be negative. If other code has moved the break
    /// meanwhile, tries to undo the move and returns false.
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
