// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See encoder.hpp.
#include "encoder.hpp"

#include <algorithm>

namespace heapwright::replayer {

using trace::Routine;

namespace {

/// Calls that are closer than this to the one before are not told apart in time.
constexpr std::uint64_t leastPause = 1000;

constexpr std::uint64_t slotWord(const Object& object) {
    return SlotUse{object.slot, object.generation, object.shared}.word();
}

constexpr bool freesAligned(Routine routine) {
    return routine == Routine::operatorDeleteAligned ||
           routine == Routine::operatorDeleteArrayAligned;
}

} // namespace

Encoder::Encoder(PlanWriter& writer, const std::vector<bool>& passed, std::size_t threads,
                 const PlanHeader& header, Interlude* interlude)
    : writer_(writer), interlude_(interlude), passed_(passed), own_(threads),
      windows_(threads, header.aheadBytes), places_(threads), told_(threads),
      ordered_(header.order == Order::recorded),
      bounded_(header.order == Order::bounded && threads > 1), paced_(header.paced != 0) {}

void Encoder::encode(Step& step, std::uint64_t first) {
    if (interlude_ != nullptr && step.act != Action::released) {
        interlude_->before(step, writer_); // while other threads make their calls
    }
    if (bounded_) {
        enterWindow(step);
    }
    if (step.act == Action::released && (!ordered_ || step.old.address == 0)) {
        return; // part of the realloc itself, or nothing to report
    }
    if (ordered_) {
        takeTurn(step.thread);
    }
    if (paced_) {
        waitUntil(step, first);
    }
    if (step.overwritten.address != 0) {
        freeObject(step.overwritten, trace::freeOf(step.overwritten.routine), step.thread,
                   command::released);
    }
    switch (step.act) {
    case Action::allocate:
        allocate(step);
        break;
    case Action::free:
        free(step);
        break;
    case Action::resize:
        resize(step);
        break;
    case Action::released:
        writer_.control(step.thread, Control::release, step.old.size);
        break;
    case Action::skip:
        writer_.control(step.thread, Control::skip, 1);
        break;
    }
}

void Encoder::takeTurn(std::uint32_t thread) {
    if (thread != turn_) {
        writer_.control(turn_, Control::pass, thread);
        writer_.control(thread, Control::take);
        turn_ = thread;
    }
}

void Encoder::enterWindow(const Step& step) {
    Place& place = places_[step.thread];
    if (step.act == Action::allocate || step.act == Action::free || step.act == Action::resize) {
        const Entry entry = windows_.place(step.thread, step.overwritten.size + step.old.size,
                                           step.made == nullptr ? 0 : step.made->size);
        if (entry.window != place.window) {
            place.window = entry.window;
            writer_.control(step.thread, Control::enter, entry.value());
        }
    }
    place.first = std::min(place.first, windows_.current());
}

void Encoder::waitUntil(const Step& step, std::uint64_t first) {
    const std::uint64_t when = step.event.began < first ? 0 : step.event.began - first;
    if (when > told_[step.thread] + leastPause) {
        told_[step.thread] = when;
        writer_.control(step.thread, Control::at, when);
    }
}

/// The slot where an object that is made here will be found.
SlotUse Encoder::slotFor(Object& object) {
    SlotUse use;
    if (passed_[object.number]) {
        use = shared_.take();
    } else {
        use.slot = own_[object.thread].take();
    }
    object.slot = use.slot;
    object.generation = use.generation;
    object.shared = use.shared;
    if (interlude_ != nullptr) {
        interlude_->made(object);
    }
    return use;
}

void Encoder::leave(const Object& object) {
    if (interlude_ != nullptr) {
        interlude_->left(object);
    }
    if (object.shared) {
        shared_.leave(object.slot);
    } else {
        own_[object.thread].leave(object.slot);
    }
}

Encoder::Command Encoder::begin(Routine routine, std::size_t slot, std::uint64_t size,
                                std::uint64_t flags, std::uint64_t alignment) {
    const bool large = size > command::mostShortSize;
    Command made;
    made.words[0] = static_cast<std::uint64_t>(routine) | flags | (large ? command::longSize : 0) |
                    static_cast<std::uint64_t>(slot) << 8U | (large ? 0 : size) << 36U;
    if (large) {
        made.add(size);
    }
    if (trace::hasAlignment(routine) || freesAligned(routine)) {
        made.add(alignment);
    }
    return made;
}

void Encoder::allocate(const Step& step) {
    const SlotUse use = slotFor(*step.made);
    Command made = begin(step.event.routine, use.shared ? 0 : use.slot, step.event.size,
                         use.shared ? command::general : 0, step.event.alignment);
    if (use.shared) {
        made.add(use.word());
    }
    put(step.thread, made);
}

void Encoder::free(const Step& step) {
    if (step.old.address == 0) {
        put(step.thread, begin(step.event.routine, 0, 0, 0, step.event.alignment));
        return;
    }
    freeObject(step.old, step.event.routine, step.thread, 0);
}

void Encoder::freeObject(const Object& object, Routine routine, std::uint32_t thread,
                         std::uint64_t flags) {
    Command made = begin(routine, object.shared ? 0 : object.slot, object.size,
                         flags | (object.shared ? command::general : 0), object.alignment);
    if (object.shared) {
        made.add(slotWord(object));
    }
    put(thread, made);
    leave(object);
}

void Encoder::resize(const Step& step) {
    const std::uint64_t flags = ordered_ && step.wasReleased ? command::released : 0;
    const std::uint64_t taken = step.old.address != 0 ? slotWord(step.old) : 0;
    if (step.old.address != 0) {
        leave(step.old);
    }
    const SlotUse use = step.made != nullptr ? slotFor(*step.made) : SlotUse{};
    const bool stays = taken == use.word() && !use.shared && use.slot != 0;
    Command made = begin(step.event.routine, stays ? use.slot : 0, step.event.size,
                         flags | (stays ? 0 : command::general), 0);
    made.add(step.old.size);
    if (!stays) {
        made.add(taken);
        made.add(use.word());
    }
    put(step.thread, made);
}

} // namespace heapwright::replayer
