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

namespace heapwright::replay {

template <class Policy>
class Performance {
public:
    Performance(Worker& worker, Policy policy) : worker_(worker), policy_(policy) {}

    void perform() {
        cursor_ = worker_.feed.chunk();
        for (;;) {
            const std::uint64_t word = *cursor_++;
            switch (command::routine(word)) {
            case number(Routine::malloc):
                give<Routine::malloc>(word);
                break;
            case number(Routine::free):
            case number(Routine::cfree):
            case number(Routine::freeSized):
            case number(Routine::freeAlignedSized):
                take<Routine::free>(word);
                break;
            case number(Routine::operatorNew):
                give<Routine::operatorNew>(word);
                break;
            case number(Routine::operatorDelete):
                take<Routine::operatorDelete>(word);
                break;
            case number(Routine::operatorDeleteSized):
                take<Routine::operatorDeleteSized>(word);
                break;
            case number(Routine::realloc):
            case number(Routine::reallocarray):
                resize(word);
                break;
            case number(Routine::calloc):
                give<Routine::calloc>(word);
                break;
            case command::control:
                if (!control(word)) {
                    return;
                }
                break;
            default:
                rarer(word);
            }
        }
    }

private:
    static constexpr unsigned number(Routine routine) { return static_cast<unsigned>(routine); }

    [[gnu::noinline]] void rarer(std::uint64_t word) {
        switch (command::routine(word)) {
        case number(Routine::memalign):
            return give<Routine::memalign>(word);
        case number(Routine::alignedAlloc):
            return give<Routine::alignedAlloc>(word);
        case number(Routine::posixMemalign):
            return give<Routine::posixMemalign>(word);
        case number(Routine::valloc):
            return give<Routine::valloc>(word);
        case number(Routine::pvalloc):
            return give<Routine::pvalloc>(word);
        case number(Routine::operatorNewArray):
            return give<Routine::operatorNewArray>(word);
        case number(Routine::operatorNewAligned):
            return give<Routine::operatorNewAligned>(word);
        case number(Routine::operatorNewArrayAligned):
            return give<Routine::operatorNewArrayAligned>(word);
        case number(Routine::operatorDeleteArray):
            return take<Routine::operatorDeleteArray>(word);
        case number(Routine::operatorDeleteArraySized):
            return take<Routine::operatorDeleteArraySized>(word);
        case number(Routine::operatorDeleteAligned):
            return take<Routine::operatorDeleteAligned>(word);
        default:
            return take<Routine::operatorDeleteArrayAligned>(word);
        }
    }

    std::size_t sizeOf(std::uint64_t word) {
        return (word & command::longSize) != 0 ? *cursor_++ : command::shortSize(word);
    }

    void count(std::uint64_t word, std::uint64_t began) {
        if constexpr (Policy::timed) {
            worker_.histograms[command::routine(word)]->add(platform::ticks() - began);
        }
    }

    static std::uint64_t ticks() { return Policy::timed ? platform::ticks() : 0; }

    template <Routine which>
    [[gnu::always_inline]] void give(std::uint64_t word) {
        const std::size_t size = sizeOf(word);
        std::size_t alignment = 0;
        if constexpr (trace::hasAlignment(which)) {
            alignment = *cursor_++;
        }
        const std::uint64_t began = ticks();
        void* const object = allocate<which>(size, alignment);
        count(word, began);
        if (object == nullptr) [[unlikely]] {
            worker_.failed += size != 0 ? 1 : 0;
        }
        policy_.gave(which, object, size, alignment);
        if ((word & command::general) != 0) [[unlikely]] {
            worker_.shared.give(Hold::of(*cursor_++), object, worker_.waits);
        } else {
            worker_.own[command::place(word)] = object;
        }
    }

    template <Routine which>
    [[gnu::always_inline]] void take(std::uint64_t word) {
        const std::size_t size = sizeOf(word);
        std::size_t alignment = 0;
        if constexpr (which == Routine::operatorDeleteAligned ||
                      which == Routine::operatorDeleteArrayAligned) {
            alignment = *cursor_++;
        }
        void* object = nullptr;
        if ((word & command::general) != 0) [[unlikely]] {
            object = worker_.shared.take(Hold::of(*cursor_++), worker_.waits);
        } else {
            void*& place = worker_.own[command::place(word)];
            object = place;
            place = nullptr;
        }
        policy_.takes(object, size, (word & command::released) == 0);
        const std::uint64_t began = ticks();
        release<which>(object, size, alignment);
        count(word, began);
    }

    [[gnu::noinline]] void resize(std::uint64_t word) {
        const std::size_t size = sizeOf(word);
        const std::size_t oldSize = *cursor_++;
        const bool general = (word & command::general) != 0;
        void** const place = &worker_.own[command::place(word)];
        void* old = nullptr;
        Hold made;
        if (general) {
            old = fetch(Hold::of(*cursor_++));
            made = Hold::of(*cursor_++);
        } else {
            old = *place;
        }
        policy_.resizes(old, oldSize);
        const std::uint64_t began = ticks();
        void* object = std::realloc(old, size);
        count(word, began);
        if (object == nullptr && size != 0) [[unlikely]] {
            ++worker_.failed;
            policy_.kept(old, oldSize);
            object = old;
        } else {
            policy_.resized(object, oldSize, size, (word & command::released) != 0);
        }
        if (!general) {
            *place = object;
        } else if (made.shared) {
            worker_.shared.give(made, object, worker_.waits);
        } else if (made.place != 0) {
            worker_.own[made.place] = object;
        } else if (object != nullptr) {
            policy_.takes(object, size, false);
            std::free(object); // the recorded call was a free; this allocator's realloc is none
        }
    }

    void* fetch(Hold hold) {
        if (hold.shared) {
            return worker_.shared.take(hold, worker_.waits);
        }
        void*& place = worker_.own[hold.place];
        void* const object = place;
        place = nullptr;
        return object;
    }

    /// False at the end of the thread.
    [[gnu::noinline]] bool control(std::uint64_t word) {
        const std::uint64_t value = word >> 16U;
        switch (static_cast<Control>(word >> 8U & 0xffU)) {
        case Control::end:
            return false;
        case Control::more:
            cursor_ = worker_.feed.chunk();
            break;
        case Control::take:
            worker_.turns[worker_.index].take(worker_.waits);
            break;
        case Control::pass:
            worker_.turns[value].pass();
            break;
        case Control::at:
            waitUntil(worker_.began + value);
            break;
        case Control::skip:
            policy_.skipped();
            break;
        case Control::release:
            policy_.releasing(value);
            break;
        }
        return true;
    }

    Worker& worker_;
    Policy policy_;
    const std::uint64_t* cursor_ = nullptr;
};

} // namespace heapwright::replay
