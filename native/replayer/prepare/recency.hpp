// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The live objects of one thread by the order in which they were made. The rank of an object is the
// number of younger live objects of the thread. A binary indexed tree over all places counts the
// live ones. Cost: logarithmic for each call; memory in proportion to the most live objects.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapwright::replayer {

class Recency {
public:
    struct Object {
        std::uint64_t number = 0; ///< of the allocation; rises
        std::uint64_t size = 0;
        std::uint32_t slot = 0;
    };

    std::size_t live() const { return live_; }

    /// Pre: its number is larger than all before.
    void add(const Object& object) {
        if (places_.size() >= 2 * live_ + least) {
            compact();
        }
        places_.push_back({object, true});
        ++live_;
        append();
    }

    /// Whether the object is live here.
    bool has(std::uint64_t number) const {
        const std::size_t at = find(number);
        return at < places_.size() && places_[at].object.number == number && places_[at].live;
    }

    /// Pre: `has(number)`.
    std::size_t rank(std::uint64_t number) const { return live_ - countTo(find(number) + 1); }

    /// Pre: `has(number)`.
    void remove(std::uint64_t number) {
        const std::size_t at = find(number);
        places_[at].live = false;
        --live_;
        for (std::size_t node = at + 1; node <= places_.size(); node += lowest(node)) {
            --tree_[node - 1];
        }
    }

    /// Pre: `rank < live()`.
    const Object& at(std::size_t rank) const {
        std::size_t wanted = live_ - rank; // live places up to the wanted one
        std::size_t before = 0;
        for (std::size_t step = std::bit_floor(places_.size()); step != 0; step >>= 1U) {
            const std::size_t next = before + step;
            if (next <= places_.size() && tree_[next - 1] < wanted) {
                wanted -= tree_[next - 1];
                before = next;
            }
        }
        return places_[before].object;
    }

private:
    struct Place {
        Object object;
        bool live = false;
    };

    static constexpr std::size_t least = 1024;

    static std::size_t lowest(std::size_t node) { return node & (~node + 1); }

    std::size_t find(std::uint64_t number) const {
        const auto found = std::lower_bound(
            places_.begin(), places_.end(), number,
            [](const Place& place, std::uint64_t wanted) { return place.object.number < wanted; });
        return static_cast<std::size_t>(found - places_.begin());
    }

    /// Live objects of the first `count` places.
    std::size_t countTo(std::size_t count) const {
        std::size_t sum = 0;
        for (std::size_t node = count; node != 0; node -= lowest(node)) {
            sum += tree_[node - 1];
        }
        return sum;
    }

    /// Adds the node of the last place, which is live.
    void append() {
        const std::size_t node = places_.size();
        std::size_t sum = 1;
        for (std::size_t below = node - 1; below > node - lowest(node); below -= lowest(below)) {
            sum += tree_[below - 1];
        }
        tree_.push_back(static_cast<std::uint32_t>(sum));
    }

    void compact() {
        std::vector<Place> old;
        old.swap(places_);
        tree_.clear();
        for (const Place& place : old) {
            if (place.live) {
                places_.push_back(place);
                append();
            }
        }
    }

    std::vector<Place> places_;
    std::vector<std::uint32_t> tree_; ///< of `places_`, from node 1
    std::size_t live_ = 0;
};

} // namespace heapwright::replayer
