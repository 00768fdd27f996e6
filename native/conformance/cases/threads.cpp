// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads: objects that they free for each other, memory that they leave, and how they end.
#include "conformance/thread_group.hpp"

#include <atomic>
#include <cstdlib>
#include <pthread.h>

using namespace conformance;

namespace {

constexpr std::size_t group = 4;

ExchangeTable swaps;

void crossing() {
    runThreads(group, [](void* self) -> void* {
        Random random(reinterpret_cast<std::uintptr_t>(self));
        for (int step = 0; step < 30000; ++step) {
            const std::size_t size = random.below(std::size_t{1} << random.below(13));
            swaps.put(random.below(ExchangeTable::places), ExchangeTable::make(size));
        }
        return nullptr;
    });
    swaps.clear();
}

void histories() {
    runThreads(group, [](void* self) -> void* {
        constexpr std::size_t count = 100;
        void* objects[count] = {};
        std::size_t sizes[count] = {};
        Random random(reinterpret_cast<std::uintptr_t>(self));
        for (int step = 0; step < 20000; ++step) {
            const std::size_t i = random.below(count);
            const std::size_t size = random.below(std::size_t{1} << random.below(15));
            requireFilled(objects[i], sizes[i], static_cast<unsigned>(i));
            if (random.below(3) == 0 && size > 0) {
                objects[i] = std::realloc(objects[i], size);
            } else {
                std::free(objects[i]);
                const std::size_t way = random.below(3);
                objects[i] = way == 0   ? std::calloc(1, size)
                             : way == 1 ? std::aligned_alloc(64, size)
                                        : std::malloc(size);
            }
            require(objects[i] != nullptr, "malloc gave nothing");
            sizes[i] = size;
            fill(objects[i], size, static_cast<unsigned>(i));
        }
        for (void* object : objects) {
            std::free(object);
        }
        return nullptr;
    });
}

void leavers() {
    for (int round = 0; round < 60; ++round) {
        runThreads(group, [](void* self) -> void* {
            Random random(reinterpret_cast<std::uintptr_t>(self));
            for (std::size_t i = 0; i < ExchangeTable::places; i += 3) {
                swaps.put(i, ExchangeTable::make(random.below(3000)));
            }
            return nullptr;
        });
    }
    swaps.clear();
}

void smallStacks() {
    runThreads(
        group,
        [](void*) -> void* {
            for (std::size_t size = 1; size < 5'000'000; size = size * 2 + 1) {
                void* object = std::malloc(size);
                object = std::realloc(object, size * 2);
                require(object != nullptr, "realloc gave nothing");
                std::free(object);
                std::free(std::aligned_alloc(4096, size));
            }
            return nullptr;
        },
        16384);
}

// Destructors of thread keys that allocate, free, and set their key again. The C library runs four
// rounds of them, after the destructors of thread-local objects, and after an allocator's own.
pthread_key_t keys[3];
std::atomic<int> rounds{0};

void destroyKey(void* value) {
    const std::size_t left = *static_cast<std::size_t*>(value);
    require(left <= 3, "a key's value has changed");
    std::free(value);
    ++rounds;
    for (std::size_t size = 8; size < 300'000; size *= 5) {
        void* brief = std::malloc(size);
        require(brief != nullptr, "malloc gave nothing in a key's destructor");
        fill(brief, size, 5);
        std::free(brief);
    }
    if (left == 0) {
        return;
    }
    auto* next = static_cast<std::size_t*>(std::malloc(sizeof(std::size_t)));
    *next = left - 1;
    for (const pthread_key_t key : keys) {
        if (::pthread_getspecific(key) == nullptr) {
            ::pthread_setspecific(key, next);
            return;
        }
    }
    fail("no key is free though one was just taken");
}

struct AtThreadEnd {
    void* object = std::malloc(500);
    AtThreadEnd() = default;
    AtThreadEnd(const AtThreadEnd&) = delete;
    AtThreadEnd& operator=(const AtThreadEnd&) = delete;
    ~AtThreadEnd() {
        std::free(object);
        std::free(std::malloc(10'000));
    }
};

void keyDestructors() {
    for (pthread_key_t& key : keys) {
        require(::pthread_key_create(&key, destroyKey) == 0, "pthread_key_create");
    }
    for (int round = 0; round < 50; ++round) {
        runThreads(group, [](void*) -> void* {
            static thread_local AtThreadEnd atEnd;
            hide(&atEnd);
            for (const pthread_key_t key : keys) {
                auto* value = static_cast<std::size_t*>(std::malloc(sizeof(std::size_t)));
                *value = 3;
                ::pthread_setspecific(key, value);
            }
            return nullptr;
        });
    }
    require(rounds >= 50 * 4 * 3 * 2, "the destructors did not run in rounds");
}

const Case cases[] = {
    {"cross-thread-free", Demand::standard,
     "objects are freed by other threads than those that made them", crossing},
    {"random-histories", Demand::standard,
     "many threads with random histories of every function keep all bytes", histories},
    {"thread-exit", Demand::standard, "what ended threads leave behind is used and freed by others",
     leavers},
    {"small-stacks", Demand::standard,
     "the allocator is content with the smallest stack a thread can have", smallStacks},
    {"key-destructors", Demand::standard,
     "destructors of thread keys allocate and free in every round", keyDestructors},
};

} // namespace
