// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What the cases with threads share: threads that run at the same time, a gate at which they wait
// for each other, and objects that change hands between them. Nothing here allocates but the
// objects.
#pragma once

#include "suite.hpp"

#include <atomic>
#include <cstdlib>
#include <pthread.h>

namespace conformance {

using Work = void*(void*);

/// Threads that run at the same time; each gets an address of its own, to be told apart by.
class Crew {
public:
    static constexpr std::size_t most = 1600;

    /// With stacks of so many bytes; 0 for what the system has as usual.
    explicit Crew(std::size_t stack = 0);
    ~Crew() { ::pthread_attr_destroy(&attributes_); }

    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    /// One more; returns what pthread_create says.
    [[nodiscard]] int add(Work* work);
    /// Waits until all have ended.
    void join();
    [[nodiscard]] std::size_t count() const { return count_; }

private:
    pthread_attr_t attributes_{};
    pthread_t threads_[most] = {};
    std::size_t count_ = 0;
};

/// So many threads run `work`, to its end.
void runThreads(std::size_t count, Work* work, std::size_t stack = 0);

/// Closed until it is opened; those who wait at it are counted.
class Gate {
public:
    void wait();
    /// Waits until so many wait.
    void expect(std::size_t count);
    void open();

private:
    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t changed_ = PTHREAD_COND_INITIALIZER;
    std::size_t waiting_ = 0;
    bool open_ = false;
};

/// Objects that change hands: a table, each place taken out and put in by one exchange. The first
/// bytes of an object say its size.
class Swaps {
public:
    static constexpr std::size_t places = 256;

    /// An object with content; null if there is no memory for it.
    [[nodiscard]] static std::size_t* tryMake(std::size_t size);
    [[nodiscard]] static std::size_t* make(std::size_t size);
    static void checkAndFree(std::size_t* object);

    /// Puts an object where another is, which is checked and freed.
    void put(std::size_t place, std::size_t* object) {
        checkAndFree(table_[place].exchange(object));
    }
    void clear();

private:
    std::atomic<std::size_t*> table_[places] = {};
};

} // namespace conformance
