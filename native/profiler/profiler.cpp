// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What each call does to what is live, and which parts of the profile hear of it.
#include "profiler/profiler.hpp"

#include <algorithm>
#include <utility>

namespace heapwright::profiler {

using trace::Event;
using trace::Routine;

namespace {

std::uint32_t slackOf(const Event& event) {
    const std::uint64_t slack = event.usable > event.size ? event.usable - event.size : 0;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(slack, UINT32_MAX));
}

/// The mark of a block in the table.
std::uint64_t markOf(const Block& block) {
    return LiveBlocks::markOf(block.operation & 0xFF'FFFF'FFFF, block.thread);
}

std::uint64_t since(std::uint64_t earlier, std::uint64_t time) {
    return time > earlier ? time - earlier : 0;
}

} // namespace

std::uint32_t busiestOf(const Plan& plan) {
    const auto most = std::max_element(
        plan.processes.begin(), plan.processes.end(),
        [](const ProcessPlan& a, const ProcessPlan& b) { return a.events < b.events; });
    return static_cast<std::uint32_t>(most - plan.processes.begin());
}

Profiler::Profiler(const Plan& plan, SystemView* system, const trace::StackTable* stacks,
                   WantedMoments moments)
    : processes_(plan.processes.size()), timeline_(sizes_, plan.duration), phases_(plan.events),
      heapMap_(busiestOf(plan), plan.duration), mapped_(heapMap_.process()), system_(system),
      stacks_(plan.stacks), threads_(plan.threads),
      sites_(plan.stacks ? SiteCourse(plan.duration) : SiteCourse(), stacks),
      moments_(std::move(moments)) {
    for (std::size_t at = 0; at < processes_.size(); ++at) {
        processes_[at].remaining = plan.processes[at].events;
        processes_[at].end = plan.processes[at].end;
        processes_[at].isRoot = plan.processes[at].isRoot;
        processes_[at].isForked = plan.processes[at].isForked;
    }
}

void Profiler::apply(const Event& event) {
    if (state_.operations == moments_.nextOperations()) [[unlikely]]
        takeOperation();
    advance(event.time);
    Process& process = processes_[event.process];
    if (event.routine == Routine::release) {
        release(process, event);
        return;
    }
    if (state_.operations >= phaseEnd_) [[unlikely]]
        nextPhase();
    count(process, event);
    if (trace::isFree(event.routine))
        free(process, event);
    else if (event.old != 0 && trace::isRealloc(event.routine))
        reallocate(process, event);
    else
        allocate(process, event);
    ++state_.operations;
    if (process.remaining == 0)
        closeProcess(event.process);
}

/// Time goes on: curves take their points before anything changes.
void Profiler::advance(std::uint64_t time) {
    if (!closing_.empty() && time > closing_.begin()->first) [[unlikely]]
        closeUntil(time);
    timeline_.advance(state_, time);
    heapMap_.advance(time);
    sites_.advance(time);
    if (time >= moments_.next()) [[unlikely]]
        takeMoments(time);
    if (system_ != nullptr)
        system_->advance(time, state_.bytes - elsewhere_.bytes, state_.usable - elsewhere_.usable);
    state_.time = time;
}

/// The moments up to `time`, before anything changes.
void Profiler::takeMoments(std::uint64_t time) {
    while (moments_.next() <= time && moments_.remains())
        moments_.takeNext(momentAt(moments_.next()));
}

void Profiler::takeOperation() {
    moments_.takeOperation(momentAt(state_.time));
}

/// What is live now. A block that a realloc has released is live until the call's return.
Moment Profiler::momentAt(std::uint64_t time) const {
    Moment moment{state_, {}, {}};
    moment.state.time = time;
    if (stacks_) {
        const std::vector<Site>& sites = sites_.all();
        for (std::uint32_t number = 0; number < sites.size(); ++number)
            if (sites[number].liveBlocks != 0)
                moment.held.push_back({number, sites[number].liveBlocks, sites[number].live});
    }
    if (!moments_.countsPages())
        return moment;
    PageCensus pages;
    for (std::uint32_t number = 0; number < processes_.size(); ++number) {
        processes_[number].live.forEach([&](const Block& block) { pages.add(number, block); });
        for (const Released& released : processes_[number].released)
            pages.add(number, released.block);
    }
    moment.pins = pages.count();
    return moment;
}

void Profiler::count(Process& process, const Event& event) {
    counts_.firstTime = std::min(counts_.firstTime, event.time);
    ++counts_.routines[static_cast<std::size_t>(event.routine)].calls;
    ThreadCounts& thread = threads_.of(event.thread);
    thread.process = event.process;
    thread.first = std::min(thread.first, event.time);
    thread.last = event.time;
    process.remaining -= process.remaining != 0 ? 1 : 0;
}

void Profiler::nextPhase() {
    if (phase_ != nullptr)
        phase_->last = state_;
    phase_ = &phases_.at(state_.operations);
    phaseEnd_ = phases_.endOf(state_.operations);
}

void Profiler::free(Process& process, const Event& event) {
    ++counts_.frees;
    if (event.address == 0) {
        ++counts_.nullFrees;
        return;
    }
    ++threads_.of(event.thread).frees;
    const std::optional<Block> block = process.live.find(event.address);
    if (!block) {
        unknown(process);
        return;
    }
    process.live.remove(event.address);
    end(*block, event.process, {event.time, event.thread, false});
}

void Profiler::allocate(Process& process, const Event& event) {
    if (event.address == 0) {
        fail(event);
        return;
    }
    if (trace::isRealloc(event.routine))
        ++counts_.reallocOfNull;
    counts_.growth += event.size;
    counts_.routines[static_cast<std::size_t>(event.routine)].bytes += event.size;
    begin(process, event);
    grown();
}

void Profiler::fail(const Event& event) {
    ++counts_.failed;
    ++counts_.routines[static_cast<std::size_t>(event.routine)].failed;
    if (trace::isRealloc(event.routine))
        ++counts_.reallocFailed;
}

void Profiler::unknown(const Process& process) {
    ++(process.isForked ? counts_.inheritedFrees : counts_.unknownFrees);
}

void Profiler::release(Process& process, const Event& event) {
    const std::optional<Block> block = process.live.find(event.address);
    if (!block)
        return; // its realloc will find that it is not known
    process.released.push_back({event.thread, event.time, *block});
    process.live.remove(event.address);
}

std::optional<Profiler::Released> Profiler::takeOld(Process& process, const Event& event) {
    auto& released = process.released;
    for (auto each = released.rbegin(); each != released.rend(); ++each)
        if (each->thread == event.thread && each->block.address == event.old) {
            const Released taken = *each;
            *each = released.back();
            released.pop_back();
            return taken;
        }
    const std::optional<Block> block = process.live.find(event.old);
    if (!block || block->born > event.began)
        return {}; // not known; or another thread has got its address since
    process.live.remove(event.old);
    return Released{event.thread, event.began, *block};
}

void Profiler::reallocate(Process& process, const Event& event) {
    if (event.address == 0 && event.size != 0) {
        fail(event);
        return;
    }
    RoutineCounts& routine = counts_.routines[static_cast<std::size_t>(event.routine)];
    if (event.address != 0)
        routine.bytes += event.size;
    if (event.address == event.old) {
        reallocateInPlace(process, event);
        return;
    }
    ++(event.address == 0 ? counts_.freedByRealloc : counts_.moved);
    const std::optional<Released> old = takeOld(process, event);
    if (old)
        end(old->block, event.process, {old->time, event.thread, true});
    else
        unknown(process);
    if (event.address != 0) {
        counts_.growth += since(old ? old->block.size : 0, event.size);
        begin(process, event);
        grown();
    }
}

void Profiler::reallocateInPlace(Process& process, const Event& event) {
    const std::optional<Block> block = process.live.find(event.address);
    const std::uint64_t before = block ? block->size : 0;
    if (!block)
        unknown(process);
    else if (event.size <= before) {
        ++counts_.shrunkInPlace;
        resize(process, *block, event);
        return;
    }
    ++counts_.grownInPlace;
    counts_.growth += event.size - before;
    if (block) {
        process.live.remove(event.address);
        end(*block, event.process, {event.began, event.thread, true});
    }
    begin(process, event);
    grown();
}

/// A block keeps its place and its age, and has another size.
void Profiler::resize(Process& process, const Block& block, const Event& event) {
    const std::uint32_t slack = slackOf(event);
    state_.bytes += event.size - block.size;
    state_.usable += event.size + slack - block.size - block.slack;
    sizes_.resized(block.size, event.size);
    sites_.changing(block.site).live += event.size - block.size;
    blockEnded(event.process, block, block.thread);
    process.live.resize(block.address, event.size, slack);
    Block resized = block;
    resized.size = event.size;
    resized.slack = slack;
    blockBegan(event.process, resized);
}

void Profiler::begin(Process& process, const Event& event) {
    if (const auto before = process.live.find(event.address); before) [[unlikely]] {
        process.live.remove(event.address);
        ++counts_.overwritten;
        end(*before, event.process, {event.time, before->thread, false});
    }
    Block block;
    block.address = event.address;
    block.born = event.time;
    block.size = event.size;
    block.operation = state_.operations;
    block.thread = event.thread;
    block.slack = slackOf(event);
    block.site = sites_.number(event.process, event.stack);
    process.live.insert(block);

    ++counts_.allocations;
    counts_.bytes += event.size;
    counts_.usableKnown &= event.usable != 0 || event.size == 0;
    RoutineCounts& routine = counts_.routines[static_cast<std::size_t>(event.routine)];
    ++routine.allocations;
    routine.allocated += event.size;
    sizes_.allocated(event.size);
    blockBegan(event.process, block);
    ThreadCounts& thread = threads_.of(event.thread);
    ++thread.allocations;
    thread.bytes += event.size;
    thread.newest = markOf(block);
    Site& site = sites_.changing(block.site);
    ++site.allocations;
    site.bytes += event.size;
    site.live += event.size;
    ++site.liveBlocks;
    ++phase_->allocations;
    phase_->bytes += event.size;
    state_.bytes += event.size;
    state_.usable += event.size + block.slack;
    state_.requested += event.size;
    ++state_.objects;
}

/// Reported after the call is counted, so that a peak names the operation that made it.
void Profiler::grown() {
    counts_.mostObjects = std::max(counts_.mostObjects, state_.objects);
    if (state_.bytes > timeline_.peak().bytes)
        sites_.newPeak();
    timeline_.grown(state_, state_.operations + 1);
}

/// Those that look at addresses hear of the blocks of one process only.
void Profiler::blockBegan(std::uint32_t process, const Block& block) {
    if (process != mapped_) {
        elsewhere_.bytes += block.size;
        elsewhere_.usable += block.size + block.slack;
        return;
    }
    heapMap_.began(block.address, block.size);
    if (system_ != nullptr)
        system_->allocated(block.address, block.size + block.slack, block.thread);
}

void Profiler::blockEnded(std::uint32_t process, const Block& block, std::uint32_t thread) {
    if (process != mapped_) {
        elsewhere_.bytes -= block.size;
        elsewhere_.usable -= block.size + block.slack;
        return;
    }
    heapMap_.ended(block.address, block.size);
    if (system_ != nullptr)
        system_->freed(block.address, block.size + block.slack, thread);
}

void Profiler::end(const Block& block, std::uint32_t process, const End& how) {
    const bool handedOver = block.thread != how.thread;
    const Life life{block.size, since(block.born, how.time), state_.operations - block.operation,
                    true, handedOver};
    ++counts_.ended;
    counts_.endedBytes += block.size;
    ++phase_->ends;
    if (handedOver) {
        threads_.handedOver(block.thread, how.thread, how.byRealloc);
        ++phase_->handedOver;
    }
    if (life.nanoseconds <= shortRetention)
        ++sites_[block.site].shortLived;
    if (markOf(block) == threads_.of(how.thread).newest) {
        ++counts_.temporary;
        ++sites_[block.site].temporary;
    }
    settle(block, process, life, how.thread);
}

/// What is done when a life is known, whether it ended or not.
void Profiler::settle(const Block& block, std::uint32_t process, const Life& life,
                      std::uint32_t thread) {
    retention_.add(life);
    if (life.isLong())
        longLived(block.operation);
    sizes_.ended(block.size);
    Site& site = sites_.changing(block.site);
    site.live -= block.size;
    --site.liveBlocks;
    blockEnded(process, block, thread);
    state_.bytes -= block.size;
    state_.usable -= block.size + block.slack;
    --state_.objects;
}

/// No more calls come from a process. What it has left is live until its end.
void Profiler::closeProcess(std::uint32_t number) {
    const Process& process = processes_[number];
    if (process.end != 0)
        closing_.emplace(std::max(process.end, state_.time), number);
    else if (!process.isRoot)
        closing_.emplace(state_.time, number);
}

void Profiler::closeUntil(std::uint64_t time) {
    while (!closing_.empty() && closing_.begin()->first < time) {
        const auto [end, number] = *closing_.begin();
        closing_.erase(closing_.begin());
        timeline_.advance(state_, end);
        heapMap_.advance(end);
        sites_.advance(end);
        takeMoments(end);
        state_.time = std::max(state_.time, end);
        abandon(number);
    }
}

/// No block of a process is live after its end. The blocks that were live have never been freed.
void Profiler::abandon(std::uint32_t number) {
    Process& process = processes_[number];
    const auto leave = [&](const Block& block) {
        Site& site = sites_[block.site];
        ++site.neverFreed;
        site.neverFreedBytes += block.size;
        ++counts_.neverFreed;
        counts_.neverFreedBytes += block.size;
        settle(block, number, {block.size, 0, 0, false, false}, block.thread);
    };
    process.live.forEach(leave);
    for (const Released& released : process.released)
        leave(released.block);
    process.live = {};
    process.released = {};
}

void Profiler::finish() {
    mergePlain();
    if (!stacks_) { // the short way leaves them to be counted here
        std::uint64_t elsewhere = 0;
        for (const Site& site : sites_.all())
            elsewhere += site.shortLived;
        sites_[0].shortLived += retention_.shortLived() - elsewhere;
    }
    if (state_.operations == moments_.nextOperations())
        takeOperation();
    while (moments_.remains())
        moments_.takeNext(momentAt(state_.time));
    timeline_.finish(state_);
    heapMap_.finish(state_.time);
    sites_.finish(state_.time);
    if (system_ != nullptr)
        system_->finish(state_.bytes - elsewhere_.bytes, state_.usable - elsewhere_.usable);
    if (phase_ != nullptr)
        phase_->last = state_;
    const LiveState last = state_;
    closing_.clear();
    for (std::uint32_t number = 0; number < processes_.size(); ++number)
        abandon(number);
    state_ = last;
}

} // namespace heapwright::profiler
