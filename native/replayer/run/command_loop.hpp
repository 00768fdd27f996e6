// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Carries out the commands of a thread. The plan holds everything that can be computed in advance.
// benchmarks/replay_cost.py measures the remaining overhead in instructions per call.
//
// A policy decides whether calls are timed. It is called with each object that was allocated, and
// with each object that is about to be freed or resized.
#pragma once

#include "calls.hpp"
#include "pace.hpp"
#include "worker.hpp"

#include "replayer/plan.hpp"
#include "replayer/work.hpp"

#include <heapwright/platform/ticks.hpp>

#include <cstddef>
#include <cstdint>

namespace heapwright::replayer {

template <class Policy>
class CommandLoop {
public:
    static void run(Worker& worker, Policy policy) {
        Cursor cursor = worker.commands.nextChunk();
        for (;;) {
            const std::uint64_t word = *cursor;
            switch (command::routine(word)) {
            case number(Routine::malloc):
                cursor = allocateObject<Routine::malloc>(worker, policy, word, cursor);
                break;
            case number(Routine::free):
                cursor = freeObject<Routine::free>(worker, policy, word, cursor);
                break;
            case number(Routine::operatorNew):
                cursor = allocateObject<Routine::operatorNew>(worker, policy, word, cursor);
                break;
            case number(Routine::operatorDelete):
                cursor = freeObject<Routine::operatorDelete>(worker, policy, word, cursor);
                break;
            case number(Routine::operatorDeleteSized):
                cursor = freeObject<Routine::operatorDeleteSized>(worker, policy, word, cursor);
                break;
            case number(Routine::calloc):
                cursor = allocateObject<Routine::calloc>(worker, policy, word, cursor);
                break;
            case number(Routine::realloc):
            case number(Routine::reallocarray):
                cursor = reallocObject(worker, policy, word, cursor);
                break;
            case command::control:
                cursor = control(worker, policy, word, cursor + 1);
                if (cursor == nullptr) {
                    return;
                }
                break;
            case number(Routine::memalign):
            case number(Routine::alignedAlloc):
            case number(Routine::posixMemalign):
            case number(Routine::valloc):
            case number(Routine::pvalloc):
            case number(Routine::operatorNewArray):
            case number(Routine::operatorNewAligned):
            case number(Routine::operatorNewArrayAligned):
            case number(Routine::cfree):
            case number(Routine::freeSized):
            case number(Routine::freeAlignedSized):
            case number(Routine::operatorDeleteArray):
            case number(Routine::operatorDeleteArraySized):
            case number(Routine::operatorDeleteAligned):
            case number(Routine::operatorDeleteArrayAligned):
                cursor = rareCommand(worker, policy, word, cursor + 1);
                break;
            default:
                __builtin_unreachable(); // no plan has others
            }
        }
    }

private:
    using Cursor = const std::uint64_t*;

    static constexpr std::uint64_t unusual = command::longSize | command::general;

    static constexpr unsigned number(Routine routine) { return static_cast<unsigned>(routine); }

    [[gnu::noinline]] static Cursor rareCommand(Worker& worker, Policy& policy, std::uint64_t word,
                                                Cursor cursor) {
        switch (command::routine(word)) {
        case number(Routine::memalign):
            return allocateGeneral<Routine::memalign>(worker, policy, word, cursor);
        case number(Routine::alignedAlloc):
            return allocateGeneral<Routine::alignedAlloc>(worker, policy, word, cursor);
        case number(Routine::posixMemalign):
            return allocateGeneral<Routine::posixMemalign>(worker, policy, word, cursor);
        case number(Routine::valloc):
            return allocateGeneral<Routine::valloc>(worker, policy, word, cursor);
        case number(Routine::pvalloc):
            return allocateGeneral<Routine::pvalloc>(worker, policy, word, cursor);
        case number(Routine::operatorNewArray):
            return allocateGeneral<Routine::operatorNewArray>(worker, policy, word, cursor);
        case number(Routine::operatorNewAligned):
            return allocateGeneral<Routine::operatorNewAligned>(worker, policy, word, cursor);
        case number(Routine::operatorNewArrayAligned):
            return allocateGeneral<Routine::operatorNewArrayAligned>(worker, policy, word, cursor);
        case number(Routine::cfree):
        case number(Routine::freeSized):
        case number(Routine::freeAlignedSized):
            return freeGeneral<Routine::free>(worker, policy, word, cursor);
        case number(Routine::operatorDeleteArray):
            return freeGeneral<Routine::operatorDeleteArray>(worker, policy, word, cursor);
        case number(Routine::operatorDeleteArraySized):
            return freeGeneral<Routine::operatorDeleteArraySized>(worker, policy, word, cursor);
        case number(Routine::operatorDeleteAligned):
            return freeGeneral<Routine::operatorDeleteAligned>(worker, policy, word, cursor);
        default:
            return freeGeneral<Routine::operatorDeleteArrayAligned>(worker, policy, word, cursor);
        }
    }

    static std::size_t sizeOf(std::uint64_t word, Cursor& cursor) {
        return (word & command::longSize) != 0 ? *cursor++ : command::shortSize(word);
    }

    static void count(Worker& worker, std::uint64_t word, std::uint64_t began) {
        if constexpr (Policy::timed) {
            worker.histograms[command::routine(word)]->add(platform::ticks() - began);
        }
    }

    static std::uint64_t ticks() { return Policy::timed ? platform::ticks() : 0; }

    [[gnu::noinline]] static void noMemory(Worker& worker, std::uint64_t word) {
        const bool asked = command::shortSize(word) != 0 || (word & command::longSize) != 0;
        worker.failed += asked ? 1 : 0;
    }

    template <Routine which>
    [[gnu::always_inline]] static void* timedAllocate(Worker& worker, Policy& policy,
                                                      std::uint64_t word, std::size_t size,
                                                      std::size_t alignment) {
        const std::uint64_t began = ticks();
        void* const object = allocate<which>(size, alignment);
        count(worker, word, began);
        if (object == nullptr) [[unlikely]] {
            noMemory(worker, word);
        }
        policy.allocated(which, object, size, alignment);
        return object;
    }

    /// The common allocation: a command of one word, for an object that stays with its thread.
    template <Routine which>
    [[gnu::always_inline]] static Cursor allocateObject(Worker& worker, Policy& policy,
                                                        std::uint64_t word, Cursor cursor) {
        if ((word & unusual) != 0) [[unlikely]] {
            return allocateGeneral<which>(worker, policy, word, cursor + 1);
        }
        worker.own[command::slot(word)] =
            timedAllocate<which>(worker, policy, word, command::shortSize(word), 0);
        return cursor + 1;
    }

    template <Routine which>
    [[gnu::noinline]] static Cursor allocateGeneral(Worker& worker, Policy& policy,
                                                    std::uint64_t word, Cursor cursor) {
        const std::size_t size = sizeOf(word, cursor);
        std::size_t alignment = 0;
        if constexpr (trace::hasAlignment(which)) {
            alignment = *cursor++;
        }
        void* const object = timedAllocate<which>(worker, policy, word, size, alignment);
        if ((word & command::general) != 0) {
            worker.shared.give(SlotUse::of(*cursor++), object, worker.waits);
        } else {
            worker.own[command::slot(word)] = object;
        }
        return cursor;
    }

    static void* fetch(Worker& worker, std::size_t slot) {
        void*& kept = worker.own[slot];
        void* const object = kept;
        kept = nullptr;
        return object;
    }

    template <Routine which>
    [[gnu::always_inline]] static void timedFree(Worker& worker, Policy& policy, std::uint64_t word,
                                                 void* object, std::size_t size,
                                                 std::size_t alignment) {
        policy.freeing(object, size, (word & command::released) == 0);
        const std::uint64_t began = ticks();
        release<which>(object, size, alignment);
        count(worker, word, began);
    }

    /// The common free.
    template <Routine which>
    [[gnu::always_inline]] static Cursor freeObject(Worker& worker, Policy& policy,
                                                    std::uint64_t word, Cursor cursor) {
        if ((word & unusual) != 0) [[unlikely]] {
            return freeGeneral<which>(worker, policy, word, cursor + 1);
        }
        timedFree<which>(worker, policy, word, fetch(worker, command::slot(word)),
                         command::shortSize(word), 0);
        return cursor + 1;
    }

    template <Routine which>
    [[gnu::noinline]] static Cursor freeGeneral(Worker& worker, Policy& policy, std::uint64_t word,
                                                Cursor cursor) {
        const std::size_t size = sizeOf(word, cursor);
        std::size_t alignment = 0;
        if constexpr (which == Routine::operatorDeleteAligned ||
                      which == Routine::operatorDeleteArrayAligned) {
            alignment = *cursor++;
        }
        void* const object = (word & command::general) != 0
                                 ? worker.shared.take(SlotUse::of(*cursor++), worker.waits)
                                 : fetch(worker, command::slot(word));
        timedFree<which>(worker, policy, word, object, size, alignment);
        return cursor;
    }

    /// Returns the result of realloc. If it fails, returns the object, which is unchanged.
    [[gnu::always_inline]] static void* timedRealloc(Worker& worker, Policy& policy,
                                                     std::uint64_t word, void* old,
                                                     std::size_t oldSize, std::size_t size) {
        policy.reallocating(old, oldSize);
        const std::uint64_t began = ticks();
        void* const object = std::realloc(old, size);
        count(worker, word, began);
        if (object == nullptr && size != 0) [[unlikely]] {
            ++worker.failed;
            policy.reallocFailed(old, oldSize);
            return old;
        }
        policy.reallocated(object, oldSize, size, (word & command::released) != 0);
        return object;
    }

    [[gnu::always_inline]] static Cursor reallocObject(Worker& worker, Policy& policy,
                                                       std::uint64_t word, Cursor cursor) {
        if ((word & unusual) != 0) [[unlikely]] {
            return reallocGeneral(worker, policy, word, cursor + 1);
        }
        void*& slot = worker.own[command::slot(word)];
        slot = timedRealloc(worker, policy, word, slot, cursor[1], command::shortSize(word));
        return cursor + 2;
    }

    [[gnu::noinline]] static Cursor reallocGeneral(Worker& worker, Policy& policy,
                                                   std::uint64_t word, Cursor cursor) {
        const std::size_t size = sizeOf(word, cursor);
        const std::size_t oldSize = *cursor++;
        if ((word & command::general) == 0) {
            void*& slot = worker.own[command::slot(word)];
            slot = timedRealloc(worker, policy, word, slot, oldSize, size);
            return cursor;
        }
        void* const old = fetch(worker, SlotUse::of(*cursor++));
        const SlotUse made = SlotUse::of(*cursor++);
        void* const object = timedRealloc(worker, policy, word, old, oldSize, size);
        if (made.shared) {
            worker.shared.give(made, object, worker.waits);
        } else if (made.slot != 0) {
            worker.own[made.slot] = object;
        } else if (object != nullptr) {
            policy.freeing(object, size, false);
            std::free(object); // the recorded call was a free; this allocator's realloc is none
        }
        return cursor;
    }

    static void* fetch(Worker& worker, SlotUse use) {
        return use.shared ? worker.shared.take(use, worker.waits) : fetch(worker, use.slot);
    }

    /// Returns null at the end of the thread.
    [[gnu::noinline]] static Cursor control(Worker& worker, Policy& policy, std::uint64_t word,
                                            Cursor cursor) {
        const std::uint64_t value = word >> 16U;
        switch (static_cast<Control>(word >> 8U & 0xffU)) {
        case Control::end:
            if (!worker.progress.empty()) {
                worker.progress[worker.index].enter(endOfWindows);
            }
            return nullptr;
        case Control::more:
            return worker.commands.nextChunk();
        case Control::take:
            worker.order[worker.index].wait(worker.waits);
            break;
        case Control::pass:
            worker.order[value].post();
            break;
        case Control::at:
            waitUntil(worker.began + value);
            break;
        case Control::skip:
            policy.skipped();
            break;
        case Control::release:
            policy.reallocReleased(value);
            break;
        case Control::enter:
            enter(worker, Entry::of(value));
            break;
        case Control::work:
            compute(value);
            worker.iterations += value;
            break;
        case Control::visit:
            visit(worker, Visit::of(value));
            break;
        }
        return cursor;
    }

    /// After a call without memory, objects may be smaller than recorded: none is visited then.
    static void visit(Worker& worker, Visit visit) {
        void* const object = worker.own[visit.slot];
        if (object == nullptr || worker.failed != 0) [[unlikely]] {
            return;
        }
        auto* const bytes =
            static_cast<volatile char*>(object) + Visit::lineBytes * std::size_t{visit.first};
        const char value = *bytes;
        *bytes = value;
        for (std::size_t line = 1; line < visit.lines; ++line) {
            static_cast<void>(bytes[Visit::lineBytes * line]);
        }
        worker.visitedLines += visit.lines;
    }

    /// Waits for the threads that are not yet far enough. Those that begin later than `needed` are
    /// at the end, by their first windows.
    static void enter(Worker& worker, Entry entry) {
        worker.progress[worker.index].enter(entry.window);
        for (std::size_t at = worker.ended; at < worker.progress.size(); ++at) {
            Progress& other = worker.progress[at];
            if (worker.threads[at].later >= entry.needed) {
                return;
            }
            other.await(entry.needed, worker.waits);
            if (at == worker.ended && other.window() == endOfWindows) {
                ++worker.ended;
            }
        }
    }
};

} // namespace heapwright::replayer
