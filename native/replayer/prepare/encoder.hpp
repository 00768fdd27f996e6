// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Turns the steps of a ledger into commands. It decides where each object is held. In the recorded
// order it passes the turn at each place where another thread made the next call. In the bounded
// order each thread enters the windows in which it has calls.
#pragma once

#include "interlude.hpp"
#include "ledger.hpp"
#include "slots.hpp"
#include "windows.hpp"
#include "writer.hpp"

#include <cstdint>
#include <vector>

namespace heapwright::replayer {

class Encoder {
public:
    /// `passed` says by an allocation's number whether another thread will end the object.
    /// `interlude` writes the commands between calls; null if there are none.
    Encoder(PlanWriter& writer, const std::vector<bool>& passed, std::size_t threads,
            const PlanHeader& header, Interlude* interlude);

    /// Commands for one step; `first` is when the plan's first call was, ns.
    void encode(Step& step, std::uint64_t first);

    std::uint64_t ownSlots(std::size_t thread) const { return own_[thread].used(); }
    std::uint64_t sharedSlots() const { return shared_.used(); }
    std::uint32_t firstWindow(std::size_t thread) const { return places_[thread].first; }

private:
    /// A command that is being put together.
    struct Command {
        std::uint64_t words[command::mostWords];
        std::size_t count = 1;

        void add(std::uint64_t word) { words[count++] = word; }
    };

    /// Where a thread is in the bounded order.
    struct Place {
        std::uint32_t first = endOfWindows;
        std::uint32_t window = endOfWindows;
    };

    void takeTurn(std::uint32_t thread);
    void enterWindow(const Step& step);
    void waitUntil(const Step& step, std::uint64_t first);
    void allocate(const Step& step);
    void free(const Step& step);
    void freeObject(const Object& object, trace::Routine routine, std::uint32_t thread,
                    std::uint64_t flags);
    void resize(const Step& step);
    SlotUse slotFor(Object& object);
    void leave(const Object& object);
    Command begin(trace::Routine routine, std::size_t slot, std::uint64_t size, std::uint64_t flags,
                  std::uint64_t alignment);
    void put(std::uint32_t thread, const Command& made) {
        writer_.add(thread, {made.words, made.count});
    }

    PlanWriter& writer_;
    Interlude* interlude_;
    const std::vector<bool>& passed_;
    std::vector<OwnSlots> own_;
    SharedSlots shared_;
    Windows windows_;
    std::vector<Place> places_;       ///< by thread
    std::vector<std::uint64_t> told_; ///< by thread, the time of its last wait command
    std::uint32_t turn_ = 0;
    bool ordered_;
    bool bounded_;
    bool paced_;
};

} // namespace heapwright::replayer
