// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Programs in C++ that lose memory. A step takes 2 ms.
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "pace.h"

namespace {

constexpr unsigned step_us = 2000, steps = 750;

struct Peer {
    std::shared_ptr<Peer> other;
    char content[600] = {};
};

PLACE void link_peers() {
    auto a = std::make_shared<Peer>();
    auto b = std::make_shared<Peer>();
    a->other = b;
    b->other = a;
}

void shared_cycle() {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        link_peers();
        pace(step_us);
    }
}

struct Session {
    std::string user;
};

PLACE Session* open_session(unsigned number) {
    return new Session{std::string(900 + number % 10, 'x')};
}

void lost_strings() {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        Session* session = open_session(i);
        if (i % 2 == 0) {
            delete session;
        }
        pace(step_us);
    }
}

struct Item {
    char content[800];
};

PLACE void load_items(std::vector<Item*>& items) {
    items.clear(); // and does not delete what they point to
    for (unsigned i = 0; i < 10; ++i) {
        items.push_back(new Item{});
    }
}

void cleared_vector() {
    std::vector<Item*> items;
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        if (i % 10 == 0) {
            load_items(items);
        }
        pace(step_us);
    }
    for (Item* each : items) {
        delete each;
    }
}

PLACE void parse_message(unsigned number) {
    char* buffer = new char[1200];
    touched(buffer, 1200);
    if (number % 3 == 0) {
        throw std::runtime_error("no message"); // the buffer is lost
    }
    delete[] buffer;
}

void exceptions() {
    for (unsigned i = 0; i < steps; ++i) {
        try {
            parse_message(i);
        } catch (const std::runtime_error&) {
            serve(i);
        }
        pace(step_us);
    }
}

PLACE void take_over() {
    auto item = std::make_unique<Item>();
    touched(item.release(), sizeof(Item)); // meant get()
}

void released() {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        take_over();
        pace(step_us);
    }
}

PLACE void replace_entry(std::map<unsigned, Item*>& table, unsigned number) {
    table[number % 16] = new Item{}; // without deleting the old one
}

void replaced_entries() {
    std::map<unsigned, Item*> table;
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        replace_entry(table, i);
        pace(step_us);
    }
    for (auto& [key, item] : table) {
        delete item;
    }
}

struct Handler {
    std::function<void()> callback;
    char content[700] = {};
};

PLACE void register_handler() {
    auto handler = std::make_shared<Handler>();
    handler->callback = [handler] { serve(1); }; // refers to itself
}

void self_capture() {
    for (unsigned i = 0; i < steps; ++i) {
        register_handler();
        pace(step_us);
    }
}

PLACE void careless_worker() {
    for (unsigned i = 0; i < steps; ++i) {
        touched(new Item{}, sizeof(Item));
        pace(step_us);
    }
    wipe();
}

void one_of_four_threads() {
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t) {
        threads.emplace_back([t] {
            if (t == 2) {
                careless_worker();
            } else {
                for (unsigned i = 0; i < steps; ++i) {
                    serve(i);
                    pace(step_us);
                }
            }
        });
    }
    for (auto& each : threads) {
        each.join();
    }
}

thread_local char* thread_buffer = nullptr;

PLACE void use_thread_buffer() {
    thread_buffer = TAKE(4000);
}

/// Short threads, one after the other, each of which leaves its buffer behind.
void exited_threads() {
    for (unsigned i = 0; i < 150; ++i) {
        std::thread([i] {
            use_thread_buffer();
            serve(i);
        }).join();
        pace(10000);
    }
}

/// A queue of work whose consumer, another thread, forgets one message in five.
PLACE Item* produce_message() {
    return new Item{};
}

void forgetful_consumer() {
    for (unsigned i = 0; i < 150; ++i) {
        std::vector<Item*> batch;
        for (unsigned j = 0; j < 10; ++j) {
            batch.push_back(produce_message());
        }
        std::thread([&batch] {
            for (unsigned j = 0; j < batch.size(); ++j) {
                if (j % 5 != 0) {
                    delete batch[j];
                }
            }
        }).join();
        pace(10000);
    }
}

} // namespace

SCENARIOS({"shared-cycle", shared_cycle}, {"lost-strings", lost_strings},
          {"cleared-vector", cleared_vector}, {"exceptions", exceptions}, {"released", released},
          {"replaced-entries", replaced_entries}, {"self-capture", self_capture},
          {"one-of-four-threads", one_of_four_threads}, {"exited-threads", exited_threads},
          {"forgetful-consumer", forgetful_consumer})
