// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Merges the threads by time. A thread takes part from its first block on, so the memory is that of
// the threads that live at a time, not of all that ever did. The thread that is ahead is read on
// for as long as it stays ahead, which in most programs is many events.
#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "trace/decoder.hpp"
#include "trace/reader.hpp"

namespace heapwright::trace {

namespace {

/// One thread's events, with moves in two if that is asked for; the next one is always at hand.
class Stream {
public:
    Stream(const Trace& trace, std::uint32_t thread) : events_(trace, thread) {}

    bool advance(bool splitMoves) {
        if (waiting_) {
            waiting_ = false;
            head = moved_;
            return true;
        }
        if (!events_.next(head))
            return false;
        const bool gone = head.address != 0 || head.size == 0;
        if (splitMoves && isRealloc(head.routine) && head.old != 0 && head.old != head.address &&
            gone)
            split();
        return true;
    }

    Event head;

private:
    void split() {
        moved_ = head;
        waiting_ = true;
        head = Event{.routine = Routine::release,
                     .process = moved_.process,
                     .thread = moved_.thread,
                     .time = moved_.began,
                     .began = moved_.began,
                     .address = moved_.old};
    }

    ThreadEvents events_;
    Event moved_;
    bool waiting_ = false;
};

using Key = std::pair<std::uint64_t, std::uint32_t>; ///< time, thread

Key keyOf(const Stream& stream) {
    return {stream.head.time, stream.head.thread};
}

struct Later {
    bool operator()(const std::unique_ptr<Stream>& left,
                    const std::unique_ptr<Stream>& right) const {
        return keyOf(*left) > keyOf(*right);
    }
};

} // namespace

struct MergedEvents::State {
    State(const Trace& from, Selection what) : trace(from), selection(what) {
        for (const ThreadInfo& thread : from.threads())
            if (!thread.blocks.empty() &&
                (what.process == Selection::all || thread.process == what.process))
                coming.push_back({thread.firstTime, thread.thread});
        std::sort(coming.begin(), coming.end(), std::greater<>());
    }

    /// Lets threads in whose first block may have something before what is at hand.
    void admit() {
        while (!coming.empty() && (!first || coming.back().first <= first->head.time)) {
            auto stream = std::make_unique<Stream>(trace, coming.back().second);
            coming.pop_back();
            if (stream->advance(selection.splitMoves))
                push(std::move(stream));
            if (!first)
                pop();
        }
    }

    void push(std::unique_ptr<Stream> stream) {
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

    /// Puts the stream with the earliest head first.
    void settle() {
        if (!first)
            pop();
        admit();
        if (first && !others.empty() && keyOf(*others.front()) < keyOf(*first)) {
            push(std::move(first));
            pop();
        }
    }

    const Trace& trace;
    Selection selection;
    std::vector<Key> coming; ///< not yet let in, the earliest last
    std::unique_ptr<Stream> first;
    std::vector<std::unique_ptr<Stream>> others; ///< a heap, the earliest in front
};

MergedEvents::MergedEvents(const Trace& trace, Selection selection)
    : state_(std::make_unique<State>(trace, selection)) {}

MergedEvents::~MergedEvents() = default;
MergedEvents::MergedEvents(MergedEvents&&) noexcept = default;
MergedEvents& MergedEvents::operator=(MergedEvents&&) noexcept = default;

bool MergedEvents::next(Event& event) {
    State& state = *state_;
    state.settle();
    if (!state.first)
        return false;
    event = state.first->head;
    if (!state.first->advance(state.selection.splitMoves))
        state.first.reset();
    return true;
}

} // namespace heapwright::trace
