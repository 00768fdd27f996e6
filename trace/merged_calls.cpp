// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Merges as merge.cpp does, by time and then by thread, with a run in the place of an event.
#include "trace/merged_calls.hpp"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "trace/call_stream.hpp"

namespace heapwright::trace {

namespace {

using Key = std::pair<std::uint64_t, std::uint32_t>; ///< time, thread

Key keyOf(const CallStream& stream) {
    return {stream.time(), stream.thread()};
}

struct Later {
    bool operator()(const std::unique_ptr<CallStream>& left,
                    const std::unique_ptr<CallStream>& right) const {
        return keyOf(*left) > keyOf(*right);
    }
};

} // namespace

struct MergedCalls::State {
    State(const Trace& from, std::uint32_t process) : trace(from) {
        for (const ThreadInfo& thread : from.threads())
            if (!thread.blocks.empty() && (process == Selection::all || thread.process == process))
                coming.push_back({thread.firstTime, thread.thread});
        std::sort(coming.begin(), coming.end(), std::greater<>());
    }

    /// Lets threads in whose first block may have something before what is at hand.
    void admit() {
        while (!coming.empty() && (!first || coming.back().first <= first->time())) {
            auto stream = std::make_unique<CallStream>(trace, coming.back().second, pool);
            coming.pop_back();
            if (stream->begin())
                push(std::move(stream));
            if (!first)
                pop();
        }
    }

    void push(std::unique_ptr<CallStream> stream) {
        others.push_back(std::move(stream));
        std::push_heap(others.begin(), others.end(), Later());
    }

    void pop() {
        if (others.empty())
            return;
        std::pop_heap(others.begin(), others.end(), Later());
        first = std::move(others.back());
        others.pop_back();
    }

    /// Puts the stream with the earliest call first.
    void settle() {
        if (!first)
            pop();
        admit();
        if (first && !others.empty() && keyOf(*others.front()) < keyOf(*first)) {
            push(std::move(first));
            pop();
        }
    }

    /// The last time up to which the first stream stays first.
    std::uint64_t ahead() const {
        std::uint64_t last = UINT64_MAX;
        if (!coming.empty())
            last = coming.back().first - 1; // it was let in if it were 0
        if (!others.empty()) {
            const auto [time, thread] = keyOf(*others.front());
            last = std::min(last, time - (thread < first->thread() ? 1 : 0));
        }
        return last;
    }

    const Trace& trace;
    ChunkPool pool;
    std::vector<Key> coming; ///< not yet let in, the earliest last
    std::unique_ptr<CallStream> first;
    std::vector<std::unique_ptr<CallStream>> others; ///< a heap, the earliest in front
};

MergedCalls::MergedCalls(const Trace& trace, std::uint32_t process)
    : state_(std::make_unique<State>(trace, process)) {}

MergedCalls::~MergedCalls() = default;

bool MergedCalls::next(CallRun& run) {
    State& state = *state_;
    state.settle();
    if (!state.first)
        return false;
    run = state.first->take(state.ahead());
    if (!state.first->advance())
        state.first.reset();
    return true;
}

void MergedCalls::done(const CallRun& run) {
    if (run.endsChunk)
        state_->pool.giveBack(run.chunk);
}

} // namespace heapwright::trace
