// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The decoding thread hands runs to the applying thread by the hundred, so that a hand-over costs
// little per run. A few such batches may wait. A waiting thread is woken only when a longer stretch
// of work is ready: a wake-up costs as much as some hundred calls.
#include "profiler/pass.hpp"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "trace/merged_calls.hpp"

namespace heapwright::profiler {
namespace {

using Batch = std::vector<trace::CallRun>;

constexpr std::uint64_t worthAThread = 200'000; ///< events
constexpr std::size_t callsInBatch = 4096;
constexpr std::size_t waitingBatches = 8;

void applyAll(const Batch& batch, trace::MergedCalls& calls, Profiler& profiler) {
    for (const trace::CallRun& run : batch) {
        profiler.apply(run);
        calls.done(run);
    }
}

/// As many runs as make a batch; none at the end.
void gather(trace::MergedCalls& calls, Batch& batch) {
    trace::CallRun run;
    for (std::size_t count = 0; count < callsInBatch && calls.next(run); count += run.count)
        batch.push_back(run);
}

/// A thread of its own that decodes ahead.
class Decoding {
public:
    explicit Decoding(trace::MergedCalls& calls) : calls_(calls), thread_([this] { decode(); }) {}
    ~Decoding() {
        {
            const std::lock_guard lock(mutex_);
            abandoned_ = true;
        }
        changed_.notify_all();
        thread_.join();
    }
    Decoding(const Decoding&) = delete;
    Decoding& operator=(const Decoding&) = delete;

    /// The next batch, which has no runs at the end.
    Batch next() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return ended_ || !ready_.empty(); });
        if (ready_.empty()) {
            if (error_)
                std::rethrow_exception(error_);
            return {};
        }
        Batch batch = std::move(ready_.front());
        ready_.pop_front();
        const bool hasRoomAgain = ready_.size() == waitingBatches / 4;
        lock.unlock();
        if (hasRoomAgain)
            changed_.notify_all();
        return batch;
    }

private:
    void decode() noexcept {
        std::exception_ptr error;
        try {
            while (decodeBatch()) {
            }
        } catch (...) {
            error = std::current_exception();
        }
        const std::lock_guard lock(mutex_);
        error_ = error;
        ended_ = true;
        changed_.notify_all();
    }

    bool decodeBatch() {
        Batch batch;
        gather(calls_, batch);
        if (batch.empty())
            return false;
        std::unique_lock lock(mutex_);
        if (ready_.size() >= waitingBatches)
            changed_.wait(lock,
                          [this] { return abandoned_ || ready_.size() <= waitingBatches / 4; });
        ready_.push_back(std::move(batch));
        const bool awaited = ready_.size() == 1;
        const bool goesOn = !abandoned_;
        lock.unlock();
        if (awaited)
            changed_.notify_all();
        return goesOn;
    }

    trace::MergedCalls& calls_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Batch> ready_;
    std::exception_ptr error_;
    bool ended_ = false;
    bool abandoned_ = false;
    std::thread thread_; ///< the last: it begins when all else is there
};

} // namespace

void pass(const trace::Trace& trace, std::uint32_t process, Profiler& profiler) {
    trace::MergedCalls calls(trace, process);
    if (trace.events() >= worthAThread && std::thread::hardware_concurrency() > 1) {
        Decoding decoding(calls);
        for (Batch batch = decoding.next(); !batch.empty(); batch = decoding.next())
            applyAll(batch, calls, profiler);
        return;
    }
    for (trace::CallRun run; calls.next(run); calls.done(run))
        profiler.apply(run);
}

} // namespace heapwright::profiler
