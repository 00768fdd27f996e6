// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts the calls of the heap below, without changing it. The figures are calls and failures of
// each verb, present and peak objects and bytes, and a histogram of sizes by power of two.
// `statistics()` returns the figures at any time, and `CallStatistics::writeTo` formats them as
// text.
//
// An object counts with its usable size (`getSize`), because only that is known when it is freed.
// The calls are those of this layer: a `realloc` above is a `resize`, and if that fails, a `malloc`
// and a `free`. The layer allocates nothing and keeps no state elsewhere. It is not for several
// threads.
// Invariant: the live bytes are the sum over the live objects. A wrong pointer is left to a check
// by tag below, if there is one. Any other check first sees it in a request for its size.
// Cost: the size of the object and a few additions.
//
// Example: StatisticsHeap<MmapHeap>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/structure/object/tag.hpp>
#include <heapwright/structure/observe/call_statistics.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright {

template <SizedHeap SuperHeap>
class StatisticsHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr bool tagged = TagPreservingHeap<SuperHeap>;
    static constexpr std::string_view caption = "counts calls, sizes and what is live";
    using Below = Heaps<SuperHeap>;

    constexpr StatisticsHeap() noexcept = default;
    ~StatisticsHeap() = default;

    /// The figures so far. `clear` ends the life of all objects; the other figures continue.
    [[nodiscard]] const CallStatistics& statistics() const noexcept { return statistics_; }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        return given(Verb::malloc, size, SuperHeap::malloc(size));
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        return given(Verb::zalloc, size, SuperHeap::zalloc(size));
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        return given(Verb::memalign, size, SuperHeap::memalign(align, size));
    }

    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept
        requires HoldingHeap<SuperHeap>
    {
        return given(Verb::mallocHeld, size, SuperHeap::mallocHeld(size));
    }

    [[nodiscard]] void* memalignHeld(std::size_t align, std::size_t size) noexcept
        requires AlignedHoldingHeap<SuperHeap>
    {
        return given(Verb::memalignHeld, size, SuperHeap::memalignHeld(align, size));
    }

    void free(void* object) noexcept {
        const std::size_t bytes = bytesOf(object);
        SuperHeap::free(object);
        taken(bytes);
    }

    void free(void* object, std::size_t size) noexcept
        requires SizedFreeHeap<SuperHeap>
    {
        const std::size_t bytes = bytesOf(object);
        SuperHeap::free(object, size);
        taken(bytes);
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        statistics_.count(Verb::getSize, true);
        return SuperHeap::getSize(object);
    }

    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept
        requires ResizableHeap<SuperHeap>
    {
        const std::size_t before = bytesOf(object);
        const bool done = SuperHeap::resize(object, size);
        statistics_.count(Verb::resize, done);
        statistics_.countRequest(size, done);
        if (done) {
            statistics_.grow(bytesOf(object) - before);
        }
        return done;
    }

    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        const std::size_t before = bytesOf(object);
        void* const moved = SuperHeap::relocate(object, size);
        statistics_.count(Verb::relocate, moved != nullptr);
        statistics_.countRequest(size, moved != nullptr);
        if (moved != nullptr) {
            statistics_.grow(bytesOf(moved) - before);
        }
        return moved;
    }

    bool flush() noexcept
        requires FlushableHeap<SuperHeap>
    {
        return counted(Verb::flush, SuperHeap::flush());
    }

    bool trim(std::size_t pad) noexcept
        requires TrimmableHeap<SuperHeap>
    {
        return counted(Verb::trim, SuperHeap::trim(pad));
    }

    void clear() noexcept
        requires ClearableHeap<SuperHeap>
    {
        SuperHeap::clear();
        statistics_.count(Verb::clear, true);
        statistics_.liveObjects = statistics_.liveBytes = 0;
    }

    using Forwards::afterForkInChild;
    using Forwards::afterForkInParent;
    using Forwards::beforeFork;
    using Forwards::measure;
    using Forwards::owns;

private:
    /// The usable size of an object; 0 if a check below will end the program for it.
    static constexpr bool checkedBelow = TaggedHeap<SuperHeap> && !UncheckedHeap<SuperHeap>;
    std::size_t bytesOf(void* object) noexcept {
        if constexpr (checkedBelow) {
            if (addressOf(object) % minAlignment != 0 || !Tag::of(object).is(State::live)) {
                return 0;
            }
        }
        return SuperHeap::getSize(object);
    }

    bool counted(Verb verb, bool answer) noexcept {
        statistics_.count(verb, answer);
        return answer;
    }

    void* given(Verb verb, std::size_t size, void* object) noexcept {
        statistics_.count(verb, object != nullptr);
        statistics_.countRequest(size, object != nullptr);
        if (object != nullptr) [[likely]] {
            statistics_.add(bytesOf(object));
        }
        return object;
    }

    void taken(std::size_t bytes) noexcept {
        statistics_.count(Verb::free, true);
        statistics_.remove(bytes);
    }

    CallStatistics statistics_;
};

} // namespace heapwright
