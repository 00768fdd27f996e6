// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Several threads at work when the system has no more memory. Each gets null and ENOMEM, keeps its
// objects, and all memory can be used again afterwards.
#include "conformance/thread_group.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iterator>

using namespace conformance;

namespace {

constexpr std::size_t room = std::size_t{32} << 20U;
constexpr std::size_t group = 6;
constexpr std::size_t smallStack = std::size_t{1} << 16U;
constexpr std::size_t enough = 12; ///< refusals for each thread

constexpr int rounds = 3;

ExchangeTable swaps;
// All threads start before any of them works, so that the first does not take the memory for
// starting the others. None ends before all are done, so that each keeps its own memory.
Gate begin[rounds];
Gate end[rounds];
std::atomic<int> round{0};
std::atomic<std::size_t> refusals{0};
std::atomic<std::size_t> live{0};
std::atomic<std::size_t> peak{0};    ///< of all threads together
std::atomic<std::size_t> reached{0}; ///< sum of the maxima of each thread

void count(std::size_t size) {
    const std::size_t now = live += size;
    std::size_t known = peak;
    while (known < now && !peak.compare_exchange_weak(known, now)) {
    }
}

/// The objects of one thread, linked through themselves, so that keeping them takes no memory.
class Possessions {
public:
    struct Object {
        Object* next;
        std::size_t size;
    };

    bool take(std::size_t size) {
        errno = 0;
        auto* object = static_cast<Object*>(std::malloc(sizeof(Object) + size));
        if (object == nullptr) {
            require(errno == ENOMEM, "errno is not ENOMEM");
            return false;
        }
        *object = {top_, size};
        fill(object + 1, std::min(size, checked), static_cast<unsigned>(size));
        top_ = object;
        grownBy(size);
        return true;
    }
    bool drop() {
        Object* object = top_;
        if (object != nullptr) {
            top_ = object->next;
            requireFilled(object + 1, std::min(object->size, checked),
                          static_cast<unsigned>(object->size));
            live -= object->size;
            bytes_ -= object->size;
            std::free(object);
        }
        return object != nullptr;
    }
    /// Replaces the last object by a larger one. Without memory, it must stay as it is.
    void grow() {
        Object* object = top_;
        if (object == nullptr || object->size > 10'000) {
            return;
        }
        errno = 0;
        auto* larger =
            static_cast<Object*>(std::realloc(object, sizeof(Object) + object->size * 3));
        if (larger == nullptr) {
            require(errno == ENOMEM, "errno is not ENOMEM");
            return;
        }
        requireFilled(larger + 1, std::min(larger->size, checked),
                      static_cast<unsigned>(larger->size));
        grownBy(larger->size * 2);
        larger->size *= 3;
        fill(larger + 1, std::min(larger->size, checked), static_cast<unsigned>(larger->size));
        top_ = larger;
    }

    [[nodiscard]] std::size_t most() const { return most_; }

private:
    void grownBy(std::size_t size) {
        count(size);
        bytes_ += size;
        most_ = std::max(most_, bytes_);
    }

    static constexpr std::size_t checked = 128;
    std::size_t bytes_ = 0;
    std::size_t most_ = 0;
    Object* top_ = nullptr;
};

constexpr std::size_t sizes[] = {24, 24, 200, 200, 3000, 40'000};

void* workAtTheLimit(void* self) {
    Random random(reinterpret_cast<std::uintptr_t>(self));
    Possessions mine;
    std::size_t refused = 0;
    // Makes the allocator create the thread's state.
    ExchangeTable::checkAndFree(ExchangeTable::tryMake(1));
    begin[round].wait();
    while (refused < enough) {
        const std::size_t choice = random.below(16);
        bool granted = true;
        if (choice == 0) {
            mine.drop();
        } else if (choice == 1) {
            mine.grow(); // to rare sizes, which say little about the free memory
        } else if (choice == 2) {
            swaps.put(random.below(ExchangeTable::places),
                      ExchangeTable::tryMake(random.below(500)));
        } else {
            granted = mine.take(sizes[random.below(std::size(sizes))]);
        }
        if (!granted) {
            ++refused;
            for (std::size_t i = random.below(40); i > 0; --i) {
                mine.drop();
            }
        }
    }
    refusals += refused;
    while (mine.drop()) {
    }
    reached += mine.most();
    end[round].wait();
    return nullptr;
}

void meetTheLimitAgainAndAgain() {
    std::size_t first = 0;
    for (; round < rounds; ++round) {
        peak = 0;
        reached = 0;
        ThreadGroup threads(smallStack);
        while (threads.count() < group) {
            require(threads.add(workAtTheLimit) == 0, "pthread_create");
        }
        begin[round].expect(group);
        begin[round].open();
        end[round].expect(group);
        end[round].open();
        threads.join();
        swaps.clear();
        require(live == 0, "not everything was freed");
        if (round == 0) {
            first = peak;
            require(first >= room / 8, "memory was refused long before the limit");
        }
        // Threads may run one after the other, with memory that each has for itself.
        require(std::max<std::size_t>(peak, reached) >= first / 4,
                "much less memory than the first time");
    }
    require(refusals >= rounds * group * enough, "the limit was not met");
    unlimit();
    ExchangeTable::checkAndFree(ExchangeTable::make(room * 2));
    runThreads(group, [](void*) -> void* {
        for (std::size_t size = 1; size < room; size = size * 5) {
            ExchangeTable::checkAndFree(ExchangeTable::make(size));
        }
        return nullptr;
    });
}

void addressSpace() {
    limitAddressSpace(room);
    meetTheLimitAgainAndAgain();
}

void data() {
    limitData(room);
    meetTheLimitAgainAndAgain();
}

const Case cases[] = {
    {"limit-threads", Demand::standard,
     "the limit is met by several threads in the middle of their work, again and again",
     addressSpace},
    {"limit-threads-data", Demand::standard, "the same where it is RLIMIT_DATA", data},
};

} // namespace
