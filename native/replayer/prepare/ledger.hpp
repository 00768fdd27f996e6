// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Goes through a process's calls in recorded order and says of each what it does to which object.
// Mistakes of a trace are decided here, once for both passes. A call that failed is left out, and
// so is a free of an unknown address. A realloc of such an address makes a new object. An address
// that is returned while its object is live ends that object. The live requested bytes are counted
// as the profile counts them. A realloc that moves its block gives up the old one when it is
// entered.
#pragma once

#include "live.hpp"

#include "trace/reader.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace heapwright::replayer {

enum class Action : std::uint8_t {
    allocate,
    free,     ///< of `old`, or of null
    resize,   ///< `old` becomes `made`; an object without an address: none
    released, ///< `old` will be given up by a realloc that is under way; no call of its own
    skip,     ///< the call cannot be replayed
};

/// One call, as it is to be replayed.
struct Step {
    trace::Event event;
    Action act = Action::skip;
    std::uint32_t thread = 0;    ///< index of the plan's thread
    Object old{};                ///< what it ends
    bool wasReleased = false;    ///< and a step before this one has said so
    Object overwritten{};        ///< what has to be freed before it, for its free was not seen
    Object* made = nullptr;      ///< what it makes, in the ledger until the next step
    std::uint64_t operation = 0; ///< this call's number, from 1
};

class Ledger {
public:
    /// `indexOf` maps the trace's threads to the plan's.
    Ledger(const trace::Trace& trace, std::uint32_t process,
           const std::vector<std::uint32_t>& indexOf);

    bool next(Step& step);

    const Oddities& oddities() const { return oddities_; }
    std::uint64_t operations() const { return operations_; }
    std::uint64_t allocations() const { return allocations_; } ///< objects made so far
    std::uint64_t peakBytes() const { return peakBytes_; }
    std::uint64_t peakObjects() const { return peakObjects_; }
    std::uint64_t peakOperation() const { return peakOperation_; }
    std::uint64_t first() const { return first_; }       ///< ns, when the first call was
    std::uint64_t now() const { return last_ - first_; } ///< ns after that, never decreasing
    /// Counts what is still live; call it at the end.
    void close();

private:
    void allocate(Step& step);
    void release(Step& step);
    void resize(Step& step);
    void end(Step& step);
    void make(Step& step);
    void left(const Object& object);

    trace::MergedEvents events_;
    const std::vector<std::uint32_t>& indexOf_;
    LiveObjects live_;
    std::unordered_map<std::uint32_t, Object> moving_; ///< by thread, what its realloc gave up
    Oddities oddities_{};
    std::uint64_t operations_ = 0;
    std::uint64_t allocations_ = 0;
    std::uint64_t liveBytes_ = 0;
    std::uint64_t peakBytes_ = 0;
    std::uint64_t peakObjects_ = 0;
    std::uint64_t peakOperation_ = 0;
    std::uint64_t first_ = 0;
    std::uint64_t last_ = 0;
};

} // namespace heapwright::replayer
