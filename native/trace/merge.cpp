// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Merges the threads event by event.
#include <memory>
#include <utility>

#include "trace/decoder.hpp"
#include "trace/earliest_first.hpp"
#include "trace/reader.hpp"

namespace heapwright::trace {

namespace {

/// One thread's events, with moves split in two on request. The next event is always decoded.
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

    StreamKey key() const { return {head.time, head.thread}; }

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

} // namespace

struct MergedEvents::State {
    State(const Trace& from, Selection what)
        : trace(from), selection(what), streams(from, what.process) {}

    Stream* earliest() {
        return streams.earliest([this](std::uint32_t thread) {
            auto stream = std::make_unique<Stream>(trace, thread);
            return stream->advance(selection.splitMoves) ? std::move(stream) : nullptr;
        });
    }

    const Trace& trace;
    Selection selection;
    EarliestFirst<Stream> streams;
};

MergedEvents::MergedEvents(const Trace& trace, Selection selection)
    : state_(std::make_unique<State>(trace, selection)) {}

MergedEvents::~MergedEvents() = default;
MergedEvents::MergedEvents(MergedEvents&&) noexcept = default;
MergedEvents& MergedEvents::operator=(MergedEvents&&) noexcept = default;

bool MergedEvents::next(Event& event) {
    State& state = *state_;
    Stream* const stream = state.earliest();
    if (stream == nullptr)
        return false;
    event = stream->head;
    if (!stream->advance(state.selection.splitMoves))
        state.streams.drop();
    return true;
}

} // namespace heapwright::trace
