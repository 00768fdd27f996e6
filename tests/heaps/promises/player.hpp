// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Carries a history out on a heap, before the eyes of an observer. It is called just after each
// object is taken, and just before and just after each is freed. It is called for each thread that
// has ended, and now and then for a check. Nothing else runs meanwhile.
#pragma once

#include "histories.hpp"
#include "scripted_threads.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace heapwright::testing::promises {

template <class Heap, class Observer>
class Player {
public:
    Player(const Author& author, Heap& heap, Observer& observer)
        : steps_(author.steps()), heap_(heap), observer_(observer), objects_(author.objects()) {}

    /// All that follows each other in one thread is done in one go, up to a limit. In the end all
    /// threads end.
    void play(bool byOne) {
        for (std::size_t at = 0; at < steps_.size();) {
            const Step& first = steps_[at];
            if (first.verb == Step::Verb::end) {
                if (!byOne) {
                    end(first.thread);
                }
                ++at;
                continue;
            }
            std::size_t stop = at;
            while (stop < steps_.size() && stop - at < atOnce &&
                   (byOne || steps_[stop].thread == first.thread) &&
                   steps_[stop].verb != Step::Verb::end) {
                ++stop;
            }
            threads_.run(byOne ? 0 : first.thread, [this, at, stop] { carryOut(at, stop); });
            at = stop;
        }
        for (std::size_t thread = 0; thread < threads; ++thread) {
            end(thread);
        }
    }

private:
    static constexpr std::size_t atOnce = 256;

    void end(std::size_t thread) {
        threads_.end(thread);
        observer_.ended(thread);
    }

    void carryOut(std::size_t at, std::size_t stop) {
        for (; at < stop; ++at) {
            const Step& step = steps_[at];
            auto& [object, size] = objects_[step.object];
            if (step.verb == Step::Verb::take) {
                size = step.size;
                object = heap_.malloc(size);
                observer_.taken(step, object);
            } else {
                observer_.giving(step, object);
                heap_.free(object);
                observer_.given(step, size);
            }
        }
        observer_.paused();
    }

    const std::vector<Step>& steps_;
    Heap& heap_;
    Observer& observer_;
    std::vector<std::pair<void*, std::size_t>> objects_;
    ScriptedThreads threads_{threads}; // last: its threads end before what they use
};

template <class Heap, class Observer>
void play(const Author& author, Heap& heap, Observer& observer, bool byOne = false) {
    Player<Heap, Observer>(author, heap, observer).play(byOne);
}

} // namespace heapwright::testing::promises
