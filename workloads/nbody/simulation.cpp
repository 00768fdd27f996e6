// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See simulation.hpp.
#include "simulation.hpp"

#include "support/calls.hpp"
#include "support/memory.hpp"

#include <heapwright/core/random.hpp>

#include <cmath>
#include <cstring>

namespace heapwright::workloads {

namespace {

/// A cube smaller than this share of its distance is taken as one body.
constexpr double opening = 0.8;
constexpr double softening = 0.05;
constexpr double step = 0.025;
constexpr unsigned deepest = 60; ///< bodies closer than 2^-60 of all space share a cube
constexpr double pi = 3.14159265358979323846;

/// Plummer's sphere, drawn as in Aarseth, Hénon and Wielen (1974).
void place(Body& body, std::uint64_t count, Random random) {
    const auto direction = [&random](double length) {
        const double z = 2 * random.real() - 1;
        const double angle = 2 * pi * random.real();
        const double across = std::sqrt(1 - z * z);
        return Vector{length * across * std::cos(angle), length * across * std::sin(angle),
                      length * z};
    };
    const double enclosed = 0.001 + 0.99 * random.real();
    const double radius = 1 / std::sqrt(std::pow(enclosed, -2.0 / 3) - 1);
    double share = 0;
    double chance = 0;
    do {
        share = random.real();
        chance = 0.1 * random.real();
    } while (chance > share * share * std::pow(1 - share * share, 3.5));
    const double speed = share * std::sqrt(2.0) * std::pow(1 + radius * radius, -0.25);
    body.position = direction(radius);
    body.velocity = direction(speed);
    body.mass = 1 / static_cast<double>(count);
}

unsigned octant(const Body& body, const Vector& middle) {
    return (body.position.x > middle.x ? 1U : 0U) + (body.position.y > middle.y ? 2U : 0U) +
           (body.position.z > middle.z ? 4U : 0U);
}

template <class Cube>
Cube inside(const Cube& cube, unsigned which) {
    const double half = cube.half / 2;
    return {{cube.middle.x + ((which & 1U) != 0 ? half : -half),
             cube.middle.y + ((which & 2U) != 0 ? half : -half),
             cube.middle.z + ((which & 4U) != 0 ? half : -half)},
            half};
}

/// Sorts a range by octant, stably. `begins` receives the start of each octant, and the end.
template <class Range>
void sortByOctant(const Range& range, const Vector& middle, Body** (&begins)[9]) {
    std::size_t many[8] = {};
    for (Body** each = range.first; each != range.last; ++each) {
        ++many[octant(**each, middle)];
    }
    Body** next[8];
    begins[0] = range.first;
    for (unsigned which = 0; which < 8; ++which) {
        next[which] = range.spare + (begins[which] - range.first);
        begins[which + 1] = begins[which] + many[which];
    }
    for (Body** each = range.first; each != range.last; ++each) {
        *next[octant(**each, middle)]++ = *each;
    }
    const auto length = static_cast<std::size_t>(range.last - range.first);
    std::memcpy(range.first, range.spare, length * sizeof(Body*));
}

} // namespace

Simulation::Simulation(std::uint64_t bodies, std::uint64_t seed)
    : count_(bodies), bodies_(mapArray<Body*>(bodies)), order_(mapArray<Body*>(bodies)),
      spare_(mapArray<Body*>(bodies)) {
    for (std::uint64_t number = 0; number < bodies; ++number) {
        Body* const body = static_cast<Body*>(allocate(sizeof(Body)));
        *body = Body{};
        body->number = number;
        place(*body, bodies, Random(seed, number));
        bodies_[number] = order_[number] = body;
    }
    objects_ = bodies;
}

void Simulation::divide() {
    double farthest = 0;
    for (std::uint64_t number = 0; number < count_; ++number) {
        const Vector& at = bodies_[number]->position;
        farthest = std::fmax(
            farthest, std::fmax(std::fabs(at.x), std::fmax(std::fabs(at.y), std::fabs(at.z))));
    }
    space_ = {{0, 0, 0}, 1.001 * farthest + 1e-9};
    Body** first[9];
    sortByOctant(Range{order_, order_ + count_, spare_}, space_.middle, first);
    for (unsigned major = 0; major < 8; ++major) {
        const Cube cube = inside(space_, major);
        Body** second[9];
        sortByOctant(Range{first[major], first[major + 1], spare_ + (first[major] - order_)},
                     cube.middle, second);
        for (unsigned minor = 0; minor < 8; ++minor) {
            const unsigned part = 8 * major + minor;
            part_[part] = {second[minor], second[minor + 1], spare_ + (second[minor] - order_)};
            partCube_[part] = inside(cube, minor);
        }
    }
}

void Simulation::build(unsigned thread, unsigned threads, std::uint64_t round) {
    std::uint64_t made = 0;
    for (unsigned part = 0; part < parts; ++part) {
        if ((part + round) % threads == thread) {
            Node* const old = subtree_[part];
            subtree_[part] = grow(part_[part], partCube_[part], 2, made);
            fell(old);
        }
    }
    objects_.fetch_add(made, std::memory_order_relaxed);
}

Node* Simulation::grow(Range range, Cube cube, unsigned depth, std::uint64_t& made) {
    if (range.first == range.last) {
        return nullptr;
    }
    if (range.last - range.first == 1) {
        Node* const leaf = static_cast<Node*>(allocate(sizeof(Node)));
        ++made;
        *leaf = {nullptr, *range.first};
        return leaf;
    }
    if (depth >= deepest) {
        Body** const half = range.first + (range.last - range.first) / 2;
        Node* both[2] = {
            grow({range.first, half, range.spare}, cube, depth, made),
            grow({half, range.last, range.spare + (half - range.first)}, cube, depth, made)};
        return gather(both, 2, made);
    }
    Body** begins[9];
    sortByOctant(range, cube.middle, begins);
    Node* nodes[8];
    for (unsigned which = 0; which < 8; ++which) {
        nodes[which] =
            grow({begins[which], begins[which + 1], range.spare + (begins[which] - range.first)},
                 inside(cube, which), depth + 1, made);
    }
    return gather(nodes, 8, made);
}

Node* Simulation::gather(Node** nodes, unsigned count, std::uint64_t& made) {
    Cell* const cell = static_cast<Cell*>(allocate(sizeof(Cell)));
    ++made;
    *cell = {{nullptr, nullptr}, nullptr, 0, {0, 0, 0}};
    for (unsigned at = count; at-- > 0;) {
        Node* const node = nodes[at];
        if (node == nullptr) {
            continue;
        }
        node->sibling = cell->child;
        cell->child = node;
        const bool leaf = node->body != nullptr;
        const double mass = leaf ? node->body->mass : static_cast<Cell*>(node)->mass;
        const Vector& centre = leaf ? node->body->position : static_cast<Cell*>(node)->centre;
        cell->mass += mass;
        cell->centre.x += mass * centre.x;
        cell->centre.y += mass * centre.y;
        cell->centre.z += mass * centre.z;
    }
    cell->centre.x /= cell->mass;
    cell->centre.y /= cell->mass;
    cell->centre.z /= cell->mass;
    return cell;
}

void Simulation::join() {
    fellTop();
    std::uint64_t made = 0;
    Node* top[8];
    for (unsigned major = 0; major < 8; ++major) {
        Node** const nodes = subtree_ + 8 * major;
        bool any = false;
        for (unsigned minor = 0; minor < 8; ++minor) {
            any |= nodes[minor] != nullptr;
        }
        top[major] = any ? gather(nodes, 8, made) : nullptr;
    }
    root_ = gather(top, 8, made);
    objects_.fetch_add(made, std::memory_order_relaxed);
}

void Simulation::fell(Node* node) {
    if (node == nullptr) {
        return;
    }
    if (node->body == nullptr) {
        for (Node* child = static_cast<Cell*>(node)->child; child != nullptr;) {
            Node* const next = child->sibling;
            fell(child);
            child = next;
        }
    }
    release(node);
}

/// Frees the two uppermost levels. Their subtrees belong to other threads and may be gone.
void Simulation::fellTop() {
    if (root_ == nullptr) {
        return;
    }
    for (Node* child = static_cast<Cell*>(root_)->child; child != nullptr;) {
        Node* const next = child->sibling;
        release(child);
        child = next;
    }
    release(root_);
    root_ = nullptr;
}

void Simulation::pull(const Node* node, double size, Body& body) const {
    const bool leaf = node->body != nullptr;
    if (node->body == &body) {
        return;
    }
    const Vector& centre = leaf ? node->body->position : static_cast<const Cell*>(node)->centre;
    const double x = centre.x - body.position.x;
    const double y = centre.y - body.position.y;
    const double z = centre.z - body.position.z;
    const double square = x * x + y * y + z * z;
    if (!leaf && size * size > opening * opening * square) {
        for (const Node* child = static_cast<const Cell*>(node)->child; child != nullptr;
             child = child->sibling) {
            pull(child, size / 2, body);
        }
        return;
    }
    const double mass = leaf ? node->body->mass : static_cast<const Cell*>(node)->mass;
    const double soft = square + softening * softening;
    const double potential = mass / std::sqrt(soft);
    const double strength = potential / soft;
    body.potential -= potential;
    body.acceleration.x += strength * x;
    body.acceleration.y += strength * y;
    body.acceleration.z += strength * z;
    body.pulls += 1;
}

void Simulation::accelerate(unsigned thread, unsigned threads) {
    for (std::uint64_t at = count_ * thread / threads; at < count_ * (thread + 1) / threads; ++at) {
        Body& body = *order_[at];
        body.before = body.acceleration;
        body.acceleration = {0, 0, 0};
        body.potential = 0;
        pull(root_, 2 * space_.half, body);
    }
}

void Simulation::move(unsigned thread, unsigned threads) {
    for (std::uint64_t at = count_ * thread / threads; at < count_ * (thread + 1) / threads; ++at) {
        Body& body = *order_[at];
        const Vector& pulled = body.acceleration;
        Vector& velocity = body.velocity;
        std::memmove(body.energies + 1, body.energies,
                     sizeof body.energies - sizeof *body.energies);
        body.energies[0] = body.mass * (0.5 * (velocity.x * velocity.x + velocity.y * velocity.y +
                                               velocity.z * velocity.z + body.potential));
        velocity = {velocity.x + step * pulled.x, velocity.y + step * pulled.y,
                    velocity.z + step * pulled.z};
        body.position = {body.position.x + step * velocity.x, body.position.y + step * velocity.y,
                         body.position.z + step * velocity.z};
    }
}

void Simulation::clear() {
    fellTop();
    for (Node*& tree : subtree_) {
        fell(tree);
        tree = nullptr;
    }
    for (std::uint64_t number = 0; number < count_; ++number) {
        release(bodies_[number]);
    }
    unmapPages(bodies_, count_ * sizeof(Body*));
    unmapPages(order_, count_ * sizeof(Body*));
    unmapPages(spare_, count_ * sizeof(Body*));
}

double Simulation::energy() const {
    double sum = 0;
    for (std::uint64_t number = 0; number < count_; ++number) {
        sum += bodies_[number]->energies[0];
    }
    return sum;
}

bool Simulation::sameBody(const Simulation& other, std::uint64_t number) const {
    return std::memcmp(bodies_[number], other.bodies_[number], sizeof(Body)) == 0;
}

} // namespace heapwright::workloads
