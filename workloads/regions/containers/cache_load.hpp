// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A simulated cache in front of slow storage. A key is looked up in a hash table. If it is present,
// it moves to the front of a list by last use. Otherwise it is fetched, which takes some time: an
// ordered table by time, and a set of pending keys. An ordered table counts all events by kind.
// Every step adds or removes nodes of some container.
#pragma once

#include "node_arenas.hpp"

#include <heapwright/core/random.hpp>

#include <functional>
#include <list>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace heapwright::workloads::containers {

template <class Arena>
class Cache {
    template <class T>
    using Allocator = NodeAllocator<T, Arena>;

public:
    Cache(Arena& arena, std::uint64_t& count, std::size_t room, std::uint64_t keys)
        : room_(room), keys_(keys), recent_(Allocator<std::uint64_t>(arena, count)),
          places_(16, Allocator<std::pair<const std::uint64_t, Place>>(arena, count)),
          coming_(Allocator<std::pair<const std::uint64_t, std::uint64_t>>(arena, count)),
          onTheWay_(Allocator<std::uint64_t>(arena, count)),
          tallies_(Allocator<std::pair<const std::uint64_t, Tally>>(arena, count)) {}

    void step(Random& random) {
        ++now_;
        while (!coming_.empty() && coming_.begin()->first <= now_) {
            arrive(coming_.begin()->second);
            coming_.erase(coming_.begin());
        }
        const std::uint64_t key = random.below(1 + random.below(keys_)); // low keys most often
        Tally& tally = tallies_[key / 16];
        if (const auto found = places_.find(key); found != places_.end()) {
            ++tally.hits;
            recent_.splice(recent_.begin(), recent_, found->second);
        } else if (onTheWay_.insert(key).second) {
            ++tally.misses;
            coming_.emplace(now_ + 10 + random.below(500), key);
        }
    }

    [[nodiscard]] std::uint64_t digest() const {
        std::uint64_t digest = 0xcbf29ce484222325U;
        for (const auto& [kind, tally] : tallies_) {
            digest = (digest ^ kind ^ tally.hits << 20U ^ tally.misses << 40U) * 0x100000001b3U;
        }
        return digest ^ recent_.size() ^ coming_.size() << 32U;
    }

private:
    struct Tally {
        std::uint64_t hits = 0;
        std::uint64_t misses = 0;
    };
    using Recent = std::list<std::uint64_t, Allocator<std::uint64_t>>;
    using Place = typename Recent::iterator;
    template <class Key, class Value>
    using Ordered = std::map<Key, Value, std::less<Key>, Allocator<std::pair<const Key, Value>>>;

    void arrive(std::uint64_t key) {
        onTheWay_.erase(key);
        recent_.push_front(key);
        places_.emplace(key, recent_.begin());
        if (recent_.size() > room_) {
            places_.erase(recent_.back());
            recent_.pop_back();
        }
    }

    std::size_t room_;
    std::uint64_t keys_;
    std::uint64_t now_ = 0;
    Recent recent_;
    std::unordered_map<std::uint64_t, Place, std::hash<std::uint64_t>, std::equal_to<>,
                       Allocator<std::pair<const std::uint64_t, Place>>>
        places_;
    std::multimap<std::uint64_t, std::uint64_t, std::less<>,
                  Allocator<std::pair<const std::uint64_t, std::uint64_t>>>
        coming_;
    std::set<std::uint64_t, std::less<>, Allocator<std::uint64_t>> onTheWay_;
    Ordered<std::uint64_t, Tally> tallies_;
};

struct Done {
    std::uint64_t objects = 0;
    std::uint64_t digest = 0;
};

/// Simulates `sessions` caches in turn. The rest of one is freed with its arena if possible, and
/// otherwise node by node.
template <class Arena>
Done simulate(std::uint64_t sessions, std::uint64_t steps, std::size_t room, std::uint64_t keys,
              Random random) {
    using Simulated = Cache<Arena>;
    Done done;
    Arena arena;
    alignas(Simulated) unsigned char place[sizeof(Simulated)];
    for (std::uint64_t session = 0; session < sessions; ++session) {
        auto* const cache = ::new (place) Simulated(arena, done.objects, room, keys);
        for (std::uint64_t each = 0; each < steps; ++each) {
            cache->step(random);
        }
        done.digest = (done.digest ^ cache->digest()) * 0x100000001b3U;
        if constexpr (!Arena::bulk) {
            cache->~Simulated();
        }
        arena.clear();
    }
    return done;
}

} // namespace heapwright::workloads::containers
