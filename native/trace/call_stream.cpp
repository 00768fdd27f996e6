// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Most calls are decoded into the chunk by `BlockDecoder::plain`; what that leaves comes one by one
// as events.
#include "trace/call_stream.hpp"

#include <algorithm>
#include <utility>

namespace heapwright::trace {

CallChunk* ChunkPool::take(std::size_t calls) {
    CallChunk* chunk = nullptr;
    {
        const std::lock_guard lock(mutex_);
        if (free_.empty()) {
            all_.push_back(std::make_unique<CallChunk>());
            free_.reserve(all_.size()); // so that giving back cannot fail
            chunk = all_.back().get();
        } else {
            chunk = free_.back();
            free_.pop_back();
        }
    }
    if (chunk->calls.size() < calls + CallChunk::behind)
        chunk->calls.resize(calls + CallChunk::behind);
    chunk->others.clear();
    return chunk;
}

void ChunkPool::giveBack(CallChunk* chunk) {
    const std::lock_guard lock(mutex_);
    free_.push_back(chunk);
}

CallStream::CallStream(const Trace& trace, std::uint32_t thread, ChunkPool& pool)
    : trace_(trace), pool_(pool), thread_(thread), process_(trace.threads()[thread].process),
      // No entry of a realloc is before its thread: the merge lets threads in by that time.
      lastTime_(trace.threads()[thread].firstTime) {}

bool CallStream::begin() {
    return fill();
}

void CallStream::note(std::uint64_t offset, std::string what) {
    faults_.push_back({produced(), offset, std::move(what)});
}

void CallStream::tellFaults() {
    while (!faults_.empty() && faults_.front().before <= taken_) {
        trace_.addFault(faults_.front().offset, std::move(faults_.front().what));
        faults_.pop_front();
    }
}

bool CallStream::nextBlock() {
    const std::vector<std::uint32_t>& blocks = trace_.threads()[thread_].blocks;
    if (block_ > 0) {
        const BlockInfo& done = trace_.blocks()[blocks[block_ - 1]];
        if (decoder_.wrong() != nullptr)
            note(done.offset + sizeof(BlockHeader) + decoder_.position(), decoder_.wrong());
        trace_.letGo(done);
    }
    if (block_ >= blocks.size()) {
        ended_ = true;
        return false;
    }
    const BlockInfo& block = trace_.blocks()[blocks[block_++]];
    std::span<const std::byte> payload = trace_.unchecked(block);
    if (const char* const wrong = trace_.flaw(block); wrong != nullptr) {
        note(block.offset, wrong);
        payload = {};
    }
    decoder_.begin(payload, block.stackBits, !block.sealed, block.firstTicks);
    return true;
}

/// The next event of any kind, and all plain events before it.
bool CallStream::decodeMore() {
    const std::uint64_t perTick = trace_.perTick();
    // One event may become two calls.
    count_ += decoder_.plain(chunk_->calls.data() + count_, room_ - 1 - count_, perTick, lastTime_);
    if (count_ + 1 >= room_)
        return true;
    Event event;
    while (!decoder_.next(event)) {
        if (!nextBlock())
            return false;
        const std::size_t before = count_;
        count_ +=
            decoder_.plain(chunk_->calls.data() + count_, room_ - 1 - count_, perTick, lastTime_);
        if (count_ != before)
            return true;
    }
    add(event);
    return true;
}

bool CallStream::fill() {
    chunk_ = nullptr;
    if (ended_)
        return false;
    chunk_ = pool_.take(room_);
    at_ = count_ = 0;
    while (count_ + 1 < room_ && decodeMore()) {
    }
    room_ = std::min(2 * room_, most);
    tellFaults();
    if (count_ != 0)
        return true;
    pool_.giveBack(std::exchange(chunk_, nullptr));
    return false;
}

Call& CallStream::push(std::uint64_t time, CallKind kind, Routine routine) {
    Call& call = chunk_->calls[count_++];
    call = {};
    call.time = time;
    call.kind = kind;
    call.routine = routine;
    return call;
}

Call& CallStream::addBeside(const Event& event, CallKind kind) {
    Call& call = push(event.time, kind, event.routine);
    call.address = event.address;
    call.stack = static_cast<std::uint32_t>(chunk_->others.size());
    chunk_->others.push_back(event);
    return call;
}

/// Of an event as it was decoded, its times in ticks.
void CallStream::add(Event event) {
    const bool atOnce = event.began == event.time;
    event.time = trace_.nanoseconds(event.time);
    if (event.time < lastTime_) [[unlikely]] {
        if (!std::exchange(held_, true))
            note(trace_.blocks()[trace_.threads()[thread_].blocks[block_ - 1]].offset,
                 "time decreases in thread " + std::to_string(thread_));
        event.time = lastTime_;
    }
    event.began =
        atOnce ? event.time : std::clamp(trace_.nanoseconds(event.began), lastTime_, event.time);
    lastTime_ = event.time;
    event.thread = thread_;
    event.process = process_;
    if (isFree(event.routine)) {
        const CallKind kind = event.address != 0 ? CallKind::free : CallKind::nullFree;
        push(event.time, kind, event.routine).address = event.address;
        return;
    }
    const bool fits = (event.size | event.usable) >> 32 == 0;
    if (event.address != 0 && fits && event.old == 0) {
        Call& call = push(event.time, CallKind::allocation, event.routine);
        call.address = event.address;
        call.size = static_cast<std::uint32_t>(event.size);
        call.usable = static_cast<std::uint32_t>(event.usable);
        call.stack = event.stack;
        return;
    }
    if (event.address != 0 && fits && event.old == event.address) {
        Call& call = addBeside(event, CallKind::inPlace);
        call.size = static_cast<std::uint32_t>(event.size);
        call.usable = static_cast<std::uint32_t>(event.usable);
        return;
    }
    const bool gone = event.address != 0 || event.size == 0;
    if (event.old != 0 && event.old != event.address && gone)
        addBeside({.routine = Routine::release,
                   .process = event.process,
                   .thread = event.thread,
                   .time = event.began,
                   .began = event.began,
                   .address = event.old},
                  CallKind::other);
    addBeside(event, CallKind::other);
}

/// The first call of the chunk that is later. Most runs are short, or all that there is.
std::size_t CallStream::endOfRun(std::uint64_t last) const {
    const Call* const calls = chunk_->calls.data();
    if (calls[count_ - 1].time <= last)
        return count_;
    std::size_t within = at_;
    std::size_t step = 1;
    while (within + step < count_ && calls[within + step].time <= last) {
        within += step;
        step *= 2;
    }
    const Call* const end = calls + std::min(within + step, count_);
    return static_cast<std::size_t>(
        std::partition_point(calls + within + 1, end,
                             [last](const Call& call) { return call.time <= last; }) -
        calls);
}

CallRun CallStream::take(std::uint64_t last) {
    const std::size_t end = endOfRun(last);
    const CallRun run{
        chunk_->calls.data() + at_, end - at_, chunk_, process_, thread_, end == count_};
    taken_ += end - at_;
    at_ = end;
    return run;
}

bool CallStream::advance() {
    tellFaults();
    return at_ < count_ || fill();
}

} // namespace heapwright::trace
