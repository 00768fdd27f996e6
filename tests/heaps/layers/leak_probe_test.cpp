// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// No layer lets a verb of its superheap leak past it. The probe is a superheap that has every verb;
// each verb that can then be seen on a layer must be the layer's own, which shows in the type of
// the pointer to it. Every layer of the catalogue is asked. And what a `LockedHeap` passes on must
// run with the lock held.
#include <heapwright/heap.hpp>

#include <gtest/gtest.h>

#include <probes.hpp> // written from the headers: every layer of the catalogue over a probe

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace heapwright::testing {
namespace {

/// Has every verb of the contract, and of what layers have between them.
class ProbeHeap {
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

    void* malloc(std::size_t) noexcept { return note("malloc"), nullptr; }
    void* mallocHeld(std::size_t) noexcept { return note("mallocHeld"), nullptr; }
    void* memalignHeld(std::size_t, std::size_t) noexcept { return note("memalignHeld"), nullptr; }
    void* zalloc(std::size_t) noexcept { return note("zalloc"), nullptr; }
    void* memalign(std::size_t, std::size_t) noexcept { return note("memalign"), nullptr; }
    void* relocate(void*, std::size_t) noexcept { return note("relocate"), nullptr; }
    void* extend(std::size_t) noexcept { return note("extend"), nullptr; }
    void free(void*) noexcept { note("free"); }
    std::size_t getSize(void*) noexcept { return note("getSize"), 0; }
    std::size_t getSizeUnlocked(void*) noexcept { return note("getSizeUnlocked"), 0; }
    void check(void*, std::string_view) noexcept { note("check"); }
    bool resize(void*, std::size_t) noexcept { return note("resize"), false; }
    ObjectLink* mallocBatch(std::size_t, std::size_t) noexcept {
        return note("mallocBatch"), nullptr;
    }
    void freeBatch(ObjectLink*) noexcept { note("freeBatch"); }
    bool flush() noexcept { return note("flush"), false; }
    bool trim(std::size_t) noexcept { return note("trim"), false; }
    bool shrink(Block*, std::size_t) noexcept { return note("shrink"), false; }
    bool isWholeSpan(Block*) noexcept { return note("isWholeSpan"), false; }
    void clear() noexcept { note("clear"); }
    std::uint32_t purgeExpired() noexcept { return note("purgeExpired"), 0; }
    void measure(MemoryUsage&) noexcept { note("measure"); }
    void inspect(HeapSnapshot&) noexcept { note("inspect"); }
    void walk(const ObjectVisitor&) noexcept { note("walk"); }
    bool owns(const void*) noexcept { return note("owns"), false; }
    void beforeFork() noexcept { note("beforeFork"); }
    void afterForkInParent() noexcept { note("afterForkInParent"); }
    void afterForkInChild() noexcept { note("afterForkInChild"); }

    static inline std::vector<std::string> ran;

private:
    static void note(const char* verb);
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

    void* mallocAt(std::size_t, std::size_t, std::size_t) noexcept { return nullptr; }
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
    void* tryMallocFast(std::size_t) noexcept { return nullptr; }
    bool tryFreeFast(void*) noexcept { return false; }
    void* mallocSlow(std::size_t) noexcept { return nullptr; }
    void freeSlow(void*) noexcept {}
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
    static ObjectLink* mallocOwned(std::size_t, std::size_t& number) noexcept {
        number = 0;
        return nullptr;
    }
    static ObjectLink* freeOwned(ObjectLink*, std::size_t) noexcept { return nullptr; }
    static void releaseOwnership() noexcept {}
    static std::uint64_t ownerTagOfThread() noexcept { return noOwnerTag; }
    static std::size_t classAt(const void*) noexcept { return 0; }
};

/// The same where pages with descriptors are wanted.
class ProbePages : public ProbeHeap {
public:
    static constexpr bool concurrent = true;
    static constexpr std::size_t largest = 4 * MiB;
    static constexpr std::size_t nodes = 1;

    Page* takePages(std::size_t, Mobility, std::size_t) noexcept { return nullptr; }
    void givePages(Page&) noexcept {}
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

void ProbeHeap::note(const char* verb) {
    ran.push_back(std::string(verb) + (RecordingLock::held ? " locked" : " open"));
}

// A verb is seen if it can be called, and it is the layer's own if a pointer to it can be had as a
// pointer to a member of the layer: the way from a private base is barred. So is one that the layer
// names out of `PassedOn`. It is also true of a verb that cannot be seen at all.
#define HEAPWRIGHT_VERB(verb, result, ...)                                                         \
    template <class L>                                                                             \
    constexpr bool sees_##verb =                                                                   \
        requires(L heap, std::size_t n, void* p, Block* b, MemoryUsage& f, HeapSnapshot& i,        \
                 const ObjectVisitor& v) { heap.verb(HEAPWRIGHT_CALL_##verb); };                   \
    template <class L>                                                                             \
    constexpr bool owns_##verb =                                                                   \
        requires { static_cast<result (L::*)(__VA_ARGS__)>(&L::verb); } ||                         \
        requires { static_cast<result (L::*)(__VA_ARGS__) const>(&L::verb); } ||                   \
        requires { static_cast<result (*)(__VA_ARGS__)>(&L::verb); } ||                            \
        requires { static_cast<result (PassedOn<ProbeHeap>::*)(__VA_ARGS__)>(&L::verb); } ||       \
        requires { static_cast<result (PassedOn<ProbeHeap>::*)(__VA_ARGS__) const>(&L::verb); };

#define HEAPWRIGHT_CALL_malloc n
#define HEAPWRIGHT_CALL_mallocHeld n
#define HEAPWRIGHT_CALL_memalignHeld n, n
#define HEAPWRIGHT_CALL_zalloc n
#define HEAPWRIGHT_CALL_memalign n, n
#define HEAPWRIGHT_CALL_relocate p, n
#define HEAPWRIGHT_CALL_extend n
#define HEAPWRIGHT_CALL_free p
#define HEAPWRIGHT_CALL_getSize p
#define HEAPWRIGHT_CALL_getSizeUnlocked p
#define HEAPWRIGHT_CALL_mallocBatch n, n
#define HEAPWRIGHT_CALL_freeBatch nullptr
#define HEAPWRIGHT_CALL_check p, "free"
#define HEAPWRIGHT_CALL_resize p, n
#define HEAPWRIGHT_CALL_flush
#define HEAPWRIGHT_CALL_trim n
#define HEAPWRIGHT_CALL_shrink b, n
#define HEAPWRIGHT_CALL_isWholeSpan b
#define HEAPWRIGHT_CALL_clear
#define HEAPWRIGHT_CALL_measure f
#define HEAPWRIGHT_CALL_purgeExpired
#define HEAPWRIGHT_CALL_inspect i
#define HEAPWRIGHT_CALL_walk v
#define HEAPWRIGHT_CALL_owns p
#define HEAPWRIGHT_CALL_beforeFork
#define HEAPWRIGHT_CALL_afterForkInParent
#define HEAPWRIGHT_CALL_afterForkInChild

HEAPWRIGHT_VERB(malloc, void*, std::size_t)
HEAPWRIGHT_VERB(mallocHeld, void*, std::size_t)
HEAPWRIGHT_VERB(memalignHeld, void*, std::size_t, std::size_t)
HEAPWRIGHT_VERB(zalloc, void*, std::size_t)
HEAPWRIGHT_VERB(memalign, void*, std::size_t, std::size_t)
HEAPWRIGHT_VERB(relocate, void*, void*, std::size_t)
HEAPWRIGHT_VERB(extend, void*, std::size_t)
HEAPWRIGHT_VERB(free, void, void*)
HEAPWRIGHT_VERB(getSize, std::size_t, void*)
HEAPWRIGHT_VERB(getSizeUnlocked, std::size_t, void*)
HEAPWRIGHT_VERB(mallocBatch, ObjectLink*, std::size_t, std::size_t)
HEAPWRIGHT_VERB(freeBatch, void, ObjectLink*)
HEAPWRIGHT_VERB(check, void, void*, std::string_view)
HEAPWRIGHT_VERB(resize, bool, void*, std::size_t)
HEAPWRIGHT_VERB(flush, bool)
HEAPWRIGHT_VERB(trim, bool, std::size_t)
HEAPWRIGHT_VERB(shrink, bool, Block*, std::size_t)
HEAPWRIGHT_VERB(isWholeSpan, bool, Block*)
HEAPWRIGHT_VERB(clear, void)
HEAPWRIGHT_VERB(measure, void, MemoryUsage&)
HEAPWRIGHT_VERB(purgeExpired, std::uint32_t)
HEAPWRIGHT_VERB(inspect, void, HeapSnapshot&)
HEAPWRIGHT_VERB(walk, void, const ObjectVisitor&)
HEAPWRIGHT_VERB(owns, bool, const void*)
HEAPWRIGHT_VERB(beforeFork, void)
HEAPWRIGHT_VERB(afterForkInParent, void)
HEAPWRIGHT_VERB(afterForkInChild, void)

/// The verbs that are seen on a layer without being its own.
template <class L>
std::vector<std::string> leaks() {
    std::vector<std::string> found;
#define HEAPWRIGHT_ASK(verb)                                                                       \
    if (sees_##verb<L> && !owns_##verb<L>) {                                                       \
        found.emplace_back(#verb);                                                                 \
    }
    HEAPWRIGHT_ASK(malloc)
    HEAPWRIGHT_ASK(mallocHeld)
    HEAPWRIGHT_ASK(memalignHeld)
    HEAPWRIGHT_ASK(zalloc)
    HEAPWRIGHT_ASK(memalign)
    HEAPWRIGHT_ASK(relocate)
    HEAPWRIGHT_ASK(extend)
    HEAPWRIGHT_ASK(free)
    HEAPWRIGHT_ASK(getSize)
    HEAPWRIGHT_ASK(getSizeUnlocked)
    HEAPWRIGHT_ASK(mallocBatch)
    HEAPWRIGHT_ASK(freeBatch)
    HEAPWRIGHT_ASK(check)
    HEAPWRIGHT_ASK(resize)
    HEAPWRIGHT_ASK(flush)
    HEAPWRIGHT_ASK(trim)
    HEAPWRIGHT_ASK(shrink)
    HEAPWRIGHT_ASK(isWholeSpan)
    HEAPWRIGHT_ASK(clear)
    HEAPWRIGHT_ASK(measure)
    HEAPWRIGHT_ASK(purgeExpired)
    HEAPWRIGHT_ASK(inspect)
    HEAPWRIGHT_ASK(walk)
    HEAPWRIGHT_ASK(owns)
    HEAPWRIGHT_ASK(beforeFork)
    HEAPWRIGHT_ASK(afterForkInParent)
    HEAPWRIGHT_ASK(afterForkInChild)
#undef HEAPWRIGHT_ASK
    return found;
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
    EXPECT_EQ(leaks<LeakyHeap<ProbeHeap>>(), std::vector<std::string>{"clear"});
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
