// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A pool for one class. Its objects are cut from chunks, and the next `new` reuses a deleted
// object. The class itself is unchanged and has no code for memory.
#include <heapwright/heap.hpp>

#include <array>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

/// A class of another library.
class Particle {
public:
    Particle(double x, double y) : position_{x, y} {}
    virtual ~Particle() = default;
    [[nodiscard]] virtual double energy() const { return position_[0] + position_[1]; }

private:
    std::array<double, 2> position_;
};

// The three lines.
using namespace heapwright;
using ParticleHeap = FreelistHeap<ChunkHeap<64 * KiB, 0, MmapHeap>>;
using PooledParticle = PooledClass<Particle, ParticleHeap>;

// Or, in a class of one's own; what is derived and larger is the program's ordinary object.
struct Node : PerClassHeap<Node, LockedHeap<FutexLock, ParticleHeap>> {
    virtual ~Node() = default;
    std::unique_ptr<Node> next;
};
struct NamedNode : Node {
    std::string name = "a node with a name that does not fit inside";
};

int main() {
    const auto* const first = new PooledParticle(1, 2);
    const void* const place = first;
    delete first;
    const std::unique_ptr<Particle> again = std::make_unique<PooledParticle>(3, 4);
    std::cout << "used again: " << std::boolalpha << (again.get() == place) << '\n';

    std::vector<std::unique_ptr<Particle>> particles;
    double energy = 0;
    for (int i = 0; i < 100'000; ++i) {
        particles.push_back(std::make_unique<PooledParticle>(i, 1));
        energy += particles.back()->energy();
    }
    std::cout << "energy: " << static_cast<long>(energy) << '\n';

    std::unique_ptr<Node> list;
    for (int i = 0; i < 1000; ++i) {
        std::unique_ptr<Node> node(i % 2 == 0 ? new Node : new NamedNode);
        node->next = std::move(list);
        list = std::move(node);
    }
    while (list) {
        list = std::move(list->next);
    }
    MemoryUsage usage;
    Node::classHeap().measure(usage);
    std::cout << "memory of all nodes: " << usage.mapped / KiB << " KiB\n";
}
