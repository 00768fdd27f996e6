// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See record.hpp. What is not in every program's common path stands here.
#include "record.hpp"

namespace heapwright::recorder {

namespace {

/// Of a realloc whose blocks are not both among those that are recorded, the part that is: a block
/// that goes or one that comes. False if none of it is.
bool cutToSample(Resized& call, std::uint64_t& address) noexcept {
    const bool hadOld = call.old != 0 && session.samples(reinterpret_cast<void*>(call.old));
    const bool hasNew = address != 0 && session.samples(call.object);
    if (address == 0 && call.size != 0) {
        return hadOld; // it failed, and the old block lives on
    }
    if (!hadOld) {
        call.old = 0;
    }
    if (!hasNew) {
        address = 0;
        call.size = 0;
    }
    return hadOld || hasNew;
}

} // namespace

void noteResized(Thread& self, const Resized& done, const void* frame) noexcept {
    Resized call = done;
    std::uint64_t address = addressOf(call.object);
    if (!session.wants() || (session.samples() && !cutToSample(call, address))) {
        enter(self, State::idle);
        return;
    }
    enter(self, State::writing);
    const std::uint64_t usable = address == 0 ? 0 : usableOf(call.object, call.size);
    const stacks::StackId stack = session.takesStacks() ? stacks::capture(frame) : 0;
    if (hasRoom(self)) [[likely]] {
        self.stream->encoder.reallocated(call.routine, call.began, session.clock(), call.old,
                                         address, call.size, usable, stack);
    }
    finish(self);
}

} // namespace heapwright::recorder
