// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The events of one thread, block after block. What goes wrong within a block ends that block; the
// next one can be decoded without it.
#include <algorithm>

#include "trace/decoder.hpp"
#include "trace/reader.hpp"

namespace heapwright::trace {

ThreadEvents::ThreadEvents(const Trace& trace, std::uint32_t thread)
    : trace_(&trace), thread_(thread), decoder_(std::make_unique<BlockDecoder>()) {
    // No entry of a realloc is before its thread: the merge lets threads in by that time.
    if (thread < trace.threads().size())
        lastTime_ = trace.threads()[thread].firstTime;
}

ThreadEvents::~ThreadEvents() = default;
ThreadEvents::ThreadEvents(ThreadEvents&&) noexcept = default;
ThreadEvents& ThreadEvents::operator=(ThreadEvents&&) noexcept = default;

bool ThreadEvents::nextBlock() {
    if (thread_ >= trace_->threads().size())
        return false;
    const std::vector<std::uint32_t>& blocks = trace_->threads()[thread_].blocks;
    if (block_ > 0 && block_ <= blocks.size()) {
        const BlockInfo& done = trace_->blocks()[blocks[block_ - 1]];
        if (decoder_->wrong() != nullptr)
            trace_->addFault(done.offset + sizeof(BlockHeader) + decoder_->position(),
                             decoder_->wrong());
        trace_->letGo(done);
    }
    if (block_ >= blocks.size()) {
        block_ = blocks.size() + 1;
        return false;
    }
    const BlockInfo& block = trace_->blocks()[blocks[block_++]];
    decoder_->begin(trace_->payload(block), block.stackBits, !block.sealed, block.firstTicks);
    return true;
}

void ThreadEvents::hold(Event& event) {
    if (held_++ == 0)
        trace_->addFault(trace_->blocks()[trace_->threads()[thread_].blocks[block_ - 1]].offset,
                         "time decreases in thread " + std::to_string(thread_));
    event.time = lastTime_;
}

bool ThreadEvents::next(Event& event) {
    while (!decoder_->next(event)) {
        if (!nextBlock())
            return false;
    }
    const bool atOnce = event.began == event.time;
    event.time = trace_->nanoseconds(event.time);
    if (event.time < lastTime_) [[unlikely]]
        hold(event);
    event.began =
        atOnce ? event.time : std::clamp(trace_->nanoseconds(event.began), lastTime_, event.time);
    lastTime_ = event.time;
    event.thread = thread_;
    event.process = trace_->threads()[thread_].process;
    return true;
}

} // namespace heapwright::trace
