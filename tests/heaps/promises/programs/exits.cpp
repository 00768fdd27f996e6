// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads that end: tens of thousands of short ones, with destructors of all kinds that allocate
// and free until the very last round. What they leave must not add up.
#include "scenes.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace {

pthread_key_t key;
std::atomic<long> destroyed{0};

/// In each round of the keys' destructors, the last one too: makes, and frees what it made before.
void rounds(void* value) {
    auto* const old = static_cast<object*>(value);
    const std::uintptr_t round = old->mark;
    unmade(old);
    unmade(made(3000, 0x77));
    if (round < PTHREAD_DESTRUCTOR_ITERATIONS - 1) {
        pthread_setspecific(key, made(40 + 16 * round, round + 1));
    }
    destroyed.fetch_add(1, std::memory_order_relaxed);
}

struct Local {
    std::vector<std::string> words{std::string(100, 'x'), std::string(1000, 'y')};
    std::unique_ptr<char[]> buffer{new char[5000]};
    ~Local() {
        for (int i = 0; i < 20; ++i) {
            words.emplace_back(static_cast<std::size_t>(i * 50), 'z');
        }
        destroyed.fetch_add(1, std::memory_order_relaxed);
    }
};
thread_local Local local;

std::atomic<object*> passed[64];

void* shortly(void* number) {
    const auto mine = reinterpret_cast<std::uintptr_t>(number);
    local.words.emplace_back(200, 'w');
    pthread_setspecific(key, made(32, 0));
    for (std::uint32_t i = 0; i < 20; ++i) {
        // One stays for a thread to come, which frees what another one left.
        object* const old = passed[(mine + i) % 64].exchange(made(some_size(i * 331), mine & 0xFF));
        if (old != nullptr) {
            unmade(old);
        }
    }
    return nullptr;
}

/// A number of short threads, a few at a time. The end of one is no reason for another to grow.
void storm() {
    CHECK(pthread_key_create(&key, &rounds) == 0);
    constexpr long together = 8;
    long early = 0;
    for (long i = 0; i < count; i += together) {
        pthread_t threads[together];
        for (long j = 0; j < together; ++j) {
            CHECK(pthread_create(&threads[j], nullptr, &shortly, reinterpret_cast<void*>(i + j)) ==
                  0);
        }
        for (pthread_t thread : threads) {
            pthread_join(thread, nullptr);
        }
        early = i <= count / 4 ? resident_kib() : early;
    }
    CHECK(destroyed >= count * (1 + PTHREAD_DESTRUCTOR_ITERATIONS));
    CHECK(resident_kib() < early + 4096);
    for (auto& each : passed) {
        free(each.exchange(nullptr));
    }
}

/// What a thread made and filled before it ended is freed by another, and the other way round.
void* making(void* given) {
    auto& objects = *static_cast<std::vector<object*>*>(given);
    for (std::uint32_t i = 0; i < 2000; ++i) {
        objects.push_back(made(some_size(i * 77), i & 0xFF));
    }
    return nullptr;
}

void inheritance() {
    for (long i = 0; i < count; ++i) {
        std::vector<object*> objects;
        pthread_t thread;
        CHECK(pthread_create(&thread, nullptr, &making, &objects) == 0);
        pthread_join(thread, nullptr);
        for (object* const each : objects) {
            unmade(each);
        }
    }
    CHECK(resident_kib() < 64 * 1024);
}

/// Detached threads are still running, and allocating, when the process ends.
void* endless(void*) {
    for (std::uint32_t i = 0;; ++i) {
        unmade(made(some_size(i), i & 0xFF));
    }
}

void cut_short() {
    for (long i = 0; i < count; ++i) {
        pthread_t thread;
        CHECK(pthread_create(&thread, nullptr, &endless, nullptr) == 0);
        pthread_detach(thread);
    }
    usleep(20000);
    atexit([] { unmade(made(1000, 1)); });
    exit(0);
}

} // namespace

int main(int argc, char** argv) {
    static const scene scenes[] = {
        {"storm", &storm}, {"inheritance", &inheritance}, {"cut-short", &cut_short}};
    return play(scenes, sizeof scenes / sizeof *scenes, argc, argv);
}
