// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See observers.hpp. Records are spread over shards by address, each with a lock. If lines are
// observed there is one shard, because neighbours in a line must be seen together.
#include "observers.hpp"

#include "live_bitmap.hpp"

#include <heapwright/core/contents.hpp>
#include <heapwright/core/random.hpp>

#include <atomic>
#include <pthread.h>
#include <sched.h>

namespace heapwright::workloads {

bool contentsAreOurs = false;

namespace {

struct Record {
    std::size_t size;
    std::uint64_t stamp; ///< the stamp of the contents
    ThreadNumber allocator;
    ThreadNumber handed; ///< for Lines::stays
    bool live;
};

struct Shard {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    Table<Record> records;
};

constexpr std::size_t shardCount = 64;

struct Watch {
    Calls under{};
    Observing watching;
    std::size_t shards = shardCount;
    Shard shard[shardCount];
    LiveBitmap shadow;
    Lines lines;
    Series series;
    std::atomic<std::uint64_t> stamps{0};
};

Watch watch;
std::atomic<ThreadNumber> numbered{0};
thread_local ThreadNumber me = 0;

class Locked {
public:
    explicit Locked(Shard& shard) : shard_(shard) { pthread_mutex_lock(&shard_.mutex); }
    ~Locked() { pthread_mutex_unlock(&shard_.mutex); }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

private:
    Shard& shard_;
};

std::uintptr_t addressOf(const void* object) {
    return reinterpret_cast<std::uintptr_t>(object);
}

Shard& shardOf(std::uintptr_t address) {
    return watch.shard[Random::mixed(address) % watch.shards];
}

void checkPlace(const void* object, std::size_t size, std::size_t alignment) {
    if (addressOf(object) % alignment != 0) {
        notVerified("object %p of %zu bytes given to thread %u is not aligned to %zu", object, size,
                    threadNumber(), alignment);
    }
    if (!watch.shadow.mark(addressOf(object), size)) {
        notVerified("object %p of %zu bytes given to thread %u overlaps a live object", object,
                    size, threadNumber());
    }
}

void checkContents(const void* object, std::size_t size, const Record& record, const char* when) {
    const std::size_t wrong = contents::firstUnlike(object, size, record.stamp);
    if (wrong != size) {
        notVerified(
            "object %p of %zu bytes, allocated by thread %u, has byte %zu changed when thread "
            "%u %s it",
            object, record.size, record.allocator, wrong, threadNumber(), when);
    }
}

/// Records an object. `kept` is the thread that allocated it before it was resized in place, else
/// 0.
void born(void* object, std::size_t size, std::size_t alignment, ThreadNumber kept = 0) {
    const std::uintptr_t address = addressOf(object);
    if (watch.watching.verify) {
        checkPlace(object, size, alignment);
    }
    const std::uint64_t stamp = Random::mixed(watch.stamps.fetch_add(1, std::memory_order_relaxed));
    if (watch.watching.contents) {
        contents::fill(object, size, stamp);
    }
    {
        Shard& shard = shardOf(address);
        const Locked lock(shard);
        Record& record = shard.records[address];
        if (record.live) {
            notVerified("object %p of %zu bytes given to thread %u is live already", object, size,
                        threadNumber());
        }
        record = {size, stamp, kept != 0 ? kept : threadNumber(), 0, true};
        if (watch.watching.lines && kept == 0) {
            watch.lines.born(address, size, record.allocator);
        }
    }
    if (watch.watching.memory) {
        watch.series.changed(static_cast<std::int64_t>(size));
    }
}

/// Removes an object and returns its record.
Record dies(void* object, const char* how) {
    const std::uintptr_t address = addressOf(object);
    Record was{};
    {
        Shard& shard = shardOf(address);
        const Locked lock(shard);
        Record& record = shard.records[address];
        if (!record.live) {
            notVerified("thread %u %s %p, which is not live", threadNumber(), how, object);
        }
        record.live = false;
        if (watch.watching.lines) {
            record.handed =
                watch.lines.dies(address, record.size, record.allocator, threadNumber());
        }
        was = record;
    }
    if (watch.watching.contents) {
        checkContents(object, was.size, was, how);
    }
    if (watch.watching.verify && !watch.shadow.clear(address, was.size)) {
        notVerified("object %p of %zu bytes is live no longer", object, was.size);
    }
    if (watch.watching.memory) {
        watch.series.changed(-static_cast<std::int64_t>(was.size));
    }
    return was;
}

std::size_t alignmentFor(std::size_t size) {
    return size >= 16 ? 16 : 8;
}

void* entered(void* object, std::size_t size, std::size_t alignment) {
    if (object != nullptr) {
        born(object, size, alignment);
    }
    if (watch.watching.lines) {
        static thread_local Random chance(threadNumber());
        if (chance.below(8) == 0) {
            sched_yield();
        }
    }
    return object;
}

void* watchedMalloc(std::size_t size) {
    return entered(watch.under.malloc(size), size, alignmentFor(size));
}

void* watchedCreate(std::size_t size) {
    return entered(watch.under.create(size), size, alignmentFor(size));
}

void* watchedMemalign(std::size_t alignment, std::size_t size) {
    return entered(watch.under.memalign(alignment, size), size, alignment);
}

void* watchedCalloc(std::size_t count, std::size_t size) {
    void* const object = watch.under.calloc(count, size);
    if (object != nullptr && watch.watching.verify) {
        const std::size_t wrong = contents::firstNotZero(object, count * size);
        if (wrong != count * size) {
            notVerified("calloc's object %p of %zu bytes has byte %zu not zero", object,
                        count * size, wrong);
        }
    }
    return entered(object, count * size, alignmentFor(count * size));
}

void watchedFree(void* object) {
    if (object != nullptr) {
        dies(object, "frees");
    }
    watch.under.free(object);
}

void watchedDestroy(void* object) {
    if (object != nullptr) {
        dies(object, "frees");
    }
    watch.under.destroy(object);
}

/// The allocator may move the object, resize it in place, or fail and keep it. If it moves, another
/// thread may get the old place at once. The old place is therefore removed first.
void* watchedRealloc(void* object, std::size_t size) {
    if (object == nullptr) {
        return watchedMalloc(size);
    }
    if (size == 0) {
        watchedFree(object);
        return nullptr;
    }
    const Record was = dies(object, "reallocates");
    void* const moved = watch.under.realloc(object, size);
    const bool inPlace = moved == nullptr || moved == object;
    if (moved != nullptr && watch.watching.contents) {
        const std::size_t kept = size < was.size ? size : was.size;
        checkContents(moved, kept, was, "has reallocated");
    }
    if (inPlace && watch.watching.lines) {
        const Locked lock(watch.shard[0]);
        watch.lines.stays(addressOf(object), moved != nullptr ? size : was.size, was.allocator,
                          was.handed);
    }
    const std::size_t now = moved != nullptr ? size : was.size;
    born(inPlace ? object : moved, now, alignmentFor(now), inPlace ? was.allocator : 0);
    return moved;
}

} // namespace

ThreadNumber threadNumber() {
    if (me == 0) {
        me = numbered.fetch_add(1, std::memory_order_relaxed) + 1;
    }
    return me;
}

ObservedBarrier::ObservedBarrier(unsigned threads) : observed_(watch.watching.lines) {
    pthread_barrier_init(&barrier_, nullptr, threads);
}

ObservedBarrier::~ObservedBarrier() {
    pthread_barrier_destroy(&barrier_);
}

Calls observedCalls(const Calls& under, const Observing& watching) {
    watch.under = under;
    watch.watching = watching;
    watch.shards = watching.lines ? 1 : shardCount;
    contentsAreOurs = watching.contents;
    return {watchedMalloc,   watchedFree,   watchedCalloc, watchedRealloc,
            watchedMemalign, watchedCreate, watchedDestroy};
}

const Lines::Found& linesFound() {
    return watch.lines.found();
}

Series& series() {
    return watch.series;
}

void lockObservers() {
    for (Shard& shard : watch.shard) {
        pthread_mutex_lock(&shard.mutex);
    }
}

void unlockObservers() {
    for (Shard& shard : watch.shard) {
        pthread_mutex_unlock(&shard.mutex);
    }
}

} // namespace heapwright::workloads
