// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See worker_pool.hpp.
#include "worker_pool.hpp"

#include "command_loop.hpp"
#include "fatal_error.hpp"
#include "futex.hpp"
#include "memory.hpp"
#include "pace.hpp"
#include "plan_file.hpp"

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

/// malloc_usable_size, if the library that provides malloc also provides it. Otherwise null.
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

class WorkerPool {
public:
    WorkerPool(const Plan& plan, const RunOptions& options, Observers& observers);

    Outcome replay();

private:
    struct PoolThread {
        Worker worker;
        WorkerPool* pool = nullptr;
        PoolThread* nextEnded = nullptr; ///< in the list of those that have ended
        pthread_t thread{};
    };

    void prepare(PoolThread& thread, const PlanThread& plan);
    void runCommands(Worker& worker);
    template <Touch touch>
    void runTouching(Worker& worker);
    void end(PoolThread& thread);
    void startThreads();
    std::size_t joinEnded();
    void waitForAlive(std::size_t most);
    void collectResults(Outcome& outcome);

    static void* runThread(void* thread);
    static void* runStarter(void* pool);

    const Plan& plan_;
    const RunOptions& options_;
    Observers& observers_;
    UsableSize usableSize_;
    bool timed_;
    OwnMemory memory_;
    std::span<PoolThread> threads_;
    std::size_t alive_ = 1; ///< started and not yet joined; only the starter accesses it
    std::atomic<PoolThread*> ended_{nullptr};
    std::atomic<std::uint32_t> ends_{0}; ///< how many have ended; the starter sleeps on it
    std::atomic<std::uint32_t> begun_{0};
    std::uint64_t beganAt_ = 0;
};

WorkerPool::WorkerPool(const Plan& plan, const RunOptions& options, Observers& observers)
    : plan_(plan), options_(options), observers_(observers), usableSize_(usableSizeHere()),
      timed_(options.latencies && platform::steadyTicks() && isCountable(plan)) {
    const std::size_t count = plan.threads.size();
    threads_ = {memory_.array<PoolThread>(count), count};
    auto* const slots = memory_.array<ObjectExchange::Slot>(plan.header.sharedSlots);
    auto* const order =
        memory_.array<OrderSemaphore>(plan.header.order == Order::recorded ? count : 0);
    const bool bounded = plan.header.order == Order::bounded && count > 1;
    auto* const progress = memory_.array<Progress>(bounded ? count : 0);
    for (std::size_t at = 0; at < count; ++at) {
        PoolThread& thread = *new (&threads_[at]) PoolThread;
        thread.pool = this;
        thread.worker.index = at;
        thread.worker.shared = ObjectExchange(slots);
        thread.worker.order = order;
        if (bounded) {
            new (&progress[at]) Progress(plan.threads[at].window);
            thread.worker.progress = {progress, count};
            thread.worker.threads = plan.threads.data();
        }
        prepare(thread, plan.threads[at]);
    }
}

void WorkerPool::prepare(PoolThread& thread, const PlanThread& plan) {
    Worker& worker = thread.worker;
    worker.plan = &plan;
    worker.own = memory_.array<void*>(plan.slots);
    char* const buffer = plan_.mapped != nullptr
                             ? nullptr
                             : memory_.array<char>(std::min(largestChunk, plan.allBytes));
    worker.commands =
        CommandReader(plan_.file, plan_.mapped, buffer, {plan.chunk, plan.chunkBytes});
    for (unsigned routine = 0; routine < routines; ++routine) {
        if ((plan.routines >> routine & 1U) != 0) {
            worker.histograms[routine] = memory_.array<Histogram>(1);
        }
    }
}

template <Touch touch>
void WorkerPool::runTouching(Worker& worker) {
    if (timed_) {
        using Policy = TouchPolicy<touch, true>;
        CommandLoop<Policy>::run(worker, Policy{usableSize_});
    } else {
        using Policy = TouchPolicy<touch, false>;
        CommandLoop<Policy>::run(worker, Policy{usableSize_});
    }
}

void WorkerPool::runCommands(Worker& worker) {
    worker.began = beganAt_;
    if (observers_.check != nullptr || observers_.curve != nullptr) {
        CommandLoop<ObserverPolicy>::run(worker, ObserverPolicy(observers_));
        return;
    }
    switch (options_.touch) {
    case Touch::none:
        return runTouching<Touch::none>(worker);
    case Touch::firstByte:
        return runTouching<Touch::firstByte>(worker);
    case Touch::all:
        return runTouching<Touch::all>(worker);
    case Touch::recordedSize:
        return runTouching<Touch::recordedSize>(worker);
    }
}

void WorkerPool::end(PoolThread& thread) {
    thread.nextEnded = ended_.load(std::memory_order_relaxed);
    while (!ended_.compare_exchange_weak(thread.nextEnded, &thread, std::memory_order_release,
                                         std::memory_order_relaxed)) {
    }
    ends_.fetch_add(1, std::memory_order_release);
    wakeAll(&ends_);
}

void* WorkerPool::runThread(void* argument) {
    PoolThread& thread = *static_cast<PoolThread*>(argument);
    thread.pool->runCommands(thread.worker);
    thread.pool->end(thread);
    return nullptr;
}

void* WorkerPool::runStarter(void* argument) {
    WorkerPool& pool = *static_cast<WorkerPool*>(argument);
    while (pool.begun_.load(std::memory_order_acquire) == 0) {
        sleepWhile(&pool.begun_, 0);
    }
    pool.startThreads();
    return nullptr;
}

/// Joins the threads that have ended and returns their number. The main thread is counted, not
/// joined.
std::size_t WorkerPool::joinEnded() {
    std::size_t count = 0;
    PoolThread* thread = ended_.exchange(nullptr, std::memory_order_acquire);
    while (thread != nullptr) {
        PoolThread* const next = thread->nextEnded;
        if (thread != threads_.data()) {
            ::pthread_join(thread->thread, nullptr);
        }
        ++count;
        thread = next;
    }
    return count;
}

/// Waits until at most `most` threads are alive.
void WorkerPool::waitForAlive(std::size_t most) {
    while (alive_ > most) {
        const std::uint32_t seen = ends_.load(std::memory_order_acquire);
        const std::size_t joined = joinEnded();
        alive_ -= joined;
        if (joined == 0) {
            sleepWhile(&ends_, seen);
        }
    }
}

void WorkerPool::startThreads() {
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstacksize(&attributes, stackBytes);
    for (PoolThread& thread : threads_.subspan(1)) {
        const PlanThread& plan = *thread.worker.plan;
        waitForAlive(plan.alive - 1);
        if (plan_.header.paced != 0) {
            waitUntil(beganAt_ + plan.began);
        }
        const int error = ::pthread_create(&thread.thread, &attributes, runThread, &thread);
        if (error != 0) {
            fatalError(Status::noMemory, "thread %zu of %zu could not be started: %s",
                       thread.worker.index + 1, threads_.size(), strerrordesc_np(error));
        }
        ++alive_;
    }
    waitForAlive(0);
    ::pthread_attr_destroy(&attributes);
}

Outcome WorkerPool::replay() {
    pthread_t starter{};
    const bool several = threads_.size() > 1;
    if (several && ::pthread_create(&starter, nullptr, runStarter, this) != 0) {
        fatalError(Status::noMemory, "the thread that starts the others could not be started");
    }
    rusage before{};
    rusage after{};
    ::getrusage(RUSAGE_SELF, &before);
    const std::uint64_t ticksBefore = platform::ticks();
    beganAt_ = now();
    begun_.store(1, std::memory_order_release);
    wakeAll(&begun_);
    runCommands(threads_[0].worker);
    if (several) {
        end(threads_[0]);
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
    collectResults(outcome);
    return outcome;
}

/// Adds up what each thread has counted.
void WorkerPool::collectResults(Outcome& outcome) {
    outcome.timed = timed_ && observers_.check == nullptr && observers_.curve == nullptr;
    for (const PoolThread& thread : threads_) {
        const Worker& worker = thread.worker;
        outcome.failed += worker.failed;
        outcome.calls += worker.plan->calls;
        outcome.iterations += worker.iterations;
        outcome.visitedLines += worker.visitedLines;
        outcome.waits.count += worker.waits.count;
        outcome.waits.ticks += worker.waits.ticks;
        outcome.readingTicks += worker.commands.ticks();
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

Outcome replay(const Plan& plan, const RunOptions& options, Observers& observers) {
    WorkerPool& pool = *new (mapPages(sizeof(WorkerPool))) WorkerPool(plan, options, observers);
    return pool.replay();
}

} // namespace heapwright::replayer
