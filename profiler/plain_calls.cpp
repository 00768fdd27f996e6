// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The short way through the profiler for what programs do most: an allocation at an address where
// nothing is live, and a free of what is. Such calls are taken in stretches in which nothing else
// is due (no point of a curve, no sample, no end of a phase or a process), so that what they have
// in common is counted once for all. Whatever is unusual ends a stretch and goes the long way of
// profiler.cpp, which comes to the same.
#include <algorithm>

#include "profiler/profiler.hpp"

namespace heapwright::profile {

using trace::Call;
using trace::CallKind;
using trace::CallRun;
using trace::Event;

namespace {

constexpr std::size_t longest = 512; ///< stretch
constexpr std::ptrdiff_t ahead = 20; ///< calls whose places are fetched before they are needed

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

void Profiler::apply(const CallRun& run) {
    std::size_t fetched = 0;
    for (std::size_t at = 0; at < run.count;) {
        const Call& call = run.calls[at];
        Process& process = processes_[run.process];
        const std::size_t most = plainCalls(process, run, at);
        const Part part{run, at, most};
        const std::size_t done = most == 0 ? 0
                                 : stacks_ ? applyPlain<true>(process, part, fetched)
                                           : applyPlain<false>(process, part, fetched);
        at += done;
        if (done == 0) {
            apply(eventOf(run, call));
            ++at;
        }
    }
}

/// The first time at which something is due before the next call.
std::uint64_t Profiler::nextStop() const {
    std::uint64_t stop = std::min(timeline_.next(), heapMap_.next());
    if (system_ != nullptr)
        stop = std::min(stop, system_->next());
    if (!closing_.empty())
        stop = std::min(stop, closing_.begin()->first + 1);
    return stop;
}

/// How many calls may go the short way as far as nothing but time is asked; what is due is done.
std::size_t Profiler::plainCalls(Process& process, const CallRun& run, std::size_t at) {
    const Call& call = run.calls[at];
    if (call.kind == CallKind::other || process.remaining < 2)
        return 0;
    if (call.time >= nextStop())
        advance(call.time);
    state_.time = call.time;
    if (state_.operations >= phaseEnd_)
        nextPhase();
    const std::uint64_t most = std::min<std::uint64_t>(
        {run.count - at, longest, phaseEnd_ - state_.operations, process.remaining - 1});
    process.live.reserve(static_cast<std::size_t>(most));
    return static_cast<std::size_t>(most);
}

void Profiler::longLived(std::uint64_t operation) {
    pattern_.addLongLived(operation);
    ++phases_.at(operation).longLived;
}

/// How many calls were applied before one that is not for this way.
template <bool withSites>
std::size_t Profiler::applyPlain(Process& process, const Part& part, std::size_t& fetched) {
    const CallRun& run = part.run;
    LiveBlocks& live = process.live;
    const LiveBlocks::Table table = live.table();
    const Call* const calls = run.calls + part.at;
    const std::size_t most = part.most;
    const Call* fetch = run.calls + fetched;
    const Call* const end = run.calls + run.count;
    const bool mapped = run.process == mapped_;
    SystemView* const system = mapped ? system_ : nullptr;
    const std::uint64_t stop = nextStop();
    Stretch now{state_.bytes, state_.usable, state_.objects, counts_.mostObjects};
    std::size_t done = 0;
    for (; done < most; ++done) {
        const Call& call = calls[done];
        if (call.time >= stop)
            break;
        for (const Call* const last = end - &call < ahead ? end : &call + ahead; fetch < last;
             ++fetch)
            table.prefetch(fetch->address);
        auto& counted = plain_[static_cast<std::size_t>(call.routine)];
        if (call.kind == CallKind::allocation) {
            LiveBlocks::Place& place = table.locate(call.address);
            if (place.mark != 0 || call.size == LiveBlocks::large) [[unlikely]]
                break;
            const std::uint64_t size = call.size;
            const std::uint64_t usable = std::max(call.size, call.usable);
            now.taken += place.address == 0 ? 1 : 0;
            place.address = call.address;
            place.born = call.time;
            place.mark = LiveBlocks::markOf(state_.operations + done, run.thread);
            place.size = call.size;
            place.usable = static_cast<std::uint32_t>(usable);
            ++counted[0];
            counted[1] += size;
            sizes_.allocated(size);
            if constexpr (withSites) {
                const std::uint32_t number = sites_.number(run.process, call.stack);
                live.siteAt(place) = number;
                ++sites_[number].allocations;
                sites_[number].bytes += size;
            }
            if (mapped)
                heapMap_.began(call.address, size);
            if (system != nullptr)
                system->allocated(call.address, usable);
            now.usableKnown &= call.usable != 0 || call.size == 0;
            now.bytes += size;
            now.usable += usable;
            ++now.objects;
            now.mostObjects = std::max(now.mostObjects, now.objects);
            const std::uint64_t operations = state_.operations + done + 1;
            timeline_.grown({call.time, operations, now.bytes, now.objects, now.usable,
                             state_.requested + now.bytes + now.gone - state_.bytes},
                            operations);
        } else if (call.kind == CallKind::free) {
            LiveBlocks::Place& place = table.locate(call.address);
            if (place.mark == 0 || place.size == LiveBlocks::large) [[unlikely]]
                break;
            const std::uint64_t size = place.size;
            const std::uint64_t nanoseconds = call.time - place.born;
            const std::uint64_t born = place.operation();
            const std::uint32_t owner = place.thread();
            place.mark = 0;
            ++counted[0];
            if (owner != run.thread) {
                threads_.handedOver(owner, run.thread, false);
                ++now.handedOver;
            }
            retention_.addEnded(size, nanoseconds, state_.operations + done - born,
                                owner != run.thread);
            if (nanoseconds > mediumRetention)
                longLived(born);
            sizes_.ended(size);
            if constexpr (withSites)
                sites_[live.siteAt(place)].shortLived += nanoseconds <= shortRetention ? 1 : 0;
            else
                now.shortLived += nanoseconds <= shortRetention ? 1 : 0;
            if (mapped)
                heapMap_.ended(call.address, size);
            if (system != nullptr)
                system->freed(call.address, place.usable);
            now.bytes -= size;
            now.usable -= place.usable;
            --now.objects;
            ++now.ended;
            now.gone += size;
        } else if (call.kind == CallKind::nullFree) {
            ++counted[0];
            ++now.nullFrees;
        } else if (call.kind != CallKind::inPlace || !shrink(table, call, mapped, now)) {
            break;
        }
    }
    fetched = static_cast<std::size_t>(fetch - run.calls);
    if (done != 0)
        keep(now, process, run, part.at, done);
    return done;
}

/// A realloc that left its block where it was and no larger; of any other this does nothing.
bool Profiler::shrink(const LiveBlocks::Table& table, const Call& call, bool mapped, Stretch& now) {
    LiveBlocks::Place& place = table.locate(call.address);
    if (place.mark == 0 || place.size == LiveBlocks::large || call.size > place.size)
        return false;
    const std::uint32_t usable = std::max(call.size, call.usable);
    if (mapped) {
        heapMap_.ended(call.address, place.size);
        heapMap_.began(call.address, call.size);
        if (system_ != nullptr) {
            system_->freed(call.address, place.usable);
            system_->allocated(call.address, usable);
        }
    }
    RoutineCounts& counts = counts_.routines[static_cast<std::size_t>(call.routine)];
    ++counts.calls;
    counts.bytes += call.size;
    sizes_.resized(place.size, call.size);
    ++now.shrunk;
    now.shrunkBytes += place.size - call.size;
    now.gone += place.size - call.size;
    now.bytes += call.size - std::uint64_t{place.size};
    now.usable += usable - std::uint64_t{place.usable};
    place.size = call.size;
    place.usable = usable;
    return true;
}

/// Counts what calls that went the short way have in common.
void Profiler::keep(const Stretch& stretch, Process& process, const CallRun& run, std::size_t at,
                    std::size_t count) {
    const std::uint64_t first = run.calls[at].time;
    const std::uint64_t last = run.calls[at + count - 1].time;
    const std::uint64_t allocations = count - stretch.ended - stretch.nullFrees - stretch.shrunk;
    const std::uint64_t requested = stretch.bytes + stretch.gone - state_.bytes;
    process.remaining -= count;
    process.live.changed(stretch.taken, allocations - stretch.ended);

    counts_.firstTime = std::min(counts_.firstTime, first);
    counts_.allocations += allocations;
    counts_.bytes += requested;
    counts_.growth += requested;
    counts_.frees += stretch.ended + stretch.nullFrees;
    counts_.nullFrees += stretch.nullFrees;
    counts_.ended += stretch.ended;
    counts_.endedBytes += stretch.gone - stretch.shrunkBytes;
    counts_.shrunkInPlace += stretch.shrunk;
    counts_.mostObjects = stretch.mostObjects;
    counts_.usableKnown &= stretch.usableKnown;

    ThreadCounts& thread = threads_.of(run.thread);
    thread.process = run.process;
    thread.first = std::min(thread.first, first);
    thread.last = last;
    thread.allocations += allocations;
    thread.bytes += requested;
    thread.frees += stretch.ended;

    phase_->allocations += allocations;
    phase_->bytes += requested;
    phase_->ends += stretch.ended;
    phase_->handedOver += stretch.handedOver;

    if (!stacks_) {
        Sites::Site& nowhere = sites_[0];
        nowhere.allocations += allocations;
        nowhere.bytes += requested;
        nowhere.shortLived += stretch.shortLived;
    }
    state_.time = last;
    state_.operations += count;
    state_.bytes = stretch.bytes;
    state_.usable = stretch.usable;
    state_.objects = stretch.objects;
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

} // namespace heapwright::profile
