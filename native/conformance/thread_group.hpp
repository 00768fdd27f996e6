// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Tools of the cases with threads. They are a group of concurrent threads, a gate at which they
// wait for each other, and objects that pass between them. Only the objects are allocated.
#pragma once

#include "suite.hpp"

#include <atomic>
#include <cstdlib>
#include <pthread.h>

namespace conformance {

using Work = void*(void*);

/// Threads that run at the same time. Each gets a distinct address as its argument.
class ThreadGroup {
public:
    static constexpr std::size_t most = 1600;

    /// `stack`: bytes of each stack. 0 selects the default of the system.
    explicit ThreadGroup(std::size_t stack = 0);
    ~ThreadGroup() { ::pthread_attr_destroy(&attributes_); }

    ThreadGroup(const ThreadGroup&) = delete;
    ThreadGroup& operator=(const ThreadGroup&) = delete;

    /// Starts one more thread. Returns the result of pthread_create.
    [[nodiscard]] int add(Work* work);
    /// Joins all threads.
    void join();
    [[nodiscard]] std::size_t count() const { return count_; }

private:
    pthread_attr_t attributes_{};
    pthread_t threads_[most] = {};
    std::size_t count_ = 0;
};

/// Runs `work` in `count` threads and joins them.
void runThreads(std::size_t count, Work* work, std::size_t stack = 0);

/// A gate that is closed until `open`. It counts the threads that wait.
class Gate {
public:
    void wait();
    /// Waits until `count` threads wait at the gate.
    void expect(std::size_t count);
    void open();

private:
    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t changed_ = PTHREAD_COND_INITIALIZER;
    std::size_t waiting_ = 0;
    bool open_ = false;
};

/// A table of objects that threads exchange, each by one atomic operation. The first word of an
/// object holds its size.
class ExchangeTable {
public:
    static constexpr std::size_t places = 256;

    /// A filled object. Null if malloc returns null.
    [[nodiscard]] static std::size_t* tryMake(std::size_t size);
    [[nodiscard]] static std::size_t* make(std::size_t size);
    static void checkAndFree(std::size_t* object);

    /// Replaces an object. The previous one is checked and freed.
    void put(std::size_t place, std::size_t* object) {
        checkAndFree(table_[place].exchange(object));
    }
    void clear();

private:
    std::atomic<std::size_t*> table_[places] = {};
};

} // namespace conformance
