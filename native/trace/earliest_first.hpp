// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The streams of a trace's threads, merged by time, then by thread. A thread takes part from its
// first block on. Memory is therefore that of the threads that live at one time, not of all
// threads. The leading stream is used as long as it leads, which is long in most programs. `key()`
// of a stream is the time and the thread of its next element.
//
// Cost: one comparison while the same stream leads, else logarithmic in the threads alive.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "trace/reader.hpp"

namespace heapwright::trace {

using StreamKey = std::pair<std::uint64_t, std::uint32_t>; ///< time, thread

template <typename Stream>
class EarliestFirst {
public:
    /// The threads of a process, or of all (`Selection::all`).
    EarliestFirst(const Trace& trace, std::uint32_t process) {
        for (const ThreadInfo& thread : trace.threads())
            if (!thread.blocks.empty() && (process == Selection::all || thread.process == process))
                coming_.push_back({thread.firstTime, thread.thread});
        std::sort(coming_.begin(), coming_.end(), std::greater<>());
    }

    /// The stream with the earliest next element; null at the end. `open(thread)` makes a thread's
    /// stream, or null if the thread has no events.
    template <typename Open>
    Stream* earliest(const Open& open) {
        if (!first_)
            pop();
        admit(open);
        if (first_ && !others_.empty() && others_.front()->key() < first_->key()) {
            push(std::move(first_));
            pop();
        }
        return first_.get();
    }

    /// The earliest has nothing more.
    void drop() { first_.reset(); }

    /// The last time up to which the earliest stays the earliest.
    std::uint64_t ahead() const {
        std::uint64_t last = UINT64_MAX;
        if (!coming_.empty())
            last = coming_.back().first - 1; // it was let in if it were 0
        if (!others_.empty()) {
            const auto [time, thread] = others_.front()->key();
            last = std::min(last, time - (thread < first_->key().second ? 1 : 0));
        }
        return last;
    }

private:
    using Held = std::unique_ptr<Stream>;

    /// Admits threads whose first block may begin before the earliest next element.
    template <typename Open>
    void admit(const Open& open) {
        while (!coming_.empty() && (!first_ || coming_.back().first <= first_->key().first)) {
            Held stream = open(coming_.back().second);
            coming_.pop_back();
            if (stream)
                push(std::move(stream));
            if (!first_)
                pop();
        }
    }

    static bool isLater(const Held& left, const Held& right) { return left->key() > right->key(); }

    void push(Held stream) {
        others_.push_back(std::move(stream));
        std::push_heap(others_.begin(), others_.end(), isLater);
    }

    void pop() {
        if (others_.empty())
            return;
        std::pop_heap(others_.begin(), others_.end(), isLater);
        first_ = std::move(others_.back());
        others_.pop_back();
    }

    std::vector<StreamKey> coming_; ///< not yet let in, the earliest last
    Held first_;
    std::vector<Held> others_; ///< a heap, the earliest in front
};

} // namespace heapwright::trace
