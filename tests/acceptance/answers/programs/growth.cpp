// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Programs that use more and more memory and can still reach all of it. A step takes 2 ms.
#include <unistd.h>

#include <sys/mman.h>

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "pace.h"

namespace {

constexpr unsigned step_us = 2000, steps = 750;

std::vector<std::string> history;

PLACE void remember(size_t size) {
    history.emplace_back(size, 'x');
}

/// A global container, which its destructor frees at the end.
void global_container() {
    for (unsigned i = 0; i < 2 * steps; ++i) {
        serve(i);
        remember(6000 + i % 100);
        pace(step_us);
    }
}

/// The same, without destructors.
void global_container_exit() {
    global_container();
    _exit(0);
}

std::unordered_map<unsigned, std::string> results;

PLACE const std::string& look_up(unsigned key) {
    return results.try_emplace(key, 2000, 'r').first->second;
}

void unbounded_cache() {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        look_up(i);
        look_up(i / 2);
        pace(step_us);
    }
}

std::mutex lock;
std::deque<char*> queue;
bool ended = false;

PLACE void produce() {
    char* message = TAKE(2000);
    const std::lock_guard guard(lock);
    queue.push_back(message);
}

PLACE bool consume() {
    char* message = nullptr;
    {
        const std::lock_guard guard(lock);
        if (queue.empty()) {
            return !ended;
        }
        message = queue.front();
        queue.pop_front();
    }
    free(message);
    return true;
}

/// A producer that is three times as fast as its consumer.
void backed_up_queue() {
    std::thread consumer([] {
        for (unsigned i = 0; i < steps / 3; ++i) {
            consume();
            pace(3 * step_us);
        }
    });
    for (unsigned i = 0; i < steps; ++i) {
        produce();
        pace(step_us);
    }
    consumer.join();
    for (char* each : queue) {
        free(each);
    }
}

PLACE void append_log(std::string& log, unsigned number) {
    log.append(9000, static_cast<char>('a' + number % 26));
}

void one_string() {
    static std::string log;
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        append_log(log, i);
        pace(step_us);
    }
}

void accelerating() {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        remember(10 * i + 100);
        pace(step_us);
    }
}

PLACE void load_batch() {
    for (unsigned i = 0; i < 100; ++i) {
        history.emplace_back(8000, 'b');
    }
}

/// Eight steps of 800 KB.
void staircase() {
    for (unsigned i = 0; i < 1000; ++i) {
        serve(i);
        if (i % 125 == 60) {
            load_batch();
        }
        pace(step_us);
    }
}

/// A growth of 1.5 MB a second under a sawtooth of 4 MB.
void under_a_sawtooth() {
    std::vector<char*> batch;
    for (unsigned i = 0; i < 1000; ++i) {
        serve(i);
        remember(3000);
        batch.push_back(TAKE(40000));
        if (batch.size() == 100) {
            for (char* each : batch) {
                free(each);
            }
            batch.clear();
        }
        pace(step_us);
    }
    for (char* each : batch) {
        free(each);
    }
}

KEPT char* entries[steps];

PLACE void keep_inside(unsigned number) {
    entries[number] = TAKE(1000 + number % 8) + 64;
}

/// Pointers lead into the blocks, none to their begin.
void interior_pointers() {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        keep_inside(i);
        pace(step_us);
    }
}

struct Link {
    Link* next;
    char content[1500];
};

thread_local Link* own_list = nullptr;
std::mutex parked;

PLACE void keep_in_thread() {
    auto* link = reinterpret_cast<Link*>(TAKE(sizeof(Link)));
    link->next = own_list;
    own_list = link;
}

/// A thread that still runs at the end is the only one that leads to the blocks.
void running_thread() {
    static volatile bool through = false;
    parked.lock();
    std::thread([] {
        for (unsigned i = 0; i < steps; ++i) {
            serve(i);
            keep_in_thread();
            pace(step_us);
        }
        through = true;
        parked.lock();
    }).detach();
    while (!through) {
        pace(10000);
    }
}

/// All pointers are in pages that the program has mapped itself.
void mapped_table() {
    constexpr size_t size = steps * sizeof(char*);
    auto** table = static_cast<char**>(
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        table[i] = TAKE(2000);
        pace(step_us);
    }
}

KEPT char* base[400];

PLACE void load_base() {
    for (char*& each : base) {
        each = TAKE(64 << 10);
    }
}

/// 25 MiB that stay, and 1 MB a second that is added.
void beside_a_base() {
    load_base();
    for (unsigned i = 0; i < 1250; ++i) {
        serve(i);
        remember(2000);
        pace(step_us);
    }
}

std::vector<char*> pointers;

PLACE void keep_pointer() {
    pointers.push_back(TAKE(2000));
}

/// The container is destroyed at the end, and what its pointers led to is not: that is lost then.
void container_of_pointers() {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        keep_pointer();
        pace(step_us);
    }
}

PLACE void keep_in_table(std::vector<char*>& table) {
    table.push_back(TAKE(1000));
}

/// The table is so large that it has a mapping of its own. It is gone before the program ends.
void table_of_main() {
    std::vector<char*> table;
    table.reserve(64 << 10);
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        keep_in_table(table);
        pace(step_us);
    }
}

struct Tree {
    std::map<unsigned, std::string> entries;

    PLACE void insert_word(unsigned key) { entries.emplace(key, std::string(1000, 't')); }
};

/// An index of several threads' work, each with its own part.
void index_of_threads() {
    static Tree parts[4];
    std::vector<std::thread> threads;
    for (Tree& part : parts) {
        threads.emplace_back([&part] {
            for (unsigned i = 0; i < 400; ++i) {
                serve(i);
                part.insert_word(i);
                pace(2 * step_us);
            }
        });
    }
    for (auto& each : threads) {
        each.join();
    }
}

} // namespace

SCENARIOS({"global-container", global_container}, {"global-container-exit", global_container_exit},
          {"unbounded-cache", unbounded_cache}, {"backed-up-queue", backed_up_queue},
          {"one-string", one_string}, {"accelerating", accelerating}, {"staircase", staircase},
          {"under-a-sawtooth", under_a_sawtooth}, {"interior-pointers", interior_pointers},
          {"running-thread", running_thread}, {"mapped-table", mapped_table},
          {"beside-a-base", beside_a_base}, {"container-of-pointers", container_of_pointers},
          {"table-of-main", table_of_main}, {"index-of-threads", index_of_threads})
