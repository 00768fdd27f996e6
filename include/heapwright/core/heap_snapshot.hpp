// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The figures that a heap reports to an inspector: for each size class, cache and lock, and the
// list of live objects. All fields are numbers in arrays of fixed size. A snapshot can therefore be
// taken inside malloc, where nothing may allocate.
//
// Invariant: each number is added by exactly one layer. A heap that several layers share registers
// itself first (`firstVisit`).
// Cost: about 15 KiB on the stack of the caller.
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

    /// One size class. The fields count slots, because all slots have the same size.
    struct SizeClass {
        std::size_t size = 0;
        std::uint64_t used = 0; ///< live for the program, or in a cache
        /// The part of `used` that was freed and is in a cache or on the way to its owner.
        std::uint64_t cached = 0;
        std::uint64_t held = 0;       ///< in superblocks of the heaps of threads
        std::uint64_t heldGlobal = 0; ///< in superblocks that any thread may take
        std::uint64_t blocks = 0;     ///< superblocks of the class
        /// Superblocks of the class that were returned to the heap below.
        std::uint64_t returned = 0;

        [[nodiscard]] constexpr bool everUsed() const noexcept {
            return used + held + heldGlobal + returned != 0;
        }
        [[nodiscard]] constexpr std::uint64_t live() const noexcept {
            return used > cached ? used - cached : 0;
        }
        /// Slots that are held and free.
        [[nodiscard]] constexpr std::uint64_t free() const noexcept {
            return held + heldGlobal > used ? held + heldGlobal - used : 0;
        }
    };

    /// What one thread caches.
    struct Cache {
        std::uint32_t thread = 0; ///< the number that the heap gave to the thread
        std::uint64_t objects = 0;
        std::uint64_t bytes = 0;
        /// Objects of other threads that still have to be returned to them.
        std::uint64_t remoteObjects = 0;
        std::uint64_t remoteBytes = 0;
        std::uint64_t refills = 0; ///< number of batches taken from the heap below
        std::uint64_t flushes = 0; ///< number of batches returned to the heap below

        constexpr void add(const Cache& other) noexcept {
            objects += other.objects;
            bytes += other.bytes;
            remoteObjects += other.remoteObjects;
            remoteBytes += other.remoteBytes;
            refills += other.refills;
            flushes += other.flushes;
        }
    };

    /// Objects too large for any size class.
    struct Large {
        std::uint64_t objects = 0;
        std::uint64_t bytes = 0;       ///< bytes of memory that serves only these objects
        std::uint64_t direct = 0;      ///< the part of `objects` that have a mapping of their own
        std::uint64_t directBytes = 0; ///< bytes of `direct`
        /// Freed objects that a layer above keeps; not part of `objects`.
        std::uint64_t waiting = 0;
        std::uint64_t waitingBytes = 0;
    };

    /// The memory from which superblocks and large objects are carved.
    struct Source {
        std::uint64_t chunks = 0;
        std::uint64_t chunkBytes = 0;
        std::uint64_t usedBytes = 0;
        std::uint64_t dirtyBytes = 0; ///< free, and still backed by physical memory
        std::uint64_t cleanBytes = 0; ///< free, and not backed by physical memory
    };

    /// Requests to the system since the start.
    struct System {
        std::uint64_t maps = 0;
        std::uint64_t mappedBytes = 0;
        std::uint64_t unmaps = 0;
        std::uint64_t unmappedBytes = 0;
        std::uint64_t purges = 0; ///< calls that returned memory and kept the addresses
        std::uint64_t purgedBytes = 0;
        std::uint64_t moves = 0; ///< objects that grew or moved by remapping their pages

        [[nodiscard]] constexpr std::uint64_t nowMapped() const noexcept {
            return mappedBytes > unmappedBytes ? mappedBytes - unmappedBytes : 0;
        }
    };

    /// The sums over all size classes and large objects.
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
        std::uint64_t waits = 0; ///< the part of these acquisitions that had to wait

        constexpr void add(std::uint64_t taken, std::uint64_t waited) noexcept {
            takes += taken;
            waits += waited;
        }
    };

    std::array<SizeClass, mostClasses> classes = {};
    std::size_t classCount = 0;
    std::size_t blockBytes = 0; ///< the size of a superblock
    std::uint64_t heaps = 0;    ///< number of heaps of threads

    std::array<Cache, mostCaches> caches = {};
    std::size_t cacheCount = 0; ///< may exceed the number of places
    Cache allCaches;

    Large large;
    Source source;
    System system;
    Lock heapLocks;  ///< the heaps of threads
    Lock globalLock; ///< of the heap that all threads share
    Lock sourceLock; ///< of the memory below

    std::array<const void*, 8> shared = {};

    /// Returns the figures of a size class and adds the class to the snapshot. Classes beyond the
    /// last place are counted with the last one.
    constexpr SizeClass& sizeClass(std::size_t index, std::size_t size) noexcept {
        const std::size_t at = index < mostClasses ? index : mostClasses - 1;
        classCount = classCount > at ? classCount : at + 1;
        classes[at].size = size;
        return classes[at];
    }

    /// Moves a freed object that a layer above keeps from `used` to `cached`. The heap below has
    /// counted it as in use. An index beyond the classes stands for a large object of `bytes`
    /// bytes.
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

    /// Registers `heap` and returns whether it is registered for the first time. Also true if there
    /// is no room to register it.
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

/// A live object as its heap describes it.
struct LiveObject {
    static constexpr std::size_t noClass = SIZE_MAX;

    void* address = nullptr;
    std::size_t size = 0;            ///< usable bytes
    std::size_t sizeClass = noClass; ///< index of the size class, if the object has one
    bool cached = false;             ///< freed, and in a cache or on the way to its owner
};

/// A reference to any callable that takes a `LiveObject`, without a template parameter.
/// Pre: the callable outlives this.
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
