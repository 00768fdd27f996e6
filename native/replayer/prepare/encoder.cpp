// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See encoder.hpp.
#include "encoder.hpp"

namespace heapwright::replayer {

using trace::Routine;

namespace {

/// Calls that are closer than this to the one before are not told apart in time.
constexpr std::uint64_t leastPause = 1000;

constexpr std::uint64_t holdWord(const Object& object) {
    return Hold{object.place, object.generation, object.shared}.word();
}

constexpr bool freesAligned(Routine routine) {
    return routine == Routine::operatorDeleteAligned ||
           routine == Routine::operatorDeleteArrayAligned;
}

} // namespace

Encoder::Encoder(PlanWriter& writer, const std::vector<bool>& passed, std::size_t threads,
                 bool ordered, bool paced)
    : writer_(writer), passed_(passed), own_(threads), told_(threads), ordered_(ordered),
      paced_(paced) {}

void Encoder::encode(Step& step, std::uint64_t first) {
    if (step.act == Act::released && (!ordered_ || step.old.address == 0)) {
        return; // told with the realloc itself, or there is nothing to tell
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
    case Act::allocate:
        allocate(step);
        break;
    case Act::free:
        free(step);
        break;
    case Act::resize:
        resize(step);
        break;
    case Act::released:
        writer_.control(step.thread, Control::release, step.old.size);
        break;
    case Act::skip:
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

void Encoder::waitUntil(const Step& step, std::uint64_t first) {
    const std::uint64_t when = step.event.began < first ? 0 : step.event.began - first;
    if (when > told_[step.thread] + leastPause) {
        told_[step.thread] = when;
        writer_.control(step.thread, Control::at, when);
    }
}

/// The place where an object that is made here will be found.
Hold Encoder::holdFor(Object& object) {
    Hold hold;
    if (passed_[object.number]) {
        hold = shared_.take();
    } else {
        hold.place = own_[object.thread].take();
    }
    object.place = hold.place;
    object.generation = hold.generation;
    object.shared = hold.shared;
    return hold;
}

void Encoder::leave(const Object& object) {
    if (object.shared) {
        shared_.leave(object.place);
    } else {
        own_[object.thread].leave(object.place);
    }
}

Encoder::Command Encoder::begin(Routine routine, std::size_t place, std::uint64_t size,
                                std::uint64_t flags, std::uint64_t alignment) {
    const bool large = size > command::mostShortSize;
    Command made;
    made.words[0] = static_cast<std::uint64_t>(routine) | flags | (large ? command::longSize : 0) |
                    static_cast<std::uint64_t>(place) << 8U | (large ? 0 : size) << 36U;
    if (large) {
        made.add(size);
    }
    if (trace::hasAlignment(routine) || freesAligned(routine)) {
        made.add(alignment);
    }
    return made;
}

void Encoder::allocate(const Step& step) {
    const Hold hold = holdFor(*step.made);
    Command made = begin(step.event.routine, hold.shared ? 0 : hold.place, step.event.size,
                         hold.shared ? command::general : 0, step.event.alignment);
    if (hold.shared) {
        made.add(hold.word());
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
    Command made = begin(routine, object.shared ? 0 : object.place, object.size,
                         flags | (object.shared ? command::general : 0), object.alignment);
    if (object.shared) {
        made.add(holdWord(object));
    }
    put(thread, made);
    leave(object);
}

void Encoder::resize(const Step& step) {
    const std::uint64_t flags = ordered_ && step.wasReleased ? command::released : 0;
    const std::uint64_t taken = step.old.address != 0 ? holdWord(step.old) : 0;
    if (step.old.address != 0) {
        leave(step.old);
    }
    const Hold hold = step.made != nullptr ? holdFor(*step.made) : Hold{};
    const bool stays = taken == hold.word() && !hold.shared && hold.place != 0;
    Command made = begin(step.event.routine, stays ? hold.place : 0, step.event.size,
                         flags | (stays ? 0 : command::general), 0);
    made.add(step.old.size);
    if (!stays) {
        made.add(taken);
        made.add(hold.word());
    }
    put(step.thread, made);
}

} // namespace heapwright::replayer
