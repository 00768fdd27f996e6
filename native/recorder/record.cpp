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
    const bool hadOld = call.old != 0 && recording.samples(reinterpret_cast<void*>(call.old));
    const bool hasNew = address != 0 && recording.samples(call.object);
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

/// Room for an event, or the event is counted as lost.
bool hasRoom(Thread& self) noexcept {
    return self.stream->encoder.hasRoom() || makeRoom(self);
}

/// The record is written, and the thread where `next` says.
void finish(Thread& self, State next) noexcept {
    if (self.over) [[unlikely]] {
        closeStream(self);
    }
    enter(self, next);
}

std::uint64_t usableOf(void* object, std::size_t size) noexcept {
    return nextUsableSize != nullptr ? nextUsableSize(object) : size;
}

bool isWanted(const void* object) noexcept {
    return recording.wants() && (!recording.samples() || recording.samples(object));
}

} // namespace

void noteAllocated(Thread& self, Routine routine, void* object, std::size_t size,
                   std::size_t alignment, const void* frame) noexcept {
    if (!isWanted(object)) {
        enter(self, self.rest);
        return;
    }
    // Still inside: some allocators allocate in their first malloc_usable_size.
    const std::uint64_t usable = object == nullptr ? 0 : usableOf(object, size);
    enter(self, State::writing);
    const stacks::StackId stack = recording.takesStacks() ? stacks::capture(frame) : 0;
    if (hasRoom(self)) {
        self.stream->encoder.allocated(routine, recording.clock(), addressOf(object), size, usable,
                                       stack, alignment);
    }
    finish(self, self.rest);
}

void noteFreed(Thread& self, Routine routine, const void* object) noexcept {
    // The C library frees nothing, twice, at the very end of each thread: not worth two blocks.
    const bool idle = self.over && object == nullptr;
    if (idle || !isWanted(object)) {
        enter(self, State::inside);
        return;
    }
    enter(self, State::writing);
    if (hasRoom(self)) {
        self.stream->encoder.freed(routine, recording.clock(), addressOf(object));
    }
    finish(self, State::inside);
}

void* noteAllocatedUncommonly(void* object, std::size_t size, Routine routine) noexcept {
    noteAllocated(thisThread, routine, object, size, 0, nullptr);
    return object;
}

void noteResized(Thread& self, const Resized& done, const void* frame) noexcept {
    Resized call = done;
    std::uint64_t address = addressOf(call.object);
    if (!recording.wants() || (recording.samples() && !cutToSample(call, address))) {
        enter(self, self.rest);
        return;
    }
    const std::uint64_t usable = address == 0 ? 0 : usableOf(call.object, call.size);
    enter(self, State::writing);
    const stacks::StackId stack = recording.takesStacks() ? stacks::capture(frame) : 0;
    if (hasRoom(self)) {
        self.stream->encoder.reallocated(call.routine, call.began, recording.clock(), call.old,
                                         address, call.size, usable, stack);
    }
    finish(self, self.rest);
}

} // namespace heapwright::recorder
