// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Programs in which several things happen, or one thing in an unusual way. A step takes 2 ms.
#include <array>
#include <deque>
#include <memory>
#include <memory_resource>
#include <string>
#include <vector>

#include "pace.h"

namespace {

constexpr unsigned step_us = 2000, steps = 1000;

KEPT char* report = nullptr;

PLACE void build_report() {
    report = TAKE(10000);
}

void overwritten_global() {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        if (i % 10 == 0) {
            build_report();
        }
        pace(step_us);
    }
}

struct Tree {
    std::array<Tree*, 2> children{};
    std::array<char, 200> content{};
};

PLACE Tree* plant(unsigned depth) {
    auto* tree = new Tree;
    if (depth > 0) {
        for (Tree*& child : tree->children) {
            child = plant(depth - 1);
        }
    }
    return tree;
}

void lost_tree() {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        if (i % 4 == 0) {
            Tree* tree = plant(3);
            touched(tree, 1);
            delete tree;
        }
        pace(step_us);
    }
}

std::deque<std::string> notes;

PLACE void note(std::size_t size) {
    notes.emplace_back(size, 'n');
}

PLACE void decode() {
    touched(new char[1200], 1200);
}

void new_array() {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        decode();
        note(3000);
        pace(step_us);
    }
}

PLACE void large_loss() {
    TAKE(2000);
}

PLACE void small_loss() {
    TAKE(200);
}

void two_leaks() {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        small_loss();
        large_loss();
        pace(step_us);
    }
}

PLACE void early_loss() {
    TAKE(3000);
}

void leak_then_stop() {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        if (i < steps / 2) {
            early_loss();
        } else {
            note(4000);
        }
        pace(step_us);
    }
}

PLACE unsigned descend(unsigned depth) {
    if (depth == 0) {
        TAKE(500);
        return 0;
    }
    volatile unsigned below = descend(depth - 1);
    return below + 1;
}

void deep_recursion() {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        descend(20);
        pace(step_us);
    }
}

void ring_buffer() {
    std::array<std::string, 500> ring;
    for (unsigned i = 0; i < 3 * steps; ++i) {
        ring[i % ring.size()] = std::string(1000 + i % 50, 'r');
        if (i % 2 == 0) {
            pace(step_us / 2);
        }
    }
}

void two_phases() {
    for (unsigned phase = 0; phase < 2; ++phase) {
        std::vector<char*> tables;
        for (unsigned i = 0; i < 32; ++i) {
            tables.push_back(TAKE(256 << 10));
        }
        for (unsigned i = 0; i < steps / 2; ++i) {
            serve(i);
            pace(step_us);
        }
        for (char* each : tables) {
            free(each);
        }
    }
}

void growing_then_flat() {
    for (unsigned i = 0; i < 2 * steps; ++i) {
        serve(i);
        if (i < steps) {
            note(5000);
        }
        pace(step_us / 2 * 3 / 2);
    }
}

void shrinking_cache() {
    std::vector<char*> entries;
    for (unsigned i = 0; i < 60; ++i) {
        entries.push_back(TAKE(256 << 10));
    }
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        if (i > steps * 2 / 3 && i % 4 == 0 && entries.size() > 4) {
            free(entries.back());
            entries.pop_back();
        }
        pace(step_us);
    }
    for (char* each : entries) {
        free(each);
    }
}

PLACE void collect(std::vector<double>& samples, unsigned number) {
    for (unsigned i = 0; i < 1150; ++i) {
        samples.push_back(number + i);
    }
}

void large_vector() {
    std::vector<double> samples;
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        collect(samples, i);
        pace(step_us);
    }
}

PLACE void in_arena(std::pmr::memory_resource& arena) {
    touched(arena.allocate(3000, 16), 3000);
}

void arena_of_objects() {
    std::pmr::monotonic_buffer_resource arena;
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        in_arena(arena);
        pace(step_us);
    }
}

} // namespace

SCENARIOS({"overwritten-global", overwritten_global}, {"lost-tree", lost_tree},
          {"new-array", new_array}, {"two-leaks", two_leaks}, {"leak-then-stop", leak_then_stop},
          {"deep-recursion", deep_recursion}, {"ring-buffer", ring_buffer},
          {"two-phases", two_phases}, {"growing-then-flat", growing_then_flat},
          {"shrinking-cache", shrinking_cache}, {"large-vector", large_vector},
          {"arena-of-objects", arena_of_objects})
