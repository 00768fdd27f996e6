// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes a record of every call to a sink: which verb, with what, what it answered, and in which
// order (`structure/observe/trace_record.hpp`). The heap below notices nothing.
//
// A sink is a policy: `RingTrace` keeps the latest in memory, `DescriptorTrace` writes lines of
// text to a file or another descriptor. A sink must not allocate here, and ours do not, so that the
// layer can stand in a library that is malloc, under its lock; a failing write ends the trace, not
// the program. What is not traced: `measure` and `owns`, which change nothing and are asked often.
// A record is made after the call, so a call that never comes back leaves none. Before a fork the
// sink is flushed, so that no line is written by parent and child; whether the child goes on in a
// file of its own is the sink's affair. Invariant: sequence numbers count from 1 without a gap.
// Not for several threads. Cost: the sink's.
//
// Example: TraceHeap<RingTrace<256>, MmapHeap>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/structure/forwarding.hpp>
#include <heapwright/structure/observe/trace_record.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heapwright {

template <TraceSink Sink, Heap SuperHeap>
class TraceHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr bool processLocal = true; ///< where it writes to is open here only
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr bool tagged = TagPreservingHeap<SuperHeap>;
    static constexpr std::string_view caption = "writes a record of every call";
    using Below = Heaps<SuperHeap>;

    constexpr TraceHeap() noexcept = default;
    ~TraceHeap() = default;

    /// Where the records go; flushing it, or asking it what it has, is for whoever holds the heap.
    [[nodiscard]] Sink& sink() noexcept { return sink_; }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        void* const object = SuperHeap::malloc(size);
        note({.verb = Verb::malloc, .size = size, .answer = addressOf(object)});
        return object;
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        void* const object = SuperHeap::zalloc(size);
        note({.verb = Verb::zalloc, .size = size, .answer = addressOf(object)});
        return object;
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        void* const object = SuperHeap::memalign(align, size);
        note({.verb = Verb::memalign,
              .alignment = align,
              .size = size,
              .answer = addressOf(object)});
        return object;
    }

    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept
        requires HoldingHeap<SuperHeap>
    {
        void* const object = SuperHeap::mallocHeld(size);
        note({.verb = Verb::mallocHeld, .size = size, .answer = addressOf(object)});
        return object;
    }

    [[nodiscard]] void* memalignHeld(std::size_t align, std::size_t size) noexcept
        requires AlignedHoldingHeap<SuperHeap>
    {
        void* const object = SuperHeap::memalignHeld(align, size);
        note({.verb = Verb::memalignHeld,
              .alignment = align,
              .size = size,
              .answer = addressOf(object)});
        return object;
    }

    void free(void* object) noexcept {
        SuperHeap::free(object);
        note({.verb = Verb::free, .object = addressOf(object)});
    }

    void free(void* object, std::size_t size) noexcept
        requires SizedFreeHeap<SuperHeap>
    {
        SuperHeap::free(object, size);
        note({.verb = Verb::free, .object = addressOf(object), .size = size});
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept
        requires SizedHeap<SuperHeap>
    {
        const std::size_t size = SuperHeap::getSize(object);
        note({.verb = Verb::getSize, .object = addressOf(object), .answer = size});
        return size;
    }

    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept
        requires ResizableHeap<SuperHeap>
    {
        const bool done = SuperHeap::resize(object, size);
        note({.verb = Verb::resize,
              .object = addressOf(object),
              .size = size,
              .answer = done ? 1U : 0U});
        return done;
    }

    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        const Address before = addressOf(object);
        void* const moved = SuperHeap::relocate(object, size);
        note({.verb = Verb::relocate, .object = before, .size = size, .answer = addressOf(moved)});
        return moved;
    }

    bool flush() noexcept
        requires FlushableHeap<SuperHeap>
    {
        const bool any = SuperHeap::flush();
        note({.verb = Verb::flush, .answer = any ? 1U : 0U});
        return any;
    }

    bool trim(std::size_t pad) noexcept
        requires TrimmableHeap<SuperHeap>
    {
        const bool any = SuperHeap::trim(pad);
        note({.verb = Verb::trim, .size = pad, .answer = any ? 1U : 0U});
        return any;
    }

    void clear() noexcept
        requires ClearableHeap<SuperHeap>
    {
        SuperHeap::clear();
        note({.verb = Verb::clear});
    }

    void beforeFork() noexcept {
        if constexpr (ForkableHeap<SuperHeap>) {
            SuperHeap::beforeFork();
        }
        sink_.flush();
    }

    void afterForkInParent() noexcept {
        if constexpr (ForkableHeap<SuperHeap>) {
            SuperHeap::afterForkInParent();
        }
    }

    void afterForkInChild() noexcept {
        sink_.forked();
        if constexpr (ForkableHeap<SuperHeap>) {
            SuperHeap::afterForkInChild();
        }
    }

    using Forwards::measure;
    using Forwards::owns;

private:
    void note(TraceRecord record) noexcept {
        record.sequence = ++sequence_;
        sink_.write(record);
    }

    std::uint64_t sequence_ = 0; ///< how many records there were
    Sink sink_;
};

} // namespace heapwright
