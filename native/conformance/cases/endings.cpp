// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// How threads end. Every step calls malloc and free, from the destructors of thread-local objects
// to what the C library itself frees after the last destructor. No memory is lost after thousands
// of threads.
#include "conformance/thread_group.hpp"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

using namespace conformance;

namespace {

constexpr std::size_t smallStack = std::size_t{1} << 16U;
constexpr std::size_t rounds = 4; ///< of key destructors, in the GNU C library

ExchangeTable swaps;
std::atomic<std::size_t> visits{0};

void swapSome(std::size_t seed) {
    Random random(seed);
    for (int i = 0; i < 10; ++i) {
        swaps.put(random.below(ExchangeTable::places), ExchangeTable::make(random.below(3000)));
    }
}

/// Enough keys that the C library allocates a table for the thread, which it frees at the very end.
constexpr std::size_t firstTable = 32;
pthread_key_t lateKey;

void onLateKey(void* value) {
    const std::size_t seed = visits++;
    swapSome(seed);
    const auto round = reinterpret_cast<std::uintptr_t>(value);
    if (round < rounds) {
        ::pthread_setspecific(lateKey, reinterpret_cast<void*>(round + 1));
    }
}

struct Local {
    std::size_t* object = ExchangeTable::make(700);
    Local() = default;
    Local(const Local&) = delete;
    Local& operator=(const Local&) = delete;
    ~Local() {
        ExchangeTable::checkAndFree(object);
        swapSome(visits++);
    }
};

struct Outer {
    Outer() = default;
    Outer(const Outer&) = delete;
    Outer& operator=(const Outer&) = delete;
    ~Outer() {
        // Constructed while the thread ends, and destroyed before its end.
        static thread_local Local late;
        hide(&late);
    }
};

/// Makes the C library free much for the thread after everything else.
void* live(void*) {
    static thread_local Outer outer;
    hide(&outer);
    static thread_local Local local;
    hide(&local);
    require(::dlopen("/nowhere/at/all.so", RTLD_NOW) == nullptr, "dlopen of nothing");
    require(::strerror(987'654) != nullptr, "strerror");
    ::pthread_setspecific(lateKey, reinterpret_cast<void*>(std::uintptr_t{1}));
    swapSome(visits++);
    return nullptr;
}

void* leaveEarly(void* self) {
    live(self);
    ::pthread_exit(nullptr);
}

void makeLateKey() {
    for (std::size_t i = 0; i <= firstTable; ++i) {
        require(::pthread_key_create(&lateKey, onLateKey) == 0, "pthread_key_create");
    }
}

void everyStep() {
    makeLateKey();
    for (int generation = 0; generation < 40; ++generation) {
        runThreads(4, live);
        runThreads(2, leaveEarly, smallStack);
    }
    swaps.clear();
    // In the thread, in two thread-local objects, and in each round of the key.
    require(visits == 40 * 6 * (1 + 2 + rounds), "destructors did not run as they should");
}

void* waitToBeCancelled(void* self) {
    live(self);
    for (;;) {
        ::pause();
    }
}

/// A thread that is cancelled, or detached, ends in the same way.
void cancelled() {
    makeLateKey();
    for (std::size_t generation = 1; generation <= 60; ++generation) {
        pthread_t thread{};
        require(::pthread_create(&thread, nullptr, waitToBeCancelled, nullptr) == 0,
                "pthread_create");
        if (generation % 2 == 0) {
            ::pthread_detach(thread);
        }
        require(::pthread_cancel(thread) == 0, "pthread_cancel");
        if (generation % 2 != 0) {
            ::pthread_join(thread, nullptr);
        }
        swapSome(generation);
    }
}

constexpr std::size_t crowds = 20;
/// Number of threads; the C library keeps fewer than half of their stacks.
constexpr std::size_t crowd = 20;
Gate idle[crowds];
Gate work[crowds];
Gate stay[crowds];
std::size_t turn = 0; ///< set while no thread waits
std::atomic<std::size_t> over{0};

/// Never allocates. It is detached, so after its last destructor it frees the stacks of ended
/// threads that the C library keeps, if these are too many.
void* waitAndEnd(void*) {
    idle[turn].wait();
    ++over;
    return nullptr;
}

void* allocateAndWait(void*) {
    swapSome(visits++);
    work[turn].wait();
    return nullptr;
}

void* allocateAndStay(void*) {
    swapSome(visits++);
    stay[turn].wait();
    return nullptr;
}

/// Threads whose first free comes after their exit hook can no longer be registered. They are gone
/// with their memory before an earlier thread ends.
void idlers() {
    for (turn = 0; turn < crowds; ++turn) {
        ThreadGroup workers;
        for (std::size_t i = 0; i < crowd; ++i) {
            require(workers.add(allocateAndWait) == 0, "pthread_create");
        }
        over = 0;
        for (std::size_t i = 0; i < crowd; ++i) {
            pthread_t thread{};
            require(::pthread_create(&thread, nullptr, waitAndEnd, nullptr) == 0, "pthread_create");
            ::pthread_detach(thread);
        }
        idle[turn].open();
        while (over < crowd) {
            ::usleep(100);
        }
        ::usleep(2000); // they only have to end now
        ThreadGroup stays(smallStack);
        require(stays.add(allocateAndStay) == 0, "pthread_create");
        stay[turn].expect(1);
        work[turn].open();
        workers.join();
        stay[turn].open();
        stays.join();
    }
    swaps.clear();
}

// The sizes that each of many threads allocates and frees. They are only a few, because an
// allocator may keep some objects of each size for each thread.
constexpr std::size_t sizes[] = {48, 700, 3000};
constexpr std::size_t count = 900;
constexpr std::size_t generations = 500;
/// Of the 1.2 GB that all threads allocate together.
constexpr std::size_t room = std::size_t{64} << 20U;

struct Possessions {
    void* objects[count];
};

void giveUp(void* value) {
    auto* all = static_cast<Possessions*>(value);
    for (void* object : all->objects) {
        std::free(object);
    }
    std::free(all);
}

void onFreeingKey(void* value) {
    static thread_local std::size_t round = 0;
    if (++round < rounds) { // the last round comes after an allocator's own exit hook
        ::pthread_setspecific(lateKey, value);
    } else {
        giveUp(value);
    }
}

void* takeAndLeave(void*) {
    auto* all = static_cast<Possessions*>(std::malloc(sizeof(Possessions)));
    require(all != nullptr, "memory is lost when threads end");
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t size = sizes[i % std::size(sizes)];
        all->objects[i] = std::malloc(size);
        require(all->objects[i] != nullptr, "memory is lost when threads end");
        fill(all->objects[i], 16, 1);
    }
    if (visits++ % 2 == 0) {
        giveUp(all);
    } else {
        ::pthread_setspecific(lateKey, all);
    }
    return nullptr;
}

void nothingLost() {
    require(::pthread_key_create(&lateKey, onFreeingKey) == 0, "pthread_key_create");
    limitData(room);
    for (std::size_t generation = 0; generation < generations; ++generation) {
        runThreads(2, takeAndLeave, smallStack);
    }
}

const Case cases[] = {
    {"thread-end-steps", Demand::standard,
     "threads allocate and free in every step of their end, and the C library after all",
     everyStep},
    {"thread-end-cancelled", Demand::standard, "so do threads that are cancelled or detached",
     cancelled},
    {"thread-end-idle", Demand::standard,
     "a thread may free for the first time after its exit hook can no longer be registered",
     idlers},
    {"thread-end-memory", Demand::standard,
     "what a thread frees, even as the last it does, serves those that come after", nothingLost},
};

} // namespace
