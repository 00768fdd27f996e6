// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads that obey steps, one at a time. They are real ones, with all that a heap keeps of a
// thread, and yet every history is the same each time. An step can end a thread. The next step to
// the same thread starts another thread, which inherits what a heap lets it inherit.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <semaphore>
#include <thread>
#include <utility>
#include <vector>

namespace heapwright::testing::promises {

class ScriptedThreads {
    struct Worker {
        std::binary_semaphore begin{0};
        std::binary_semaphore done{0};
        std::function<void()> step; ///< empty: the thread ends
        std::thread thread;

        void serve() {
            for (;;) {
                begin.acquire();
                if (!step) {
                    return;
                }
                step();
                done.release();
            }
        }
    };

public:
    explicit ScriptedThreads(std::size_t count) {
        for (std::size_t each = 0; each < count; ++each) {
            workers_.push_back(std::make_unique<Worker>());
        }
    }
    ScriptedThreads(const ScriptedThreads&) = delete;
    ScriptedThreads& operator=(const ScriptedThreads&) = delete;
    ~ScriptedThreads() {
        for (std::size_t each = 0; each < workers_.size(); ++each) {
            end(each);
        }
    }

    /// Runs a step on one thread, and waits for its end.
    void run(std::size_t which, std::function<void()> step) {
        Worker& worker = *workers_[which];
        if (!worker.thread.joinable()) {
            worker.thread = std::thread([&worker] { worker.serve(); });
        }
        worker.step = std::move(step);
        worker.begin.release();
        worker.done.acquire();
    }

    /// Ends a thread and waits until all its destructors have run.
    void end(std::size_t which) {
        Worker& worker = *workers_[which];
        if (worker.thread.joinable()) {
            worker.step = nullptr;
            worker.begin.release();
            worker.thread.join();
        }
    }

private:
    std::vector<std::unique_ptr<Worker>> workers_;
};

} // namespace heapwright::testing::promises
