// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Programs whose memory is as it should be. A step takes 2 ms.
#include <array>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "pace.h"

namespace {

constexpr unsigned step_us = 2000, steps = 750;

void requests_alone() {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        pace(step_us);
    }
}

/// Rises to 4 MB and falls to nothing, four times a second. Blocks of 256 KiB return to the system.
void sawtooth() {
    std::vector<char*> batch;
    for (unsigned i = 0; i < 1000; ++i) {
        if (i % 8 == 0) {
            batch.push_back(TAKE(256 << 10));
        }
        if (i % 128 == 127) {
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

void pool() {
    std::array<char*, 200> blocks{};
    for (char*& each : blocks) {
        each = TAKE(20000);
    }
    for (unsigned i = 0; i < steps; ++i) {
        touched(blocks[i % blocks.size()], 20000);
        serve(i);
        pace(step_us);
    }
    for (char* each : blocks) {
        free(each);
    }
}

/// A cache with 300 entries, the oldest of which leaves when one comes.
void bounded_cache() {
    std::list<std::string> order;
    for (unsigned i = 0; i < 2000; ++i) {
        order.emplace_back(4000, 'c');
        if (order.size() > 300) {
            order.pop_front();
        }
        pace(step_us / 2);
    }
}

/// Fills 10 MB in the first quarter, and changes nothing after it.
void warm_up() {
    static std::vector<std::string> table;
    for (unsigned i = 0; i < 1000; ++i) {
        serve(i);
        if (i < 250) {
            table.emplace_back(40000, 'w');
        }
        pace(step_us);
    }
}

/// The same table, which no destructor frees, and a pointer leads to it.
void warm_up_kept() {
    static KEPT auto* table = new std::vector<std::string>;
    for (unsigned i = 0; i < 1000; ++i) {
        serve(i);
        if (i < 250) {
            table->emplace_back(20000, 'w');
        }
        pace(step_us);
    }
}

/// Work in phases with rests between them.
void idle_between() {
    for (unsigned phase = 0; phase < 5; ++phase) {
        std::vector<std::string> work;
        for (unsigned i = 0; i < 50; ++i) {
            work.emplace_back(10000, 'i');
            pace(step_us);
        }
        work.clear();
        work.shrink_to_fit();
        pace(200000);
    }
}

/// One hill: 16 MB up, the same down, in mapped blocks.
void one_hill() {
    std::vector<char*> blocks;
    for (unsigned i = 0; i < 64; ++i) {
        blocks.push_back(TAKE(256 << 10));
        pace(10000);
    }
    while (!blocks.empty()) {
        free(blocks.back());
        blocks.pop_back();
        pace(10000);
    }
    for (unsigned i = 0; i < 200; ++i) {
        serve(i);
        pace(step_us);
    }
}

/// A base of 16 MB that is taken down from the middle of the run on.
void falling() {
    std::vector<char*> blocks;
    for (unsigned i = 0; i < 64; ++i) {
        blocks.push_back(TAKE(256 << 10));
    }
    for (unsigned i = 0; i < 1000; ++i) {
        serve(i);
        if (i >= 500 && i % 10 == 0 && !blocks.empty()) {
            free(blocks.back());
            blocks.pop_back();
        }
        pace(step_us);
    }
    for (char* each : blocks) {
        free(each);
    }
}

/// Messages that one thread makes and another frees.
void producer_and_consumer() {
    static std::mutex lock;
    static std::list<std::string> queue;
    std::thread consumer([] {
        for (unsigned i = 0; i < 2 * steps; ++i) {
            {
                const std::lock_guard guard(lock);
                queue.clear();
            }
            pace(step_us);
        }
    });
    for (unsigned i = 0; i < 2 * steps; ++i) {
        {
            const std::lock_guard guard(lock);
            queue.emplace_back(3000, 'm');
        }
        pace(step_us);
    }
    consumer.join();
}

struct Tree {
    std::weak_ptr<Tree> parent;
    std::vector<std::shared_ptr<Tree>> children;
    std::string name = std::string(500, 'n');
};

/// Trees whose children refer to their parents weakly.
void weak_parents() {
    for (unsigned i = 0; i < steps; ++i) {
        auto root = std::make_shared<Tree>();
        for (unsigned j = 0; j < 4; ++j) {
            root->children.push_back(std::make_shared<Tree>());
            root->children.back()->parent = root;
        }
        pace(step_us);
    }
}

/// A vector that doubles while it warms up, and is then used again and again.
void reused_vector() {
    std::vector<unsigned> numbers;
    for (unsigned i = 0; i < steps; ++i) {
        numbers.clear();
        for (unsigned j = 0; j < 5000; ++j) {
            numbers.push_back(j * i);
        }
        serve(numbers[17]);
        pace(step_us);
    }
}

/// Short threads that take their own memory down.
void short_threads() {
    for (unsigned i = 0; i < 150; ++i) {
        std::thread([i] {
            const std::string own(4000 + i, 't');
            serve(static_cast<unsigned>(own.size()));
        }).join();
        pace(10000);
    }
}

/// A session table whose entries are replaced all the time, with keys at random.
void replaced_sessions() {
    std::unordered_map<unsigned, std::string> sessions;
    unsigned seed = 1;
    for (unsigned i = 0; i < 2000; ++i) {
        seed = seed * 1103515245U + 12345U;
        sessions[(seed >> 16) % 200] = std::string(2000 + seed % 500, 's');
        pace(step_us / 2);
    }
}

/// Entries that one place makes at the start, and another place replaces later.
void replaced_from_elsewhere() {
    std::vector<std::string> rows;
    for (unsigned i = 0; i < 8000; ++i) {
        rows.emplace_back(900 + i % 300, 'l'); // loaded
        if (i % 20 == 0) {
            pace(step_us);
        }
    }
    unsigned seed = 1;
    for (unsigned i = 0; i < 12000; ++i) {
        seed = seed * 1103515245U + 12345U;
        std::string(900 + seed % 300, 'u').swap(rows[(seed >> 16) % 8000]); // updated
        if (i % 20 == 0) {
            pace(step_us);
        }
    }
}

/// A table that is built at once. The program then only reads it, without a call of malloc.
void built_at_start() {
    std::vector<std::vector<unsigned>> table;
    for (unsigned i = 0; i < 8000; ++i) {
        table.emplace_back(250, i);
    }
    unsigned sum = 0;
    for (unsigned i = 0; i < 1500; ++i) {
        sum += table[i % 8000][i % 250];
        pace(step_us);
    }
    serve(sum);
}

PLACE void set_up() {
    TAKE(300); // lost, once
}

/// A loss of 300 bytes, once. It is no leak that needs a search.
void lost_once() {
    set_up();
    requests_alone();
}

} // namespace

SCENARIOS({"requests-alone", requests_alone}, {"sawtooth", sawtooth}, {"pool", pool},
          {"bounded-cache", bounded_cache}, {"warm-up", warm_up}, {"warm-up-kept", warm_up_kept},
          {"idle-between", idle_between}, {"one-hill", one_hill}, {"falling", falling},
          {"producer-and-consumer", producer_and_consumer}, {"weak-parents", weak_parents},
          {"reused-vector", reused_vector}, {"short-threads", short_threads},
          {"replaced-sessions", replaced_sessions},
          {"replaced-from-elsewhere", replaced_from_elsewhere}, {"built-at-start", built_at_start},
          {"lost-once", lost_once})
