// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The one pass over a trace that finds all of its profile. It takes events in the order of their
// times and keeps the live blocks. Each figure is a part of its own that receives allocations and
// ends. Memory is that of the live blocks, the distinct sizes, threads and sites, and of curves of
// fixed length: never that of the trace.
//
// A realloc that grows or moves its block ends one life and begins another. The old block's life
// lasts until the entry of the call, and the new one's starts at its return. Live memory changes
// once, at the return. One that leaves the block where it was and no larger only changes its size.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "profiler/heap_map.hpp"
#include "profiler/json.hpp"
#include "profiler/live_blocks.hpp"
#include "profiler/live_state.hpp"
#include "profiler/moments.hpp"
#include "profiler/pattern.hpp"
#include "profiler/phases.hpp"
#include "profiler/retention.hpp"
#include "profiler/sites.hpp"
#include "profiler/sizes.hpp"
#include "profiler/system_view.hpp"
#include "profiler/threads.hpp"
#include "profiler/timeline.hpp"
#include "trace/call.hpp"
#include "trace/event.hpp"

namespace heapwright::profiler {

/// What is known of a process before the pass.
struct ProcessPlan {
    std::uint64_t events = 0; ///< that will come
    std::uint64_t end = 0;    ///< ns; 0 = not known
    bool isRoot = true;       ///< the recorded root process; while its end is unknown it lasts to
                              ///< the end
    bool isForked = false;    ///< it began with its parent's blocks
};

/// What is known of a trace before the pass.
struct Plan {
    std::vector<ProcessPlan> processes;
    std::size_t threads = 0;
    std::uint64_t events = 0;
    std::uint64_t duration = 0; ///< ns; need not be right
    bool stacks = false;        ///< allocations may have stacks
};

/// The process that makes most calls: the one whose addresses are looked at.
std::uint32_t busiestOf(const Plan& plan);

/// The calls of one routine.
struct RoutineCounts {
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;       ///< of calls that gave a block
    std::uint64_t allocations = 0; ///< of these, what counts as an allocation
    std::uint64_t allocated = 0;   ///< and its bytes
    std::uint64_t failed = 0;
};

struct Counts {
    std::array<RoutineCounts, 32> routines{};
    std::uint64_t frees = 0;
    std::uint64_t nullFrees = 0;
    std::uint64_t unknownFrees = 0;
    std::uint64_t inheritedFrees = 0;
    std::uint64_t overwritten = 0;
    std::uint64_t allocations = 0;
    std::uint64_t bytes = 0;
    std::uint64_t growth = 0; ///< bytes as the C library's memusage counts them
    std::uint64_t ended = 0;
    std::uint64_t endedBytes = 0;
    std::uint64_t temporary = 0; ///< of these, before another allocation of their thread
    std::uint64_t neverFreed = 0;
    std::uint64_t neverFreedBytes = 0;
    std::uint64_t failed = 0;
    std::uint64_t reallocOfNull = 0;
    std::uint64_t grownInPlace = 0;
    std::uint64_t moved = 0;
    std::uint64_t shrunkInPlace = 0;
    std::uint64_t freedByRealloc = 0;
    std::uint64_t reallocFailed = 0;
    std::uint64_t mostObjects = 0;
    std::uint64_t firstTime = UINT64_MAX;
    bool usableKnown = true;
};

class Profiler {
public:
    /// `system` receives the live blocks and their addresses, if it is not null. It must outlive
    /// the profiler.
    explicit Profiler(const Plan& plan, SystemView* system = nullptr,
                      const trace::StackTable* stacks = nullptr, WantedMoments moments = {});

    /// The next call, in the order of times.
    void apply(const trace::Event& event);
    /// The same of many calls: what programs do most is done in few instructions.
    void apply(const trace::CallRun& run);
    /// After the last one: what is live now was never freed.
    void finish();

    const Counts& counts() const { return counts_; }
    const LiveState& state() const { return state_; }
    const LiveState& peak() const { return timeline_.peak(); }
    /// The requested moments; complete after `finish`.
    const Moments& moments() const { return moments_; }

    /// All fields of the document but its name and the provenance.
    void write(Json& json) const;
    const Sites& sites() const { return sites_; }

private:
    /// A block that a realloc has released, until its return is reported.
    struct Released {
        std::uint32_t thread;
        std::uint64_t time;
        Block block;
    };
    struct Process {
        LiveBlocks live;
        std::vector<Released> released;
        std::uint64_t remaining = 0;
        std::uint64_t end = 0;
        bool isRoot = true;
        bool isForked = false;
    };
    /// How a block ends.
    struct End {
        std::uint64_t time;
        std::uint32_t thread;
        bool byRealloc;
    };

    void allocate(Process& process, const trace::Event& event);
    void reallocate(Process& process, const trace::Event& event);
    void reallocateInPlace(Process& process, const trace::Event& event);
    void release(Process& process, const trace::Event& event);
    void free(Process& process, const trace::Event& event);
    void fail(const trace::Event& event);
    void unknown(const Process& process);

    void begin(Process& process, const trace::Event& event);
    /// The block that a realloc was given, no more in the table; nothing if it is not known.
    std::optional<Released> takeOld(Process& process, const trace::Event& event);
    void end(const Block& block, std::uint32_t process, const End& how);
    void settle(const Block& block, std::uint32_t process, const Life& life, std::uint32_t thread);
    void resize(Process& process, const Block& block, const trace::Event& event);
    void grown();
    void blockBegan(std::uint32_t process, const Block& block);
    void blockEnded(std::uint32_t process, const Block& block, std::uint32_t thread);

    /// What calls that went the short way come to.
    struct Sums {
        std::uint64_t bytes; ///< live, as the rest up to `most`
        std::uint64_t usable;
        std::uint64_t objects;
        std::uint64_t mostObjects;
        std::uint64_t taken = 0; ///< places of the table
        std::uint64_t nullFrees = 0;
        std::uint64_t gone = 0; ///< bytes that ended, and by which blocks shrank
        std::uint64_t shrunk = 0;
        std::uint64_t shrunkBytes = 0;
        std::uint64_t handedOver = 0;
        std::uint64_t temporary = 0;
        std::uint64_t newest = 0; ///< mark of the thread's last allocation
        bool usableKnown = true;
    };
    /// `count` calls of a run, from a place on.
    struct Part {
        const trace::CallRun& run;
        std::size_t at;
        std::size_t most;
    };
    template <bool withSites, bool watched>
    class Stretch;
    std::size_t plainCalls(Process& process, const trace::CallRun& run, std::size_t at);
    std::size_t applyPlain(Process& process, const Part& part);
    void keep(const Sums& sums, Process& process, const Part& part, std::size_t count);
    [[gnu::noinline]] void endedUnusually(const LiveBlocks::Place& place, std::uint64_t time,
                                          std::uint64_t operation, std::uint32_t thread);
    void longLived(std::uint64_t operation);
    std::uint64_t nextStop() const;
    void mergePlain();

    void advance(std::uint64_t time);
    void count(Process& process, const trace::Event& event);
    void takeMoments(std::uint64_t time);
    void takeOperation();
    Moment momentAt(std::uint64_t time) const;
    void closeProcess(std::uint32_t process);
    void closeUntil(std::uint64_t time);
    void abandon(std::uint32_t process);
    void nextPhase();

    void writeTotals(Json& json) const;
    void writeRoutines(Json& json) const;
    void writeDetail(Json& json) const;
    void writePeak(Json& json) const;

    std::vector<Process> processes_;
    LiveState state_;
    Counts counts_;
    Sizes sizes_;
    Retention retention_;
    Pattern pattern_;
    Timeline timeline_;
    Phases phases_;
    std::array<std::array<std::uint64_t, 2>, 32> plain_{}; ///< calls and bytes, by routine
    Phases::Cell* phase_ = nullptr; ///< of the operation that is being applied
    std::uint64_t phaseEnd_ = 0;    ///< the first operation that is not in it
    HeapMap heapMap_;
    std::uint32_t mapped_; ///< the process whose addresses are looked at
    SystemView* system_;
    LiveState elsewhere_; ///< bytes of it that are live in other processes than that one
    bool stacks_;
    Threads threads_;
    Sites sites_;
    Moments moments_;
    std::multimap<std::uint64_t, std::uint32_t> closing_; ///< processes by when they end
};

} // namespace heapwright::profiler
