// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See crew.hpp.
#include "crew.hpp"

#include "leaving.hpp"
#include "memory.hpp"
#include "pace.hpp"
#include "performing.hpp"
#include "plan_file.hpp"
#include "waiting.hpp"

#include <heapwright/platform/ticks.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <dlfcn.h>
#include <limits>
#include <malloc.h>
#include <new>
#include <pthread.h>

namespace heapwright::replayer {

namespace {

constexpr std::size_t stackBytes = std::size_t{256} << 10;

/// malloc_usable_size, if it belongs to who gives malloc here.
UsableSize usableSizeHere() {
    void* const given = ::dlsym(RTLD_DEFAULT, "malloc");
    void* const asked = ::dlsym(RTLD_DEFAULT, "malloc_usable_size");
    Dl_info ofMalloc{};
    Dl_info ofSize{};
    const bool same = given != nullptr && asked != nullptr && ::dladdr(given, &ofMalloc) != 0 &&
                      ::dladdr(asked, &ofSize) != 0 && ofMalloc.dli_fbase == ofSize.dli_fbase;
    return same ? &::malloc_usable_size : nullptr;
}

double seconds(const timeval& from, const timeval& to) {
    return static_cast<double>(to.tv_sec - from.tv_sec) +
           1e-6 * static_cast<double>(to.tv_usec - from.tv_usec);
}

/// Whether no thread makes more calls than a histogram can hold.
bool isCountable(const Plan& plan) {
    return std::all_of(plan.threads.begin(), plan.threads.end(), [](const PlanThread& thread) {
        return thread.calls <= std::numeric_limits<std::uint32_t>::max();
    });
}

class Crew {
public:
    Crew(const Plan& plan, const RunOptions& options, Watched& watched);

    Outcome replay();

private:
    struct Member {
        Worker worker;
        Crew* crew = nullptr;
        Member* endedBefore = nullptr; ///< in the list of those that have ended
        pthread_t thread{};
    };

    void equip(Member& member, const PlanThread& plan);
    void perform(Worker& worker);
    template <Touch touch>
    void performTouching(Worker& worker);
    void end(Member& member);
    void startOthers();
    std::size_t joinEnded();
    void await(std::size_t most);
    void gather(Outcome& outcome);

    static void* runMember(void* member);
    static void* runStarter(void* crew);

    const Plan& plan_;
    const RunOptions& options_;
    Watched& watched_;
    UsableSize usableSize_;
    bool timed_;
    OwnMemory memory_;
    std::span<Member> members_;
    std::size_t alive_ = 1; ///< started and not yet joined; the starter's alone
    std::atomic<Member*> ended_{nullptr};
    std::atomic<std::uint32_t> ends_{0}; ///< how many have ended; the starter sleeps on it
    std::atomic<std::uint32_t> begun_{0};
    std::uint64_t beganAt_ = 0;
};

Crew::Crew(const Plan& plan, const RunOptions& options, Watched& watched)
    : plan_(plan), options_(options), watched_(watched), usableSize_(usableSizeHere()),
      timed_(options.latencies && platform::steadyTicks() && isCountable(plan)) {
    const std::size_t count = plan.threads.size();
    members_ = {memory_.array<Member>(count), count};
    auto* const places = memory_.array<HandOvers::Place>(plan.header.sharedPlaces);
    auto* const turns = memory_.array<Turn>(plan.header.ordered != 0 ? count : 0);
    for (std::size_t at = 0; at < count; ++at) {
        Member& member = *new (&members_[at]) Member;
        member.crew = this;
        member.worker.index = at;
        member.worker.shared = HandOvers(places);
        member.worker.turns = turns;
        equip(member, plan.threads[at]);
    }
}

void Crew::equip(Member& member, const PlanThread& plan) {
    Worker& worker = member.worker;
    worker.plan = &plan;
    worker.own = memory_.array<void*>(plan.places);
    char* const buffer = plan_.mapped != nullptr
                             ? nullptr
                             : memory_.array<char>(std::min(largestChunk, plan.allBytes));
    worker.feed = Feed(plan_.file, plan_.mapped, buffer, {plan.chunk, plan.chunkBytes});
    for (unsigned routine = 0; routine < routines; ++routine) {
        if ((plan.routines >> routine & 1U) != 0) {
            worker.histograms[routine] = memory_.array<Histogram>(1);
        }
    }
}

template <Touch touch>
void Crew::performTouching(Worker& worker) {
    if (timed_) {
        using Policy = Touching<touch, true>;
        Performance<Policy>::perform(worker, Policy{usableSize_});
    } else {
        using Policy = Touching<touch, false>;
        Performance<Policy>::perform(worker, Policy{usableSize_});
    }
}

void Crew::perform(Worker& worker) {
    worker.began = beganAt_;
    if (watched_.check != nullptr || watched_.curve != nullptr) {
        Performance<Watching>::perform(worker, Watching(watched_));
        return;
    }
    switch (options_.touch) {
    case Touch::none:
        return performTouching<Touch::none>(worker);
    case Touch::firstByte:
        return performTouching<Touch::firstByte>(worker);
    case Touch::all:
        return performTouching<Touch::all>(worker);
    case Touch::recordedSize:
        return performTouching<Touch::recordedSize>(worker);
    }
}

void Crew::end(Member& member) {
    member.endedBefore = ended_.load(std::memory_order_relaxed);
    while (!ended_.compare_exchange_weak(member.endedBefore, &member, std::memory_order_release,
                                         std::memory_order_relaxed)) {
    }
    ends_.fetch_add(1, std::memory_order_release);
    wakeAll(&ends_);
}

void* Crew::runMember(void* argument) {
    Member& member = *static_cast<Member*>(argument);
    member.crew->perform(member.worker);
    member.crew->end(member);
    return nullptr;
}

void* Crew::runStarter(void* argument) {
    Crew& crew = *static_cast<Crew*>(argument);
    while (crew.begun_.load(std::memory_order_acquire) == 0) {
        sleepWhile(&crew.begun_, 0);
    }
    crew.startOthers();
    return nullptr;
}

/// How many could be joined; the process's own thread has only ended its part.
std::size_t Crew::joinEnded() {
    std::size_t count = 0;
    Member* member = ended_.exchange(nullptr, std::memory_order_acquire);
    while (member != nullptr) {
        Member* const next = member->endedBefore;
        if (member != members_.data()) {
            ::pthread_join(member->thread, nullptr);
        }
        ++count;
        member = next;
    }
    return count;
}

/// Waits until no more than `most` are alive.
void Crew::await(std::size_t most) {
    while (alive_ > most) {
        const std::uint32_t seen = ends_.load(std::memory_order_acquire);
        const std::size_t joined = joinEnded();
        alive_ -= joined;
        if (joined == 0) {
            sleepWhile(&ends_, seen);
        }
    }
}

void Crew::startOthers() {
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstacksize(&attributes, stackBytes);
    for (Member& member : members_.subspan(1)) {
        const PlanThread& plan = *member.worker.plan;
        await(plan.alive - 1);
        if (plan_.header.paced != 0) {
            waitUntil(beganAt_ + plan.began);
        }
        const int error = ::pthread_create(&member.thread, &attributes, runMember, &member);
        if (error != 0) {
            leave(Status::noMemory, "thread %zu of %zu could not be started: %s",
                  member.worker.index + 1, members_.size(), strerrordesc_np(error));
        }
        ++alive_;
    }
    await(0);
    ::pthread_attr_destroy(&attributes);
}

Outcome Crew::replay() {
    pthread_t starter{};
    const bool several = members_.size() > 1;
    if (several && ::pthread_create(&starter, nullptr, runStarter, this) != 0) {
        leave(Status::noMemory, "the thread that starts the others could not be started");
    }
    rusage before{};
    rusage after{};
    ::getrusage(RUSAGE_SELF, &before);
    const std::uint64_t ticksBefore = platform::ticks();
    beganAt_ = now();
    begun_.store(1, std::memory_order_release);
    wakeAll(&begun_);
    perform(members_[0].worker);
    if (several) {
        end(members_[0]);
        ::pthread_join(starter, nullptr);
    }
    const std::uint64_t ended = now();
    const std::uint64_t ticksAfter = platform::ticks();
    ::getrusage(RUSAGE_SELF, &after);
    const Resident memory = resident();

    Outcome outcome;
    outcome.nanoseconds = ended - beganAt_;
    outcome.userSeconds = seconds(before.ru_utime, after.ru_utime);
    outcome.systemSeconds = seconds(before.ru_stime, after.ru_stime);
    if (platform::steadyTicks() && ticksAfter > ticksBefore) {
        outcome.nanosecondsPerTick = static_cast<double>(outcome.nanoseconds) /
                                     static_cast<double>(ticksAfter - ticksBefore);
    }
    outcome.ownBytes = ownBytes();
    outcome.peakBytes = memory.peak > ownBytes() ? memory.peak - ownBytes() : 0;
    const std::size_t ownFile = plan_.mapped != nullptr ? plan_.header.bytes : 0;
    outcome.fileBytes = memory.file > ownFile ? memory.file - ownFile : 0;
    outcome.streamed = plan_.mapped == nullptr;
    gather(outcome);
    return outcome;
}

/// Adds up what each thread has counted.
void Crew::gather(Outcome& outcome) {
    outcome.timed = timed_ && watched_.check == nullptr && watched_.curve == nullptr;
    for (const Member& member : members_) {
        const Worker& worker = member.worker;
        outcome.failed += worker.failed;
        outcome.calls += worker.plan->calls;
        outcome.waits.count += worker.waits.count;
        outcome.waits.ticks += worker.waits.ticks;
        outcome.readingTicks += worker.feed.ticks();
        for (unsigned routine = 0; routine < routines; ++routine) {
            if (worker.histograms[routine] == nullptr) {
                continue;
            }
            AllHistogram*& all = outcome.histograms[routine];
            all = all == nullptr ? mapArray<AllHistogram>(1) : all;
            all->add(*worker.histograms[routine]);
        }
    }
}

} // namespace

Outcome replay(const Plan& plan, const RunOptions& options, Watched& watched) {
    Crew& crew = *new (mapPages(sizeof(Crew))) Crew(plan, options, watched);
    return crew.replay();
}

} // namespace heapwright::replayer
