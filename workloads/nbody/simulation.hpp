// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Bodies and the tree of space over them. Bodies and nodes are objects of the allocator under test.
// The order of the bodies in space is the program's own memory. The results depend neither on the
// addresses of objects nor on the number of threads, so two simulations can be compared.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwright::workloads {

struct Vector {
    double x, y, z;
};

/// 288 bytes, mostly the body's history.
struct Body {
    Vector position;
    Vector velocity;
    Vector acceleration;
    Vector before; ///< acceleration of the last round
    double mass;
    double potential;
    double pulls; ///< number of nodes that acted on it: its cost
    std::uint64_t number;
    double energies[20]; ///< of the last rounds
};

/// A node of the tree: a leaf, 16 bytes for one body, or the head of a cell.
struct Node {
    Node* sibling;
    Body* body; ///< null in a cell
};

/// A cube of space and its contents: 56 bytes.
struct Cell : Node {
    Node* child;
    double mass;
    Vector centre; ///< of mass
};

class Simulation {
public:
    Simulation(std::uint64_t bodies, std::uint64_t seed);
    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;

    // The steps of a round, in this order, with a barrier between any two. One thread calls
    // `divide` and `join`.
    void divide();
    void build(unsigned thread, unsigned threads, std::uint64_t round);
    void join();
    void accelerate(unsigned thread, unsigned threads);
    void move(unsigned thread, unsigned threads);

    /// Frees the tree and the bodies.
    void clear();

    /// Kinetic and potential energy after the last round.
    double energy() const;
    std::uint64_t objects() const { return objects_.load(std::memory_order_relaxed); }
    bool sameBody(const Simulation& other, std::uint64_t number) const;

private:
    static constexpr unsigned parts = 64; ///< cubes of the second level, each built by one thread

    struct Range {
        Body** first;
        Body** last;
        Body** spare; ///< an equally large array, for sorting
    };
    struct Cube {
        Vector middle;
        double half;
    };

    Node* grow(Range range, Cube cube, unsigned depth, std::uint64_t& made);
    Node* gather(Node** nodes, unsigned count, std::uint64_t& made);
    void fell(Node* node);
    void fellTop();
    void pull(const Node* node, double size, Body& body) const;

    std::uint64_t count_;
    Body** bodies_; ///< by number
    Body** order_;  ///< in the order of space
    Body** spare_;
    Cube space_{};
    Range part_[parts] = {};
    Cube partCube_[parts] = {};
    Node* subtree_[parts] = {};
    Node* root_ = nullptr;
    std::atomic<std::uint64_t> objects_{0};
};

} // namespace heapwright::workloads
