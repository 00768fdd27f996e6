// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Merges the threads with a run of calls in the place of an event.
#include "trace/merged_calls.hpp"

#include <memory>

#include "trace/call_stream.hpp"
#include "trace/earliest_first.hpp"

namespace heapwright::trace {

struct MergedCalls::State {
    State(const Trace& from, std::uint32_t process) : trace(from), streams(from, process) {}

    CallStream* earliest() {
        return streams.earliest([this](std::uint32_t thread) {
            auto stream = std::make_unique<CallStream>(trace, thread, pool);
            return stream->begin() ? std::move(stream) : nullptr;
        });
    }

    const Trace& trace;
    ChunkPool pool;
    EarliestFirst<CallStream> streams;
};

MergedCalls::MergedCalls(const Trace& trace, std::uint32_t process)
    : state_(std::make_unique<State>(trace, process)) {}

MergedCalls::~MergedCalls() = default;

bool MergedCalls::next(CallRun& run) {
    State& state = *state_;
    CallStream* const stream = state.earliest();
    if (stream == nullptr)
        return false;
    run = stream->take(state.streams.ahead());
    if (!stream->advance())
        state.streams.drop();
    return true;
}

void MergedCalls::done(const CallRun& run) {
    if (run.endsChunk)
        state_->pool.giveBack(run.chunk);
}

} // namespace heapwright::trace
