// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What a heap tells of itself to who looks inside: figures for each size class, cache and lock, and
// the objects one by one. Only numbers in places of fixed size, so that a heap can be looked at
// from within malloc, where nothing may allocate.
//
// Invariant: a layer adds what it alone knows, so that every number is told once; heaps that
// several rungs share enter themselves first. Cost: about 15 KiB where one stands.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace heapwright {

struct HeapSnapshot {
    static constexpr std::size_t mostClasses = 160;
    static constexpr std::size_t mostCaches = 64;

    /// One size class. Slots are counted, for they are all of one size.
    struct SizeClass {
        std::size_t size = 0;
        std::uint64_t used = 0;       ///< live for the program, or in a cache
        std::uint64_t cached = 0;     ///< of these: freed, and in a cache or on the way home
        std::uint64_t held = 0;       ///< in superblocks of the heaps of threads
        std::uint64_t heldGlobal = 0; ///< in superblocks that any thread may take
        std::uint64_t blocks = 0;     ///< superblocks of the class
        std::uint64_t returned = 0;   ///< superblocks of the class that went to the heap below

        [[nodiscard]] constexpr bool everUsed() const noexcept {
            return used + held + heldGlobal + returned != 0;
        }
        [[nodiscard]] constexpr std::uint64_t live() const noexcept {
            return used > cached ? used - cached : 0;
        }
        /// Held, but free.
        [[nodiscard]] constexpr std::uint64_t free() const noexcept {
            return held + heldGlobal > used ? held + heldGlobal - used : 0;
        }
    };

    /// What one thread keeps for itself.
    struct Cache {
        std::uint32_t thread = 0; ///< its number, as the heap counts threads
        std::uint64_t objects = 0;
        std::uint64_t bytes = 0;
        std::uint64_t remoteObjects = 0; ///< of other threads, waiting to go home
        std::uint64_t remoteBytes = 0;
        std::uint64_t refills = 0; ///< how often it took a batch
        std::uint64_t flushes = 0; ///< how often it gave one back

        constexpr void add(const Cache& other) noexcept {
            objects += other.objects;
            bytes += other.bytes;
            remoteObjects += other.remoteObjects;
            remoteBytes += other.remoteBytes;
            refills += other.refills;
            flushes += other.flushes;
        }
    };

    /// Objects that no size class serves.
    struct Large {
        std::uint64_t objects = 0;
        std::uint64_t bytes = 0;       ///< of memory that is theirs alone
        std::uint64_t direct = 0;      ///< of these objects: with a mapping of their own
        std::uint64_t directBytes = 0; ///< …
        std::uint64_t waiting = 0;     ///< not of these any more: freed, and kept above
        std::uint64_t waitingBytes = 0;
    };

    /// The memory from which superblocks and large objects are cut.
    struct Source {
        std::uint64_t chunks = 0;
        std::uint64_t chunkBytes = 0;
        std::uint64_t usedBytes = 0;
        std::uint64_t dirtyBytes = 0; ///< free, and the system believes that it is needed
        std::uint64_t cleanBytes = 0; ///< free, and nothing but addresses
    };

    /// What was asked of the system since the start.
    struct System {
        std::uint64_t maps = 0;
        std::uint64_t mappedBytes = 0;
        std::uint64_t unmaps = 0;
        std::uint64_t unmappedBytes = 0;
        std::uint64_t purges = 0; ///< memory returned whose addresses stay
        std::uint64_t purgedBytes = 0;
        std::uint64_t moves = 0; ///< objects that grew or moved by their pages

        [[nodiscard]] constexpr std::uint64_t nowMapped() const noexcept {
            return mappedBytes > unmappedBytes ? mappedBytes - unmappedBytes : 0;
        }
    };

    /// Over all size classes and large objects.
    struct Totals {
        std::uint64_t liveObjects = 0;
        std::uint64_t liveBytes = 0;
        std::uint64_t cachedObjects = 0;
        std::uint64_t cachedBytes = 0;
        std::uint64_t freeObjects = 0;
        std::uint64_t freeBytes = 0;
    };

    struct Lock {
        std::uint64_t takes = 0;
        std::uint64_t waits = 0; ///< of these, how often it was not free

        constexpr void add(std::uint64_t taken, std::uint64_t waited) noexcept {
            takes += taken;
            waits += waited;
        }
    };

    std::array<SizeClass, mostClasses> classes = {};
    std::size_t classCount = 0;
    std::size_t blockBytes = 0; ///< the size of a superblock
    std::uint64_t heaps = 0;    ///< of threads

    std::array<Cache, mostCaches> caches = {};
    std::size_t cacheCount = 0; ///< may be more than there are places
    Cache allCaches;

    Large large;
    Source source;
    System system;
    Lock heapLocks;  ///< the heaps of threads
    Lock globalLock; ///< of the heap that all share
    Lock sourceLock; ///< of the memory below

    std::array<const void*, 8> shared = {};

    /// The figures of a size class, which is there from now on. Classes beyond the last place are
    /// counted with the last one.
    constexpr SizeClass& sizeClass(std::size_t index, std::size_t size) noexcept {
        const std::size_t at = index < mostClasses ? index : mostClasses - 1;
        classCount = classCount > at ? classCount : at + 1;
        classes[at].size = size;
        return classes[at];
    }

    /// An object that was freed and that a layer above lets wait, so that the heap below has
    /// counted it as in use: of a size class, or with another index a large one of so many bytes.
    constexpr void addWaiting(std::size_t index, std::size_t bytes) noexcept {
        if (index < classCount) {
            ++classes[index].cached;
        } else if (large.objects != 0 && large.bytes >= bytes) {
            --large.objects;
            large.bytes -= bytes;
            ++large.waiting;
            large.waitingBytes += bytes;
        }
    }

    [[nodiscard]] constexpr Totals totals() const noexcept {
        Totals sum = {.liveObjects = large.objects,
                      .liveBytes = large.bytes,
                      .cachedObjects = large.waiting,
                      .cachedBytes = large.waitingBytes};
        for (std::size_t at = 0; at < classCount; ++at) {
            const SizeClass& each = classes[at];
            sum.liveObjects += each.live();
            sum.liveBytes += each.live() * each.size;
            sum.cachedObjects += each.cached;
            sum.cachedBytes += each.cached * each.size;
            sum.freeObjects += each.free();
            sum.freeBytes += each.free() * each.size;
        }
        return sum;
    }

    [[nodiscard]] constexpr std::size_t cacheRows() const noexcept {
        return cacheCount < mostCaches ? cacheCount : mostCaches;
    }

    constexpr void addCache(const Cache& cache) noexcept {
        if (cacheCount < mostCaches) {
            caches[cacheCount] = cache;
        }
        ++cacheCount;
        allCaches.add(cache);
    }

    /// Whether `heap` is looked at here for the first time. (When there is no room it says yes.)
    constexpr bool firstVisit(const void* heap) noexcept {
        for (const void*& entry : shared) {
            if (entry == heap) {
                return false;
            }
            if (entry == nullptr) {
                entry = heap;
                return true;
            }
        }
        return true;
    }
};

/// An object as a heap knows it.
struct LiveObject {
    static constexpr std::size_t noClass = SIZE_MAX;

    void* address = nullptr;
    std::size_t size = 0;            ///< bytes that may be used
    std::size_t sizeClass = noClass; ///< its number, if it has one
    bool cached = false;             ///< freed, and in a cache or on the way home
};

/// Any callable that takes a `LiveObject`, as a type that is no template. It must outlive this.
class ObjectVisitor {
public:
    template <class Visit>
        requires(!std::same_as<std::remove_const_t<Visit>, ObjectVisitor>)
    explicit constexpr ObjectVisitor(Visit& visit) noexcept
        : visit_(&visit), run_([](const void* visitor, const LiveObject& object) {
              (*const_cast<Visit*>(static_cast<const Visit*>(visitor)))(object);
          }) {}

    void operator()(const LiveObject& object) const { run_(visit_, object); }

private:
    const void* visit_;
    void (*run_)(const void*, const LiveObject&);
};

} // namespace heapwright
