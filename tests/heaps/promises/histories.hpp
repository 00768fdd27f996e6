// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Histories that are made to bring a heap to hold much more than is live. They state the
// allocations and frees of each thread, and its end. Each follows from its parameters alone, and
// frees nothing twice; what it leaves live it has meant to. The shapes are those with which the
// literature shows blowup (Berger 2002, 4.2). Others aim at weak points of a bound for each size
// class. They are memory that moves from class to class, owners that become idle, and threads that
// end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace heapwright::testing::promises {

constexpr std::size_t threads = 6;

struct Step {
    enum class Verb : std::uint8_t { take, give, end };
    Verb verb;
    std::uint8_t thread;
    std::uint32_t object; ///< its number; those of a history count from 0
    std::uint32_t size;   ///< of what is taken
};

/// Writes a history down. It knows objects by their numbers.
class Author {
public:
    std::uint32_t take(std::size_t thread, std::size_t size) {
        steps_.push_back({Step::Verb::take, static_cast<std::uint8_t>(thread), objects_,
                          static_cast<std::uint32_t>(size)});
        return objects_++;
    }
    std::vector<std::uint32_t> take(std::size_t thread, std::size_t size, std::size_t number) {
        std::vector<std::uint32_t> objects;
        for (std::size_t each = 0; each < number; ++each) {
            objects.push_back(take(thread, size));
        }
        return objects;
    }
    void give(std::size_t thread, std::uint32_t object) {
        steps_.push_back({Step::Verb::give, static_cast<std::uint8_t>(thread), object, 0});
    }
    void give(std::size_t thread, const std::vector<std::uint32_t>& objects) {
        for (const std::uint32_t object : objects) {
            give(thread, object);
        }
    }
    /// Frees all but each `stride`-th; answers with what is left.
    std::vector<std::uint32_t>
    giveBut(std::size_t thread, const std::vector<std::uint32_t>& objects, std::size_t stride) {
        std::vector<std::uint32_t> left;
        for (std::size_t at = 0; at < objects.size(); ++at) {
            if (at % stride == 0) {
                left.push_back(objects[at]);
            } else {
                give(thread, objects[at]);
            }
        }
        return left;
    }
    void end(std::size_t thread) {
        steps_.push_back({Step::Verb::end, static_cast<std::uint8_t>(thread), 0, 0});
    }

    [[nodiscard]] std::uint32_t objects() const { return objects_; }
    [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }

private:
    std::vector<Step> steps_;
    std::uint32_t objects_ = 0;
};

/// Phases that grow and shrink, by all threads, of a few classes; now and then one ends.
inline Author atRandom(std::uint32_t seed, const std::vector<std::size_t>& sizes,
                       std::size_t length) {
    Author author;
    std::mt19937 random(seed);
    std::vector<std::uint32_t> live;
    for (std::size_t step = 0; step < length; ++step) {
        // Some steps in a row are one thread's.
        const std::size_t thread = (step / 16 * 2654435761U >> 7U) % threads;
        const bool grows = (step / 1500) % 2 == 0;
        if (live.empty() || random() % 10 < (grows ? 7U : 3U)) {
            live.push_back(author.take(thread, sizes[random() % sizes.size()]));
        } else {
            std::swap(live[random() % live.size()], live.back());
            author.give(thread, live.back());
            live.pop_back();
        }
        if (step % 997 == 996) {
            author.end(thread);
        }
    }
    author.give(0, live);
    return author;
}

/// One allocates all the time what another frees.
inline Author producerAndConsumer(std::size_t size, std::size_t batch, std::size_t rounds) {
    Author author;
    for (std::size_t round = 0; round < rounds; ++round) {
        author.give(1, author.take(0, size, batch));
    }
    return author;
}

/// Each thread in turn allocates what the one after it frees: with heaps that keep what they have,
/// memory grows with the threads.
inline Author roundRobin(std::size_t size, std::size_t batch, std::size_t rounds) {
    Author author;
    for (std::size_t round = 0; round < rounds; ++round) {
        author.give((round + 1) % threads, author.take(round % threads, size, batch));
    }
    return author;
}

/// Each thread in turn grows and leaves one object in each superblock or so; at last they die.
inline Author oneLeftInEach(std::size_t size, std::size_t batch, std::size_t stride,
                            std::size_t rounds) {
    Author author;
    std::vector<std::uint32_t> left;
    for (std::size_t round = 0; round < rounds; ++round) {
        const std::size_t thread = round % threads;
        const auto stay = author.giveBut(thread, author.take(thread, size, batch), stride);
        left.insert(left.end(), stay.begin(), stay.end());
    }
    author.give(0, left);
    return author;
}

/// A thread allocates much and never does anything again; others free all of it; then the next.
inline Author idleOwners(std::size_t size, std::size_t batch, std::size_t rounds) {
    Author author;
    for (std::size_t round = 0; round < rounds; ++round) {
        for (std::size_t owner = 1; owner < threads; ++owner) {
            author.give(0, author.take(owner, size, batch));
        }
    }
    return author;
}

/// Threads that allocate, leave each `stride`-th object, and end. The heir of the heap does the
/// same.
inline Author endingThreads(std::size_t size, std::size_t batch, std::size_t stride,
                            std::size_t rounds) {
    Author author;
    std::vector<std::uint32_t> left;
    for (std::size_t round = 0; round < rounds; ++round) {
        const std::size_t thread = 1 + round % (threads - 1);
        const auto stay = author.giveBut(thread, author.take(thread, size, batch), stride);
        left.insert(left.end(), stay.begin(), stay.end());
        author.end(thread);
        if (round % 3 == 2) {
            author.give(0, left);
            left.clear();
        }
    }
    author.give(0, left);
    return author;
}

/// Each thread replaces objects of the threads before it, at random, frees a part of them and ends.
/// Its successor has another place, or the same.
inline Author handedOn(std::uint32_t seed, std::size_t size, std::size_t batch,
                       std::size_t rounds) {
    Author author;
    std::mt19937 random(seed);
    auto live = author.take(0, size, batch);
    for (std::size_t round = 0; round < rounds; ++round) {
        const std::size_t thread = (round + round / 3) % threads;
        for (std::size_t step = 0; step < batch; ++step) {
            std::uint32_t& object = live[random() % live.size()];
            author.give(thread, object);
            object = author.take(thread, size);
        }
        author.end(thread);
        for (std::size_t part = batch / 5; part > 0 && round % 4 == 3; --part) {
            std::swap(live[random() % live.size()], live.back());
            author.give((thread + 1) % threads, live.back());
            live.pop_back();
        }
        while (live.size() < batch) {
            live.push_back(author.take((thread + 2) % threads, size));
        }
    }
    author.give(1, live);
    return author;
}

/// Grow and free, class by class: what one class leaves empty is to serve the next.
inline Author classByClass(const std::vector<std::size_t>& sizes, std::size_t bytes,
                           std::size_t rounds) {
    Author author;
    for (std::size_t round = 0; round < rounds; ++round) {
        const std::size_t thread = round % threads;
        for (const std::size_t size : sizes) {
            author.give(thread, author.take(thread, size, bytes / size));
        }
    }
    return author;
}

/// A class lives on the superblocks that another has left empty, and leaves one object in each of
/// them; the other grows anew. A heap might take its own empty superblocks before the little-used
/// ones of the class. Then they would become more in each round.
inline Author fromClassToClass(std::size_t lender, std::size_t borrower, std::size_t bytes,
                               std::size_t perSuperblock, std::size_t rounds) {
    Author author;
    constexpr std::size_t thread = 1;
    auto lent = author.take(thread, lender, bytes / lender);
    std::vector<std::uint32_t> left;
    for (std::size_t round = 0; round < rounds; ++round) {
        // The last fifth of it at once, so that whole superblocks become empty.
        const std::size_t stay = lent.size() - lent.size() / 5;
        for (std::size_t at = stay; at < lent.size(); ++at) {
            author.give(thread, lent[at]);
        }
        const std::size_t free = (lent.size() - stay) * lender;
        lent.resize(stay);
        const auto some =
            author.giveBut(thread, author.take(thread, borrower, free / borrower), perSuperblock);
        left.insert(left.end(), some.begin(), some.end());
        const auto again = author.take(thread, lender, free / lender);
        lent.insert(lent.end(), again.begin(), again.end());
    }
    author.give(0, left);
    author.give(0, lent);
    return author;
}

} // namespace heapwright::testing::promises
