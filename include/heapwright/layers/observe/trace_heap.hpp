// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes a record of every call to a sink: the verb, its arguments, its result, and its sequence
// number (`structure/observe/trace_record.hpp`). The heap below is not affected.
//
// A sink is a policy. `RingTrace` keeps the latest records in memory. `DescriptorTrace` writes
// lines of text to a file or another descriptor. A sink must not allocate here, so that the layer
// works in a library that replaces malloc, under its lock. A failed write ends the trace, not the
// program. `measure` and `owns` are not traced, because they change nothing and are called often. A
// record is made after the call, so a call that does not return leaves none. The sink is flushed
// before a fork, so that no line is written twice. The sink decides whether the child continues in
// a file of its own. It is not for several threads.
// Invariant: sequence numbers count from 1 without a gap.
// Cost: that of the sink.
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
    static constexpr bool processLocal = true; ///< the sink's descriptor belongs to the process
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr bool tagged = TagPreservingHeap<SuperHeap>;
    static constexpr std::string_view caption = "writes a record of every call";
    using Below = Heaps<SuperHeap>;

    constexpr TraceHeap() noexcept = default;
    ~TraceHeap() = default;

    /// The destination of the records.
    /// Pre: a caller that flushes or reads it holds the heap.
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

    std::uint64_t sequence_ = 0; ///< number of records so far
    Sink sink_;
};

} // namespace heapwright
