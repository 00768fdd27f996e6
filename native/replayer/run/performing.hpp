// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Carries out a thread's commands. Everything that need not be done for each call was done when the
// plan was made; what is done beside the call itself is told in instructions by
// benchmarks/replay_cost.py. A policy says whether calls are timed, and does with objects what is
// asked for: it is told what was given, and before a call what will be taken.
#pragma once

#include "calls.hpp"
#include "pace.hpp"
#include "worker.hpp"

#include "replayer/plan.hpp"

#include <heapwright/platform/ticks.hpp>

#include <cstddef>
#include <cstdint>

namespace heapwright::replayer {

template <class Policy>
class Performance {
public:
    static void perform(Worker& worker, Policy policy) {
        Cursor cursor = worker.feed.chunk();
        for (;;) {
            const std::uint64_t word = *cursor;
            switch (command::routine(word)) {
            case number(Routine::malloc):
                cursor = give<Routine::malloc>(worker, policy, word, cursor);
                break;
            case number(Routine::free):
                cursor = take<Routine::free>(worker, policy, word, cursor);
                break;
            case number(Routine::operatorNew):
                cursor = give<Routine::operatorNew>(worker, policy, word, cursor);
                break;
            case number(Routine::operatorDelete):
                cursor = take<Routine::operatorDelete>(worker, policy, word, cursor);
                break;
            case number(Routine::operatorDeleteSized):
                cursor = take<Routine::operatorDeleteSized>(worker, policy, word, cursor);
                break;
            case number(Routine::calloc):
                cursor = give<Routine::calloc>(worker, policy, word, cursor);
                break;
            case number(Routine::realloc):
            case number(Routine::reallocarray):
                cursor = resize(worker, policy, word, cursor);
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
                cursor = rarer(worker, policy, word, cursor + 1);
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

    [[gnu::noinline]] static Cursor rarer(Worker& worker, Policy& policy, std::uint64_t word,
                                          Cursor cursor) {
        switch (command::routine(word)) {
        case number(Routine::memalign):
            return giveFully<Routine::memalign>(worker, policy, word, cursor);
        case number(Routine::alignedAlloc):
            return giveFully<Routine::alignedAlloc>(worker, policy, word, cursor);
        case number(Routine::posixMemalign):
            return giveFully<Routine::posixMemalign>(worker, policy, word, cursor);
        case number(Routine::valloc):
            return giveFully<Routine::valloc>(worker, policy, word, cursor);
        case number(Routine::pvalloc):
            return giveFully<Routine::pvalloc>(worker, policy, word, cursor);
        case number(Routine::operatorNewArray):
            return giveFully<Routine::operatorNewArray>(worker, policy, word, cursor);
        case number(Routine::operatorNewAligned):
            return giveFully<Routine::operatorNewAligned>(worker, policy, word, cursor);
        case number(Routine::operatorNewArrayAligned):
            return giveFully<Routine::operatorNewArrayAligned>(worker, policy, word, cursor);
        case number(Routine::cfree):
        case number(Routine::freeSized):
        case number(Routine::freeAlignedSized):
            return takeFully<Routine::free>(worker, policy, word, cursor);
        case number(Routine::operatorDeleteArray):
            return takeFully<Routine::operatorDeleteArray>(worker, policy, word, cursor);
        case number(Routine::operatorDeleteArraySized):
            return takeFully<Routine::operatorDeleteArraySized>(worker, policy, word, cursor);
        case number(Routine::operatorDeleteAligned):
            return takeFully<Routine::operatorDeleteAligned>(worker, policy, word, cursor);
        default:
            return takeFully<Routine::operatorDeleteArrayAligned>(worker, policy, word, cursor);
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
    [[gnu::always_inline]] static void* called(Worker& worker, Policy& policy, std::uint64_t word,
                                               std::size_t size, std::size_t alignment) {
        const std::uint64_t began = ticks();
        void* const object = allocate<which>(size, alignment);
        count(worker, word, began);
        if (object == nullptr) [[unlikely]] {
            noMemory(worker, word);
        }
        policy.gave(which, object, size, alignment);
        return object;
    }

    /// An allocation as most are: one word, and the object stays with the thread.
    template <Routine which>
    [[gnu::always_inline]] static Cursor give(Worker& worker, Policy& policy, std::uint64_t word,
                                              Cursor cursor) {
        if ((word & unusual) != 0) [[unlikely]] {
            return giveFully<which>(worker, policy, word, cursor + 1);
        }
        worker.own[command::place(word)] =
            called<which>(worker, policy, word, command::shortSize(word), 0);
        return cursor + 1;
    }

    template <Routine which>
    [[gnu::noinline]] static Cursor giveFully(Worker& worker, Policy& policy, std::uint64_t word,
                                              Cursor cursor) {
        const std::size_t size = sizeOf(word, cursor);
        std::size_t alignment = 0;
        if constexpr (trace::hasAlignment(which)) {
            alignment = *cursor++;
        }
        void* const object = called<which>(worker, policy, word, size, alignment);
        if ((word & command::general) != 0) {
            worker.shared.give(Hold::of(*cursor++), object, worker.waits);
        } else {
            worker.own[command::place(word)] = object;
        }
        return cursor;
    }

    static void* fetch(Worker& worker, std::size_t place) {
        void*& kept = worker.own[place];
        void* const object = kept;
        kept = nullptr;
        return object;
    }

    template <Routine which>
    [[gnu::always_inline]] static void call(Worker& worker, Policy& policy, std::uint64_t word,
                                            void* object, std::size_t size, std::size_t alignment) {
        policy.takes(object, size, (word & command::released) == 0);
        const std::uint64_t began = ticks();
        release<which>(object, size, alignment);
        count(worker, word, began);
    }

    /// A free as most are.
    template <Routine which>
    [[gnu::always_inline]] static Cursor take(Worker& worker, Policy& policy, std::uint64_t word,
                                              Cursor cursor) {
        if ((word & unusual) != 0) [[unlikely]] {
            return takeFully<which>(worker, policy, word, cursor + 1);
        }
        call<which>(worker, policy, word, fetch(worker, command::place(word)),
                    command::shortSize(word), 0);
        return cursor + 1;
    }

    template <Routine which>
    [[gnu::noinline]] static Cursor takeFully(Worker& worker, Policy& policy, std::uint64_t word,
                                              Cursor cursor) {
        const std::size_t size = sizeOf(word, cursor);
        std::size_t alignment = 0;
        if constexpr (which == Routine::operatorDeleteAligned ||
                      which == Routine::operatorDeleteArrayAligned) {
            alignment = *cursor++;
        }
        void* const object = (word & command::general) != 0
                                 ? worker.shared.take(Hold::of(*cursor++), worker.waits)
                                 : fetch(worker, command::place(word));
        call<which>(worker, policy, word, object, size, alignment);
        return cursor;
    }

    /// What realloc made of an object; where it failed, the object as it was.
    [[gnu::always_inline]] static void* resized(Worker& worker, Policy& policy, std::uint64_t word,
                                                void* old, std::size_t oldSize, std::size_t size) {
        policy.resizes(old, oldSize);
        const std::uint64_t began = ticks();
        void* const object = std::realloc(old, size);
        count(worker, word, began);
        if (object == nullptr && size != 0) [[unlikely]] {
            ++worker.failed;
            policy.kept(old, oldSize);
            return old;
        }
        policy.resized(object, oldSize, size, (word & command::released) != 0);
        return object;
    }

    [[gnu::always_inline]] static Cursor resize(Worker& worker, Policy& policy, std::uint64_t word,
                                                Cursor cursor) {
        if ((word & unusual) != 0) [[unlikely]] {
            return resizeFully(worker, policy, word, cursor + 1);
        }
        void*& place = worker.own[command::place(word)];
        place = resized(worker, policy, word, place, cursor[1], command::shortSize(word));
        return cursor + 2;
    }

    [[gnu::noinline]] static Cursor resizeFully(Worker& worker, Policy& policy, std::uint64_t word,
                                                Cursor cursor) {
        const std::size_t size = sizeOf(word, cursor);
        const std::size_t oldSize = *cursor++;
        if ((word & command::general) == 0) {
            void*& place = worker.own[command::place(word)];
            place = resized(worker, policy, word, place, oldSize, size);
            return cursor;
        }
        void* const old = fetch(worker, Hold::of(*cursor++));
        const Hold made = Hold::of(*cursor++);
        void* const object = resized(worker, policy, word, old, oldSize, size);
        if (made.shared) {
            worker.shared.give(made, object, worker.waits);
        } else if (made.place != 0) {
            worker.own[made.place] = object;
        } else if (object != nullptr) {
            policy.takes(object, size, false);
            std::free(object); // the recorded call was a free; this allocator's realloc is none
        }
        return cursor;
    }

    static void* fetch(Worker& worker, Hold hold) {
        return hold.shared ? worker.shared.take(hold, worker.waits) : fetch(worker, hold.place);
    }

    /// Null at the end of the thread.
    [[gnu::noinline]] static Cursor control(Worker& worker, Policy& policy, std::uint64_t word,
                                            Cursor cursor) {
        const std::uint64_t value = word >> 16U;
        switch (static_cast<Control>(word >> 8U & 0xffU)) {
        case Control::end:
            return nullptr;
        case Control::more:
            return worker.feed.chunk();
        case Control::take:
            worker.turns[worker.index].take(worker.waits);
            break;
        case Control::pass:
            worker.turns[value].pass();
            break;
        case Control::at:
            waitUntil(worker.began + value);
            break;
        case Control::skip:
            policy.skipped();
            break;
        case Control::release:
            policy.releasing(value);
            break;
        }
        return cursor;
    }
};

} // namespace heapwright::replayer
