// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See stream.hpp.
#include "stream.hpp"

#include "entry.hpp"
#include "next.hpp"
#include "recording.hpp"
#include "stacks/stacks.hpp"

#include <heapwright/platform/errno_keeper.hpp>
#include <heapwright/platform/output.hpp>
#include <heapwright/platform/pages.hpp>
#include <heapwright/platform/thread.hpp>
#include <heapwright/platform/thread_exit.hpp>

#include <algorithm>
#include <atomic>
#include <sched.h>

namespace heapwright::recorder {

namespace {

constexpr std::uint8_t mostSizeShift = 4;
constexpr std::uint8_t mostStackShift = 6;
static_assert(trace::pageSize << mostSizeShift == trace::threadBlockSize);
static_assert(trace::pageSize << mostStackShift == trace::stackBlockSize);

constinit std::atomic<std::uint32_t> begun{0}; ///< 1: a thread is initialising; 2: done
constinit std::atomic<bool> joined{false};

void seal(Thread& self, bool threadEnded) noexcept {
    trace::BlockHeader* const block = self.stream->encoder.block();
    if (block != nullptr) {
        const std::size_t bytes = trace::pageSize << block->sizeShift;
        self.stream->encoder.seal(threadEnded);
        TraceFile::unmap(block, bytes);
    }
}

/// From now on each call has a block to itself.
void endsNow(Thread& self) noexcept {
    self.over = true;
    self.rest = State::careful;
}

/// The end of a thread, as late as the system tells it.
void endThread() noexcept {
    const platform::ErrnoKeeper keeper;
    Thread& self = thisThread;
    const State before = self.state;
    self.state = State::inside;
    endsNow(self);
    closeStream(self);
    if (recording.takesStacks()) {
        stacks::endThread();
    }
    self.state = before == State::idle ? State::careful : before;
}

using AtEnd = platform::AtThreadExit<&endThread>;

/// The tables that encode events with stacks.
bool ensureTables(Stream& stream) noexcept {
    if (stream.tables == nullptr) {
        using trace::coding::StackTables;
        stream.tables =
            platform::reservePages(StackTables::bytes(StackTables::bitsFor(mostStackShift)));
    }
    return stream.tables != nullptr;
}

/// A stream for a thread that has none.
bool takeStream(Thread& self) noexcept {
    Stream* const stream = streamPool.take();
    if (stream == nullptr) {
        return false;
    }
    if (self.number == 0 || self.process != forkGeneration) {
        self.number = recording.takeThreadNumber() + 1;
        self.process = forkGeneration;
        self.sequence = 0;
        self.sizeShift = 0;
    }
    self.stream = stream;
    return true;
}

} // namespace

bool makeRoom(Thread& self) noexcept {
    const platform::ErrnoKeeper keeper;
    if (self.stream == &noStream && !takeStream(self)) {
        return false;
    }
    seal(self, false);
    Stream& stream = *self.stream;
    const bool stacks = recording.takesStacks();
    const std::uint8_t shift = self.over ? std::uint8_t{0} : self.sizeShift;
    if ((stacks && !ensureTables(stream)) ||
        !recording.claimEvents(stream.encoder,
                               {self.number - 1, self.sequence, shift, stream.tables})) {
        return false;
    }
    ++self.sequence;
    self.sizeShift =
        std::min<std::uint8_t>(self.sizeShift + 1, stacks ? mostStackShift : mostSizeShift);
    self.stream->encoder.lost(self.lost);
    self.lost = 0;
    return true;
}

void closeStream(Thread& self) noexcept {
    if (self.stream != &noStream) {
        Stream* const stream = self.stream;
        seal(self, true);
        self.stream = &noStream;
        streamPool.give(stream);
    }
}

void forgetThreadEnds() noexcept {
    AtEnd::withdraw();
}

bool wake(Thread& self) noexcept {
    if (self.state == State::writing) {
        ++self.lost;
        recording.countLost();
        return false;
    }
    if (self.state != State::fresh) {
        return false;
    }
    self.state = State::inside;
    std::uint32_t expected = 0;
    if (begun.compare_exchange_strong(expected, 1)) {
        findNextIn(entry::allocatorScope);
        begun.store(2);
    }
    while (begun.load() != 2) {
        ::sched_yield();
    }
    // The environment is there once the C library has begun; what comes before is the loader's.
    if (environ != nullptr && !joined.exchange(true)) {
        const platform::ErrnoKeeper keeper;
        recording.begin();
    }
    if (!joined.load(std::memory_order_relaxed)) {
        self.state = State::fresh;
        return false;
    }
    self.rest = recording.isPlain() && nextUsableSize != nullptr ? State::idle : State::careful;
    if (!AtEnd::arrange()) {
        endsNow(self); // no hook will report the end of this thread
    }
    self.state = self.rest;
    return true;
}

} // namespace heapwright::recorder
