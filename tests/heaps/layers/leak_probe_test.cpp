// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// No layer lets a verb of its superheap leak past it. The probe is a superheap that has each verb
// that a concept declares. Each verb that a layer then shows must be the layer's own, which shows
// in the type of the pointer to it. Every layer of the catalogue is probed. The verbs that a
// `LockedHeap` passes on must run with the lock held.
#include <heapwright/heap.hpp>

#include <gtest/gtest.h>

#include <probes.hpp> // written from the headers: every layer of the catalogue over a probe
#include <verbs.hpp>  // written from the concepts: each verb, and what asks a layer for it

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace heapwright::testing {
namespace {

/// Has every verb that a concept declares, and states what layers ask for.
class ProbeHeap : public ProbeVerbs {
public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool tagged = true;
    [[maybe_unused]] static constexpr bool contiguous = true;
    [[maybe_unused]] static constexpr bool concurrent = true;
    [[maybe_unused]] static constexpr bool acceptsForeignObjects = true;
    [[maybe_unused]] static constexpr bool mapsRegions = true;
    [[maybe_unused]] static constexpr bool unique = true;
    [[maybe_unused]] static constexpr std::string_view caption = "has every verb";
    using Below = Heaps<>;
};

/// The same where blocks are wanted that stand on multiples of their size.
class ProbeBlocks : public ProbeHeap {
public:
    static constexpr std::size_t blockSize = 8 * KiB;
    static constexpr std::size_t alignment = blockSize;
};

/// The same where runs of units are wanted.
class ProbeRuns : public ProbeHeap {
public:
    static constexpr std::size_t alignment = 32 * KiB;
};

/// The same where a thread's state decides what is done at once.
class ProbeAtOnce : public ProbeHeap {
public:
    struct ThreadState {};
    [[maybe_unused]] static constexpr bool splitPath = true;
    static constexpr std::size_t unitBytes = 32 * KiB;

    static ThreadState& threadState() noexcept {
        static ThreadState state;
        return state;
    }
};

/// The same where objects are at home with threads.
class ProbeOwnerTags : public ProbeHeap {
public:
    static constexpr std::size_t unitBytes = 32 * KiB;

    static ProbeOwnerTags& theHeap() noexcept {
        static ProbeOwnerTags heap;
        return heap;
    }
    static std::uint64_t ownerTagOf(const void*) noexcept { return noOwnerTag; }
    static bool hasOwnerTag(const void*) noexcept { return false; }
    static bool mayCache(const void*) noexcept { return false; }
    static ObjectLink* mallocOwned(std::size_t, std::size_t& number, ObjectLink*) noexcept {
        number = 0;
        return nullptr;
    }
    static ObjectLink* freeOwned(ObjectLink*, std::size_t, ObjectLink*) noexcept { return nullptr; }
    static void releaseOwnership() noexcept {}
    static bool adopt(const void*) noexcept { return false; }
    static void sendOwned(ObjectLink*, std::size_t) noexcept {}
    static ObjectLink* collectSent() noexcept { return nullptr; }
    static bool earnsOwnerTag() noexcept { return true; }
    static std::uint64_t ownerTagOfThread() noexcept { return noOwnerTag; }
    static std::size_t classAt(const void*) noexcept { return 0; }
};

/// The same where pages with descriptors are wanted.
class ProbePages : public ProbeHeap {
public:
    static constexpr bool concurrent = true;
    static constexpr std::size_t largest = 4 * MiB;
    static constexpr std::size_t nodes = 1;
};

/// A lock that knows whether it is held.
class RecordingLock {
public:
    void lock() noexcept { held = true; }
    bool tryLock() noexcept { return held = true; }
    void unlock() noexcept { held = false; }
    void reset() noexcept { held = false; }
    [[nodiscard]] bool heldByThisThread() const noexcept { return held; }

    static inline bool held = false;
};

} // namespace

void ProbeVerbs::note(const char* verb) {
    ran.push_back(std::string(verb) + (RecordingLock::held ? " locked" : " open"));
}

namespace {

// A verb is the layer's own if a pointer to it is a pointer to a member of the layer. The way from
// a private base is barred. So is a verb that the layer names out of its forwarding base.
template <class L>
std::vector<std::string> leaks() {
    return leaksOver<L, ProbeHeap, ProbeBlocks, ProbeRuns, ProbeAtOnce, ProbeOwnerTags,
                     ProbePages>();
}

template <class L>
class LeakProbe : public ::testing::Test {};

using Layers = ::testing::Types<HEAPWRIGHT_PROBED_LAYERS>;
TYPED_TEST_SUITE(LeakProbe, Layers);

TYPED_TEST(LeakProbe, EveryVerbSeenIsTheLayersOwn) {
    EXPECT_EQ(leaks<TypeParam>(), std::vector<std::string>());
    EXPECT_EQ(sees_malloc<TypeParam>, sees_free<TypeParam>); // neither: a base of classes
}

TYPED_TEST(LeakProbe, TheSuperheapCannotBeReachedThroughTheLayer) {
    EXPECT_FALSE((std::is_convertible_v<TypeParam*, ProbeHeap*>));
}

/// What the probe is there to find: a layer through which `clear` can be seen.
template <class SuperHeap>
class LeakyHeap : private SuperHeap {
public:
    void* malloc(std::size_t size) noexcept { return SuperHeap::malloc(size); }
    void free(void* object) noexcept { SuperHeap::free(object); }
    using SuperHeap::clear;
};

/// And one that inherits in public, as a mixin in the classical manner does.
template <class SuperHeap>
class OpenHeap : public SuperHeap {
public:
    void* malloc(std::size_t size) noexcept { return SuperHeap::malloc(size); }
};

TEST(LeakProbeItself, FindsAVerbThatLeaks) {
    EXPECT_EQ(leaks<LeakyHeap<ProbeHeap>>(), std::vector<std::string>{"clear()"});
    EXPECT_TRUE((std::is_convertible_v<OpenHeap<ProbeHeap>*, ProbeHeap*>));
}

TEST(LockedHeapOverTheProbe, RunsEveryVerbUnderTheLock) {
    LockedHeap<RecordingLock, ProbeHeap> heap;
    ProbeHeap::ran.clear();
    std::size_t word = 0;
    void* const object = &word;
    MemoryUsage usage;
    EXPECT_EQ(heap.malloc(1), nullptr);
    EXPECT_EQ(heap.mallocHeld(1), nullptr);
    EXPECT_EQ(heap.zalloc(1), nullptr);
    EXPECT_EQ(heap.memalign(16, 1), nullptr);
    EXPECT_EQ(heap.relocate(object, 1), nullptr);
    heap.free(object);
    EXPECT_EQ(heap.getSize(object), 0U);
    EXPECT_FALSE(heap.resize(object, 1));
    EXPECT_EQ(heap.mallocBatch(8, 1), nullptr);
    heap.freeBatch(nullptr);
    EXPECT_FALSE(heap.flush());
    EXPECT_FALSE(heap.trim(0));
    heap.clear();
    heap.measure(usage);
    EXPECT_FALSE(heap.owns(object));
    EXPECT_EQ(ProbeHeap::ran,
              (std::vector<std::string>{"malloc locked", "mallocHeld locked", "zalloc locked",
                                        "memalign locked", "relocate locked", "free locked",
                                        "getSize locked", "resize locked", "mallocBatch locked",
                                        "freeBatch locked", "flush locked", "trim locked",
                                        "clear locked", "measure locked", "owns locked"}));
    EXPECT_FALSE(RecordingLock::held);
}

TEST(LockedHeapOverTheProbe, IsHeldOverAFork) {
    LockedHeap<RecordingLock, ProbeHeap> heap;
    ProbeHeap::ran.clear();
    heap.beforeFork();
    EXPECT_TRUE(RecordingLock::held);
    heap.afterForkInParent();
    EXPECT_FALSE(RecordingLock::held);
    heap.beforeFork();
    heap.afterForkInChild();
    EXPECT_FALSE(RecordingLock::held);
    EXPECT_EQ(ProbeHeap::ran,
              (std::vector<std::string>{"beforeFork locked", "afterForkInParent locked",
                                        "beforeFork locked", "afterForkInChild locked"}));
}

} // namespace
} // namespace heapwright::testing
