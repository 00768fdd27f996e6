// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See slots.hpp.
#include "slots.hpp"

#include "support/calls.hpp"
#include "support/fatal_error.hpp"
#include "support/memory.hpp"
#include "support/observers.hpp"

#include <pthread.h>
#include <sched.h>

namespace heapwright::workloads {

Slots::Slots(std::uint64_t count) : count_(count), slots_(mapArray<Slot>(count)) {}

Slots::Slot& Slots::take(Random& random) {
    for (;;) {
        Slot& slot = slots_[random.below(count_)];
        if (!slot.busy.exchange(true, std::memory_order_acquire)) {
            return slot;
        }
        sched_yield();
    }
}

void Slots::visit(Random& random, std::size_t largest) {
    Slot& slot = take(random);
    Object object = slot.object;
    std::uint64_t made = 1;
    const std::uint64_t chance = random.below(100);
    if (object.address == nullptr) {
        object = randomObject(random, largest);
    } else if (chance < 40) {
        freeObject(object);
        object = Object{};
    } else if (chance < 60 && !object.isNew) {
        resizeObject(object, random, largest);
    } else {
        freeObject(object);
        object = randomObject(random, largest);
        made = 2;
    }
    slot.object = object;
    leave(slot);
    operations_.fetch_add(made, std::memory_order_relaxed);
}

void Slots::put(Random& random, const Object& object) {
    Slot& slot = take(random);
    if (slot.object.address != nullptr) {
        freeObject(slot.object);
    }
    slot.object = object;
    leave(slot);
}

void Slots::clear() {
    for (std::uint64_t at = 0; at < count_; ++at) {
        if (slots_[at].object.address != nullptr) {
            freeObject(slots_[at].object);
            slots_[at].object = Object{};
        }
    }
}

/// Allocated from the allocator under test, so that the destructor frees it too.
struct Keeping::Kept {
    static constexpr unsigned most = 8;
    Slots* slots;
    std::uint64_t seed;
    unsigned
        rounds; ///< destructors that have run; the system repeats them while the key has a value
    Object object[most];
};

namespace {

pthread_key_t key;
pthread_once_t once = PTHREAD_ONCE_INIT;

} // namespace

Keeping::Keeping(Slots& slots) : kept_(nullptr) {
    pthread_once(&once, [] {
        if (pthread_key_create(&key, end) != 0) {
            noMemory("a key for the threads' own", sizeof(key));
        }
    });
    // Under verification no byte of an object may change, so the list is not an object of the
    // allocator.
    kept_ = static_cast<Kept*>(contentsAreOurs ? mapPages(sizeof(Kept)) : allocate(sizeof(Kept)));
    *kept_ = Kept{};
    kept_->slots = &slots;
    pthread_setspecific(key, kept_);
}

void Keeping::touch(Random& random) {
    Object& object = kept_->object[random.below(Kept::most)];
    if (object.address != nullptr) {
        freeObject(object);
    }
    object = randomObject(random, 4096);
    kept_->seed = random.next();
}

void Keeping::end(void* kept) {
    Kept& mine = *static_cast<Kept*>(kept);
    Random random(mine.seed, 17);
    if (++mine.rounds < 3) {
        // Allocates in each round of destructors, perhaps after the allocator's own exit hook.
        mine.slots->put(random, randomObject(random, 1024));
        pthread_setspecific(key, kept);
        return;
    }
    for (const Object& object : mine.object) {
        if (object.address != nullptr) {
            freeObject(object);
        }
    }
    if (contentsAreOurs) {
        unmapPages(kept, sizeof(Kept));
    } else {
        release(kept);
    }
}

} // namespace heapwright::workloads
