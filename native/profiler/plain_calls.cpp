// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The short path through the profiler for the most frequent calls. These are an allocation at an
// address where nothing is live, and a free of a live block. Such calls are taken in stretches in
// which nothing else is due: No point of a curve, no sample, no end of a phase or a process. So
// their common part is counted once for all. An unusual call ends a stretch and takes the long path
// of profiler.cpp, which has the same result.
#include <algorithm>

#include "profiler/profiler.hpp"

namespace heapwright::profiler {

using trace::Call;
using trace::CallKind;
using trace::CallRun;
using trace::Event;

namespace {

constexpr std::size_t longest = 512; ///< stretch
constexpr std::size_t ahead = 20;    ///< calls whose places are fetched before they are needed
static_assert(ahead <= trace::CallChunk::behind);

Event eventOf(const CallRun& run, const Call& call) {
    if (call.kind == CallKind::other || call.kind == CallKind::inPlace)
        return run.chunk->others[call.stack];
    Event event;
    event.routine = call.routine;
    event.process = run.process;
    event.thread = run.thread;
    event.time = event.began = call.time;
    event.address = call.address;
    if (call.kind == CallKind::allocation) {
        event.size = call.size;
        event.usable = call.usable;
        event.stack = call.stack;
    }
    return event;
}

} // namespace

/// The short way of some calls of one run. Local copies of the fields that the calls change often.
/// So no field is loaded again because another one was written.
template <bool withSites, bool watched>
class Profiler::Stretch {
public:
    Stretch(Profiler& all, Process& process, const CallRun& run)
        : all_(all), live_(process.live), table_(process.live.table()), run_(run),
          system_(watched ? all.system_ : nullptr), small_(all.sizes_.small()),
          mark_(LiveBlocks::markOf(all.state_.operations, run.thread)), most_(all.timeline_.most()),
          highest_(all.timeline_.peak().bytes), peaks_(all.sites_.peaks()),
          now_{all.state_.bytes, all.state_.usable, all.state_.objects, all.counts_.mostObjects} {
        now_.newest = all.threads_.of(run.thread).newest;
    }

    /// How many calls were applied before one that is not for this way.
    [[gnu::always_inline]] std::size_t apply(const Part& part) {
        const Call* const first = run_.calls + part.at;
        std::size_t done = 0;
        for (; done < part.most && applyOne(first[done]); ++done) {
            table_.prefetch(first[done + ahead].address);
            mark_ += LiveBlocks::markOf(1, 0) - LiveBlocks::markOf(0, 0);
        }
        if (peak_.bytes != 0) {
            all_.timeline_.grown(peak_, peak_.operations);
            all_.sites_.setPeaks(peaks_);
        }
        return done;
    }
    const Sums& sums() const { return now_; }

private:
    [[gnu::always_inline]] bool applyOne(const Call& call) {
        switch (call.kind) {
        case CallKind::allocation:
            return allocate(call);
        case CallKind::free:
            return free(call);
        case CallKind::nullFree:
            ++all_.plain_[static_cast<std::size_t>(call.routine)][0];
            ++now_.nullFrees;
            return true;
        case CallKind::inPlace:
            return shrink(call);
        case CallKind::other:
            break;
        }
        return false;
    }

    [[gnu::always_inline]] bool allocate(const Call& call) {
        LiveBlocks::Place& place = table_.locate(call.address);
        if (place.mark != 0 || call.size == LiveBlocks::large) [[unlikely]]
            return false;
        const std::uint64_t size = call.size;
        const std::uint64_t usable = std::max(call.size, call.usable);
        now_.taken += place.address == 0 ? 1 : 0;
        place.address = call.address;
        place.born = call.time;
        place.mark = mark_;
        place.size = call.size;
        place.usable = static_cast<std::uint32_t>(usable);
        auto& counted = all_.plain_[static_cast<std::size_t>(call.routine)];
        ++counted[0];
        counted[1] += size;
        SizeCount& count = all_.sizes_.of(small_, size);
        ++count.allocations;
        ++count.live;
        now_.newest = mark_;
        if constexpr (withSites)
            siteAllocated(place, call);
        if constexpr (watched)
            began(call.address, size, usable);
        if (call.usable == 0) [[unlikely]]
            now_.usableKnown = now_.usableKnown && call.size == 0;
        now_.bytes += size;
        now_.usable += usable;
        now_.mostObjects = std::max(now_.mostObjects, ++now_.objects);
        if (now_.bytes > most_)
            notePeak(call.time);
        return true;
    }

    [[gnu::always_inline]] void siteAllocated(const LiveBlocks::Place& place, const Call& call) {
        const std::uint32_t number = all_.sites_.number(run_.process, call.stack);
        live_.siteAt(place) = number;
        Site& site = all_.sites_[number];
        site.keepPeak(peaks_);
        ++site.allocations;
        site.bytes += call.size;
        site.live += call.size;
        ++site.liveBlocks;
    }

    [[gnu::always_inline]] void siteEnded(Site& site, std::uint64_t size, std::uint64_t nanoseconds,
                                          bool temporary) const {
        site.keepPeak(peaks_);
        site.temporary += temporary ? 1 : 0;
        site.shortLived += nanoseconds <= shortRetention ? 1 : 0;
        site.live -= size;
        --site.liveBlocks;
    }

    [[gnu::always_inline]] void notePeak(std::uint64_t time) {
        most_ = now_.bytes;
        if (most_ > highest_) {
            highest_ = most_;
            ++peaks_;
        }
        const LiveState& before = all_.state_;
        peak_ = {time,        mark_ >> LiveBlocks::threadBits,
                 now_.bytes,  now_.objects,
                 now_.usable, before.requested + now_.bytes + now_.gone - before.bytes};
    }

    [[gnu::always_inline]] bool free(const Call& call) {
        LiveBlocks::Place& place = table_.locate(call.address);
        if (place.mark == 0 || place.size == LiveBlocks::large) [[unlikely]]
            return false;
        const std::uint64_t size = place.size;
        const std::uint64_t nanoseconds = call.time - place.born;
        const std::uint64_t age = mark_ - place.mark; // operations, and 0 if the thread is the same
        const bool temporary = place.mark == now_.newest;
        now_.temporary += temporary ? 1 : 0;
        ++all_.plain_[static_cast<std::size_t>(call.routine)][0];
        if ((age & LiveBlocks::threadMask) != 0 || nanoseconds > mediumRetention) [[unlikely]] {
            now_.handedOver += place.thread() != run_.thread ? 1U : 0U;
            all_.endedUnusually(place, call.time, (mark_ >> LiveBlocks::threadBits) - 1,
                                run_.thread);
        } else {
            all_.retention_.addQuick(size, nanoseconds, age >> LiveBlocks::threadBits);
        }
        if constexpr (withSites)
            siteEnded(all_.sites_[live_.siteAt(place)], size, nanoseconds, temporary);
        place.mark = 0;
        --all_.sizes_.of(small_, size).live;
        if constexpr (watched)
            ended(call.address, size, place.usable);
        now_.bytes -= size;
        now_.usable -= place.usable;
        --now_.objects;
        now_.gone += size;
        return true;
    }

    /// A realloc that left its block where it was and no larger; no other.
    bool shrink(const Call& call) {
        LiveBlocks::Place& place = table_.locate(call.address);
        if (place.mark == 0 || place.size == LiveBlocks::large || call.size > place.size)
            return false;
        const std::uint32_t usable = std::max(call.size, call.usable);
        if constexpr (watched) {
            ended(call.address, place.size, place.usable);
            began(call.address, call.size, usable);
        }
        RoutineCounts& counts = all_.counts_.routines[static_cast<std::size_t>(call.routine)];
        ++counts.calls;
        counts.bytes += call.size;
        all_.sizes_.resized(place.size, call.size);
        const std::uint64_t less = std::uint64_t{place.size} - call.size;
        if constexpr (withSites) {
            Site& site = all_.sites_[live_.siteAt(place)];
            site.keepPeak(peaks_);
            site.live -= less;
        }
        ++now_.shrunk;
        now_.shrunkBytes += less;
        now_.gone += less;
        now_.bytes -= less;
        now_.usable += usable - std::uint64_t{place.usable};
        place.size = call.size;
        place.usable = usable;
        return true;
    }

    [[gnu::always_inline]] void began(std::uint64_t address, std::uint64_t size,
                                      std::uint64_t usable) {
        all_.heapMap_.began(address, size);
        if (system_ != nullptr)
            system_->allocated(address, usable, run_.thread);
    }
    [[gnu::always_inline]] void ended(std::uint64_t address, std::uint64_t size,
                                      std::uint64_t usable) {
        all_.heapMap_.ended(address, size);
        if (system_ != nullptr)
            system_->freed(address, usable, run_.thread);
    }

    Profiler& all_;
    LiveBlocks& live_;
    const LiveBlocks::Table table_;
    const CallRun& run_;
    SystemView* const system_;
    SizeCount* const small_;
    std::uint64_t mark_;    ///< of a block that this call begins
    std::uint64_t most_;    ///< live bytes that make a peak if they are exceeded
    std::uint64_t highest_; ///< live bytes at the highest peak
    std::uint64_t peaks_;
    Sums now_;
    LiveState peak_; ///< the last, if there was one
};

void Profiler::apply(const CallRun& run) {
    Process& process = processes_[run.process];
    if (run.calls == run.chunk->calls.data()) { // later ones were fetched with those before them
        const LiveBlocks::Table table = process.live.table();
        for (std::size_t at = 0; at < ahead; ++at)
            table.prefetch(run.calls[at].address);
    }
    for (std::size_t at = 0; at < run.count;) {
        const std::size_t most = plainCalls(process, run, at);
        const std::size_t done = most != 0 ? applyPlain(process, {run, at, most}) : 0;
        at += done;
        if (done < most || most == 0) {
            apply(eventOf(run, run.calls[at]));
            ++at;
        }
    }
}

/// The first time at which something is due before the next call.
std::uint64_t Profiler::nextStop() const {
    std::uint64_t stop =
        std::min({timeline_.next(), heapMap_.next(), sites_.next(), moments_.next()});
    if (system_ != nullptr)
        stop = std::min(stop, system_->next());
    if (!closing_.empty())
        stop = std::min(stop, closing_.begin()->first + 1);
    return stop;
}

/// The number of calls that may take the short path, as far as time alone limits it. Work that is
/// due is done first.
std::size_t Profiler::plainCalls(Process& process, const CallRun& run, std::size_t at) {
    const Call* const calls = run.calls + at;
    if (calls->kind == CallKind::other || process.remaining < 2)
        return 0;
    if (state_.operations == moments_.nextOperations()) [[unlikely]]
        takeOperation();
    if (calls->time >= nextStop())
        advance(calls->time);
    state_.time = calls->time;
    if (state_.operations >= phaseEnd_)
        nextPhase();
    const std::uint64_t most = std::min<std::uint64_t>(
        {run.count - at, longest, phaseEnd_ - state_.operations, process.remaining - 1,
         moments_.nextOperations() - state_.operations});
    process.live.reserve(static_cast<std::size_t>(most));
    const std::uint64_t stop = nextStop();
    if (calls[most - 1].time < stop)
        return static_cast<std::size_t>(most);
    const auto due = [stop](const Call& call) { return call.time < stop; };
    return static_cast<std::size_t>(std::partition_point(calls, calls + most, due) - calls);
}

void Profiler::longLived(std::uint64_t operation) {
    pattern_.addLongLived(operation);
    ++phases_.at(operation).longLived;
}

std::size_t Profiler::applyPlain(Process& process, const Part& part) {
    const auto apply = [&]<bool withSites, bool watched>() {
        Stretch<withSites, watched> stretch(*this, process, part.run);
        const std::size_t done = stretch.apply(part);
        if (done != 0)
            keep(stretch.sums(), process, part, done);
        return done;
    };
    const bool watched = part.run.process == mapped_;
    if (stacks_)
        return watched ? apply.operator()<true, true>() : apply.operator()<true, false>();
    return watched ? apply.operator()<false, true>() : apply.operator()<false, false>();
}

/// A block that was kept for long, or that another thread ends than began it.
void Profiler::endedUnusually(const LiveBlocks::Place& place, std::uint64_t time,
                              std::uint64_t operation, std::uint32_t thread) {
    const bool handedOver = place.thread() != thread;
    const Life life{place.size, time - place.born, operation - place.operation(), true, handedOver};
    if (handedOver)
        threads_.handedOver(place.thread(), thread, false);
    retention_.add(life);
    if (life.isLong())
        longLived(place.operation());
}

/// Counts what calls that went the short way have in common.
void Profiler::keep(const Sums& sums, Process& process, const Part& part, std::size_t count) {
    const CallRun& run = part.run;
    const std::uint64_t first = run.calls[part.at].time;
    const std::uint64_t last = run.calls[part.at + count - 1].time;
    // Of those that began and those that ended the sum and the difference are known.
    const std::uint64_t both = count - sums.nullFrees - sums.shrunk;
    const std::uint64_t allocations = (both + sums.objects - state_.objects) / 2;
    const std::uint64_t ended = both - allocations;
    const std::uint64_t requested = sums.bytes + sums.gone - state_.bytes;
    process.remaining -= count;
    process.live.changed(sums.taken, allocations - ended);

    counts_.firstTime = std::min(counts_.firstTime, first);
    counts_.allocations += allocations;
    counts_.bytes += requested;
    counts_.growth += requested;
    counts_.frees += ended + sums.nullFrees;
    counts_.nullFrees += sums.nullFrees;
    counts_.ended += ended;
    counts_.endedBytes += sums.gone - sums.shrunkBytes;
    counts_.shrunkInPlace += sums.shrunk;
    counts_.temporary += sums.temporary;
    counts_.mostObjects = sums.mostObjects;
    counts_.usableKnown &= sums.usableKnown;

    ThreadCounts& thread = threads_.of(run.thread);
    thread.process = run.process;
    thread.first = std::min(thread.first, first);
    thread.last = last;
    thread.allocations += allocations;
    thread.bytes += requested;
    thread.frees += ended;
    thread.newest = sums.newest;

    phase_->allocations += allocations;
    phase_->bytes += requested;
    phase_->ends += ended;
    phase_->handedOver += sums.handedOver;

    if (!stacks_) {
        Site& nowhere = sites_[0];
        nowhere.allocations += allocations;
        nowhere.bytes += requested;
    }
    state_.time = last;
    state_.operations += count;
    if (run.process != mapped_) {
        elsewhere_.bytes += sums.bytes - state_.bytes;
        elsewhere_.usable += sums.usable - state_.usable;
    }
    state_.bytes = sums.bytes;
    state_.usable = sums.usable;
    state_.objects = sums.objects;
    state_.requested += requested;
}

/// Adds the routines of the calls that went the short way to those of the others.
void Profiler::mergePlain() {
    for (std::size_t routine = 0; routine < plain_.size(); ++routine) {
        const auto [calls, bytes] = plain_[routine];
        RoutineCounts& counts = counts_.routines[routine];
        counts.calls += calls;
        if (trace::isFree(static_cast<trace::Routine>(routine)))
            continue;
        counts_.reallocOfNull += trace::isRealloc(static_cast<trace::Routine>(routine)) ? calls : 0;
        counts.allocations += calls;
        counts.bytes += bytes;
        counts.allocated += bytes;
    }
    plain_ = {};
}

} // namespace heapwright::profiler
