// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// fork while other threads are in the allocator, with operations that may wait for other locks.
#include "conformance/thread_group.hpp"

#include <atomic>
#include <cstdio> // also declares fopencookie
#include <cstdlib>
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

using namespace conformance;

namespace {

std::atomic<bool> working{true};

void allocateMuch() {
    Random random(9);
    void* objects[50] = {};
    for (int step = 0; step < 500; ++step) {
        void*& object = objects[random.below(50)];
        const std::size_t size = random.size();
        object = std::realloc(object, size + 1);
        require(object != nullptr, "realloc gave nothing");
        fill(object, size < 100 ? size : 100, 1);
    }
    for (void* object : objects) {
        std::free(object);
    }
}

void* allocateAlways(void*) {
    while (working) {
        allocateMuch();
    }
    return nullptr;
}

/// A stream's own write function, which allocates. When all streams are flushed, it is called with
/// the list of streams locked.
ssize_t writeNowhere(void*, const char*, std::size_t size) {
    void* object = std::malloc(size + 1);
    require(object != nullptr, "malloc gave nothing");
    std::free(object);
    return static_cast<ssize_t>(size);
}

void* flushAlways(void*) {
    std::FILE* stream = ::fopencookie(nullptr, "w", {nullptr, writeNowhere, nullptr, nullptr});
    require(stream != nullptr, "fopencookie");
    while (working) {
        std::fputs("some text", stream);
        std::fflush(nullptr);
    }
    std::fclose(stream);
    return nullptr;
}

/// Runs `body` `turns` times while `count` threads run `work`.
template <std::size_t count>
void among(int turns, void* (*work)(void*), void (*body)()) {
    pthread_t threads[count];
    for (pthread_t& thread : threads) {
        require(::pthread_create(&thread, nullptr, work, nullptr) == 0, "pthread_create");
    }
    for (int turn = 0; turn < turns; ++turn) {
        body();
    }
    working = false;
    for (const pthread_t thread : threads) {
        ::pthread_join(thread, nullptr);
    }
}

void threads() {
    among<3>(120, allocateAlways, [] { inChild(allocateMuch, "a child forked among threads"); });
}

void again() {
    among<2>(15, allocateAlways, [] {
        inChild(
            [] {
                pthread_t thread{};
                working = true;
                require(::pthread_create(&thread, nullptr, allocateAlways, nullptr) == 0,
                        "pthread_create in a child");
                for (int i = 0; i < 3; ++i) {
                    inChild(allocateMuch, "a child of a child");
                }
                working = false;
                ::pthread_join(thread, nullptr);
            },
            "a child with threads");
    });
}

void several() {
    const auto forkOften = [](void*) -> void* {
        for (int turn = 0; turn < 60; ++turn) {
            inChild(allocateMuch, "a child forked by one of several threads");
            allocateMuch();
        }
        return nullptr;
    };
    among<3>(60, forkOften, [] { inChild(allocateMuch, "a child forked by the main thread"); });
}

void streams() {
    among<2>(120, flushAlways, [] {
        inChild(
            [] {
                allocateMuch();
                std::fflush(nullptr);
                std::FILE* stream = std::fopen("/dev/null", "w");
                std::fputs("text", stream);
                std::fclose(stream);
            },
            "a child forked among streams");
    });
}

void* fromHandlers[3] = {};

void allocateInHandler(int which) {
    std::free(fromHandlers[which]);
    fromHandlers[which] = std::malloc(1000);
    require(fromHandlers[which] != nullptr, "malloc gave nothing");
    allocateMuch();
}

void handlers() {
    require(::pthread_atfork([] { allocateInHandler(0); }, [] { allocateInHandler(1); },
                             [] { allocateInHandler(2); }) == 0,
            "pthread_atfork");
    among<2>(120, allocateAlways, [] { inChild(allocateMuch, "a child of fork with handlers"); });
    require(fromHandlers[0] != nullptr && fromHandlers[1] != nullptr, "the handlers did not run");
}

void parentObjects() {
    static void* objects[500];
    for (std::size_t i = 0; i < 500; ++i) {
        objects[i] = std::malloc(i * 97 + 1);
        fill(objects[i], i * 97 + 1, 1);
    }
    for (int round = 0; round < 5; ++round) {
        inChild(
            [] {
                for (std::size_t i = 0; i < 500; ++i) {
                    requireFilled(objects[i], i * 97 + 1, 1);
                    objects[i] = std::realloc(objects[i], i * 200 + 1);
                    std::free(objects[i]);
                }
            },
            "a child with its parent's objects");
    }
    for (std::size_t i = 0; i < 500; ++i) {
        requireFilled(objects[i], i * 97 + 1, 1);
        std::free(objects[i]);
    }
}

// Objects that other threads were about to free or had just allocated. After the fork they belong
// to the child alone, independent of their part of the heap.
ExchangeTable swaps;

void* swapAlways(void* self) {
    Random random(reinterpret_cast<std::uintptr_t>(self));
    while (working) {
        swaps.put(random.below(ExchangeTable::places), ExchangeTable::make(random.below(3000)));
    }
    return nullptr;
}

void takesOver() {
    among<3>(50, swapAlways, [] {
        inChild(
            [] {
                swaps.clear();
                runThreads(2, [](void*) -> void* {
                    allocateMuch();
                    return nullptr;
                });
            },
            "a child that frees what its parent's threads made");
    });
    swaps.clear();
}

void spawn() {
    among<2>(120, allocateAlways, [] {
        char name[] = "true";
        char* arguments[] = {name, nullptr};
        pid_t child = 0;
        if (::posix_spawnp(&child, "true", nullptr, nullptr, arguments, environ) != 0) {
            skip("there is no program called true");
        }
        expectSuccess(child, "a spawned program");
        child = ::vfork();
        if (child == 0) {
            ::_exit(0);
        }
        expectSuccess(child, "a child of vfork");
        allocateMuch();
    });
}

const Case cases[] = {
    {"fork-again", Demand::standard, "children of children, with threads of their own", again},
    {"fork-threads", Demand::standard,
     "a child forked while other threads allocate has a heap that works", threads},
    {"fork-several", Demand::standard, "several threads fork at the same time", several},
    {"fork-streams", Demand::standard,
     "fork while other threads flush all streams, one of which allocates", streams},
    {"fork-handlers", Demand::standard,
     "handlers registered for fork may allocate, before it and on both sides", handlers},
    {"fork-inherits", Demand::standard,
     "the child can use, resize and free what the parent allocated", parentObjects},
    {"fork-takes-over", Demand::standard,
     "the child frees what threads made that it does not have, and starts its own", takesOver},
    {"spawn", Demand::standard,
     "posix_spawn and vfork among threads that allocate leave the heap alone", spawn},
};

} // namespace
