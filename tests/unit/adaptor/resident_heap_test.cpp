// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/adaptor/resident_heap.hpp>
#include <heapwright/heap.hpp>

#include <support/child.hpp>
#include <support/history.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

// One composition, and only its source differs.
template <class Source>
using Composed =
    LockedHeap<SharedFutexLock,
               CheckedHeap<StrictSegHeap<Exact<8>, FreelistHeap<NullHeap>,
                                         CoalesceHeap<4 * KiB, CoalesceableHeap<Source>>>>>;
using Shared = Composed<SharedMemoryHeap<16 * MiB>>;

struct File {
    static constexpr std::size_t size = 8 * MiB;
    static inline std::string path;
#ifdef __SANITIZE_THREAD__ // has the quiet addresses, and starts threads in children
    static constexpr Address address = 0x7EA0'0000'0000;
#endif
    static int open() noexcept { return platform::openFile(path.c_str()); }
};
using Kept = Composed<MappedFileHeap<File>>;

/// A list in the heap: what a program would keep in a file.
struct Link {
    Link* next;
    std::size_t number;
    std::size_t region;

    unsigned char* bytes() { return static_cast<unsigned char*>(forward(this, sizeof(Link))); }
};

template <class H>
Link* push(H& heap, Link* list, std::size_t number) {
    const std::size_t region = 1 + number * 37 % 3000;
    void* const place = heap.malloc(sizeof(Link) + region);
    if (place == nullptr) {
        return nullptr;
    }
    auto* const link = ::new (place) Link{list, number, region};
    std::memset(link->bytes(), static_cast<int>(number), region);
    return link;
}

/// How many links there are, in falling order down to 0 and with what belongs into them; -1: not.
std::ptrdiff_t lengthOf(Link* list) {
    std::ptrdiff_t length = 0;
    const std::size_t first = list == nullptr ? 0 : list->number;
    for (Link* link = list; link != nullptr; link = link->next) {
        for (std::size_t i = 0; i < link->region; ++i) {
            if (link->bytes()[i] != static_cast<unsigned char>(link->number)) {
                return -1;
            }
        }
        if (link->number != first - static_cast<std::size_t>(length++)) {
            return -1;
        }
    }
    return length;
}

TEST(ResidentHeap, AcceptsOnlyHeapsThatLieInOneRegion) {
    using Source = SharedMemoryHeap<1 * MiB>;
    EXPECT_TRUE(HousableHeap<Source>);
    EXPECT_TRUE(HousableHeap<Shared>);
    EXPECT_TRUE(HousableHeap<Kept>);
    EXPECT_FALSE(HousableHeap<MmapHeap>) << "it has no region";
    EXPECT_FALSE((HousableHeap<LockedHeap<FutexLock, Source>>)) << "a lock of one process";
    EXPECT_FALSE((HousableHeap<SignalSafeHeap<Source>>)) << "an arena of one process";
    EXPECT_FALSE((HousableHeap<TryHeap<Source, MmapHeap>>)) << "memory of one process";
    EXPECT_FALSE((HousableHeap<TryHeap<Source, SharedMemoryHeap<2 * MiB>>>)) << "two rooms";
    EXPECT_FALSE((HousableHeap<UniqueHeap<struct Here, Source>>)) << "an object of one process";
    EXPECT_FALSE((HousableHeap<DebugHeap<Source>>)) << "a map of one process";
    EXPECT_TRUE((HousableHeap<TryHeap<Source, Source>>)) << "one region, twice";
}

TEST(ResidentHeap, LivesInItsMemoryAndServesAnyHistory) {
    ResidentHeap<Shared> heap;
    ASSERT_TRUE(heap);
    EXPECT_EQ(heap.opening(), Opening::made);
    EXPECT_EQ(heap.root(), nullptr);
    void* const object = heap->malloc(100);
    EXPECT_LT(addressOf(object) - addressOf(&*heap), 16 * MiB);
    heap->free(object);
    runHistory(*heap, 1);
    runHistory(*heap, 2);
}

TEST(ResidentHeap, ServesParentAndChildrenAtOnce) {
    ResidentHeap<Shared> heap;
    ASSERT_TRUE(heap);
    std::vector<pid_t> children;
    for (std::uint32_t id = 0; id < 3; ++id) {
        children.push_back(startChild([&heap, id] {
            std::thread other([&] { runHistory(*heap, 200 + id, {1500, 100, 1, 3000, false}); });
            runHistory(*heap, 100 + id, {1500, 100, 1, 3000, false});
            other.join();
            return !::testing::Test::HasFailure();
        }));
    }
    runHistory(*heap, 7, {1500, 100, 1, 3000, false});
    for (const pid_t child : children) {
        EXPECT_EQ(statusOf(child), 0);
    }
    void* const large = heap->malloc(12 * MiB);
    EXPECT_NE(large, nullptr) << "everything came back, and merged";
}

TEST(ResidentHeap, ProcessReadsAndFreesObjectsOfAnother) {
    ResidentHeap<Shared> heap;
    ASSERT_TRUE(heap);
    EXPECT_EQ(statusOfChild([&heap] {
                  Link* list = nullptr;
                  for (std::size_t number = 0; number < 500; ++number) {
                      list = push(*heap, list, number);
                  }
                  heap.setRoot(list);
                  return list != nullptr;
              }),
              0);
    ASSERT_EQ(lengthOf(heap.root<Link>()), 500);
    EXPECT_EQ(statusOfChild([&heap] { return lengthOf(heap.root<Link>()) == 500; }), 0);
    for (Link* link = heap.root<Link>(); link != nullptr;) {
        Link* const next = link->next;
        heap->free(link);
        link = next;
    }
}

/// One process carves the chunk, the other is served from it, and each reads the other's data. A
/// sanitizer that keeps its books for each process apart has no finding.
TEST(ResidentHeap, ProcessIsServedFromAChunkThatAnotherCarved) {
    using Chunks = SizeHeap<ChunkHeap<64 * KiB, 8, SharedMemoryHeap<1 * MiB>>>;
    using Lists = StrictSegHeap<Exact<8>, FreelistHeap<NullHeap>, Chunks>;
    ResidentHeap<LockedHeap<SharedFutexLock, Lists>> heap;
    ASSERT_TRUE(heap);
    void* const mine = heap->malloc(50);
    EXPECT_EQ(statusOfChild([&] {
                  heap->free(mine);
                  Link* list = nullptr;
                  for (std::size_t number = 0; number < 20; ++number) {
                      list = push(*heap, list, number);
                  }
                  heap.setRoot(list);
                  return list != nullptr;
              }),
              0);
    EXPECT_EQ(lengthOf(heap.root<Link>()), 20);
    std::memset(heap->malloc(50), 1, 50);
}

TEST(ResidentHeap, ChildThatDiesInARequestAbortsTheOtherProcesses) {
    ResidentHeap<LockedHeap<SharedFutexLock, SharedMemoryHeap<1 * MiB>>> heap;
    ASSERT_TRUE(heap);
    const pid_t child = startChild([&heap] {
        heap->beforeFork(); // it has the lock
        heap.setRoot(&*heap);
        ::pause();
        return true;
    });
    while (heap.root() == nullptr) {
        ::usleep(1000);
    }
    ::kill(child, SIGKILL);
    EXPECT_DEATH(
        {
            ::alarm(60);
            static_cast<void>(heap->malloc(10));
        },
        "heapwright: lock\\(\\): the thread that held it has died");
    statusOf(child);
}

class KeptHeap : public ::testing::Test {
protected:
    void SetUp() override { File::path = file_.path(); }

    TemporaryFile file_{"kept"};
};

/// Each step is a process of its own that maps the file anew.
TEST_F(KeptHeap, ReopensWithAllItsObjects) {
    const auto append = [](Opening expected, std::size_t count) {
        return [expected, count] {
            ResidentHeap<Kept> heap;
            if (heap.opening() != expected) {
                return false;
            }
            auto* list = heap.root<Link>();
            const auto before = static_cast<std::size_t>(lengthOf(list));
            for (std::size_t number = before; number < before + count; ++number) {
                list = push(*heap, list, number);
            }
            heap.setRoot(list);
            return lengthOf(list) == static_cast<std::ptrdiff_t>(before + count);
        };
    };
    EXPECT_EQ(statusOfChild(append(Opening::made, 300)), 0);
    EXPECT_EQ(statusOfChild(append(Opening::found, 300)), 0);
    EXPECT_EQ(statusOfChild(append(Opening::found, 300)), 0);
    EXPECT_EQ(statusOfChild([] { // frees every second, and what is freed is used again
                  ResidentHeap<Kept> heap;
                  auto* const list = heap.root<Link>();
                  if (lengthOf(list) != 900) {
                      return false;
                  }
                  for (Link* link = list; link != nullptr && link->next != nullptr;) {
                      Link* const gone = link->next;
                      link->next = gone->next;
                      heap->free(gone);
                      link = link->next;
                  }
                  runHistory(*heap, 3);
                  heap.setRoot(nullptr);
                  return !::testing::Test::HasFailure();
              }),
              0);
}

TEST_F(KeptHeap, ReopensInTheSameProcess) {
    void* object = nullptr;
    {
        ResidentHeap<Kept> heap;
        ASSERT_EQ(heap.opening(), Opening::made);
        object = heap->malloc(1000);
        std::memset(object, 0x3C, 1000);
        heap.setRoot(object);
    }
    ResidentHeap<Kept> heap;
    ASSERT_EQ(heap.opening(), Opening::found);
    EXPECT_EQ(heap.root(), object);
    EXPECT_EQ(static_cast<unsigned char*>(object)[999], 0x3C);
    EXPECT_GE(heap->getSize(object), 1000U);
    EXPECT_NE(heap->malloc(1000), object);
    heap->free(object);
    EXPECT_EQ(statusOfChild([] {
                  ResidentHeap<Composed<MappedFileHeap<ScratchFile<1 * MiB>>>> another;
                  return static_cast<bool>(another) && another->malloc(10) != nullptr;
              }),
              0);
}

TEST_F(KeptHeap, ProcessesThatOpenItEachUseItAtOnce) {
    {
        const ResidentHeap<Kept> heap; // so that there is one
        ASSERT_TRUE(heap);
    }
    std::vector<pid_t> children;
    for (std::uint32_t id = 0; id < 3; ++id) {
        children.push_back(startChild([id] {
            ResidentHeap<Kept> heap;
            if (heap.opening() != Opening::found) {
                return false;
            }
            runHistory(*heap, 300 + id, {1500, 100, 1, 3000, false});
            return !::testing::Test::HasFailure();
        }));
    }
    for (const pid_t child : children) {
        EXPECT_EQ(statusOf(child), 0);
    }
    const ResidentHeap<Kept> heap;
    EXPECT_EQ(heap.opening(), Opening::found) << "and all left it in order";
}

TEST_F(KeptHeap, OpensAfterACrashOnlyOnRequest) {
    const pid_t child = startChild([] {
        ResidentHeap<Kept> heap;
        heap.setRoot(push(*heap, nullptr, 0));
        ::kill(::getpid(), SIGKILL);
        return false;
    });
    EXPECT_NE(statusOf(child), 0);
    {
        const ResidentHeap<Kept> heap;
        EXPECT_FALSE(heap);
        EXPECT_EQ(heap.opening(), Opening::unclean);
    }
    {
        const ResidentHeap<Kept> heap(Unclean::accept);
        ASSERT_EQ(heap.opening(), Opening::found);
        EXPECT_EQ(lengthOf(heap.root<Link>()), 1);
    }
    const ResidentHeap<Kept> heap;
    EXPECT_TRUE(heap) << "it was left in order now";
}

TEST_F(KeptHeap, DoesNotOpenForAHeapOfAnotherType) {
    {
        const ResidentHeap<Kept> heap;
        ASSERT_TRUE(heap);
    }
    const ResidentHeap<LockedHeap<SharedFutexLock, MappedFileHeap<File>>> other;
    EXPECT_FALSE(other);
    EXPECT_EQ(other.opening(), Opening::foreign);
    MappedFileHeap<File> bare;
    EXPECT_EQ(bare.malloc(10), nullptr);
}

struct TooSmall {
    static constexpr std::size_t size = 4 * KiB;
    static int open() noexcept { return platform::openUnnamedFile(); }
};

TEST(ResidentHeap, FailsToOpenIfTheRegionIsTooSmallForTheHeap) {
    using Large =
        StrictSegHeap<Exact<1000>, FreelistHeap<NullHeap>, SizeHeap<MappedFileHeap<TooSmall>>>;
    const ResidentHeap<Large> heap;
    EXPECT_FALSE(heap);
    EXPECT_EQ(heap.opening(), Opening::failed);
}

} // namespace
} // namespace heapwright::testing
