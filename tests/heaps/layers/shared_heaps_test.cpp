// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The whole compositions shared: between threads, over forks, and with signal handlers that
// allocate while the heap is inside.
#include <heapwright/allocators/concurrent.hpp>
#include <heapwright/allocators/hoard_3_8.hpp>
#include <heapwright/allocators/kingsley.hpp>
#include <heapwright/allocators/kingsley_coalescing.hpp>
#include <heapwright/allocators/lea.hpp>
#include <heapwright/allocators/lkmalloc.hpp>
#include <heapwright/allocators/miser.hpp>
#include <heapwright/allocators/mtmalloc.hpp>
#include <heapwright/allocators/nedmalloc.hpp>
#include <heapwright/allocators/private.hpp>
#include <heapwright/allocators/ptmalloc2.hpp>
#include <heapwright/allocators/ptmalloc3.hpp>
#include <heapwright/allocators/serial.hpp>
#include <heapwright/allocators/thresholds.hpp>
#include <heapwright/allocators/vmalloc.hpp>
#include <heapwright/allocators/winxp.hpp>

#include <support/history.hpp>
#include <support/private_compositions.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <mutex>
#include <random>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace heapwright::testing {
namespace {

template <class H>
class SharedHeap : public ::testing::Test {
protected:
    /// One for the process, as it is used; what a signal handler can reach.
    static inline constinit Immortal<H> immortal;
    static H& heap() { return immortal.object; }
};

using Shared =
    ::testing::Types<allocators::Kingsley, allocators::KingsleyCoalescing, allocators::Lea,
                     allocators::WinXp, allocators::Vmalloc, allocators::Serial,
                     allocators::Concurrent, allocators::PurePrivate, allocators::Ptmalloc2,
                     allocators::Ptmalloc3, allocators::Mtmalloc, allocators::Nedmalloc,
                     allocators::Thresholds, allocators::Miser, allocators::Lkmalloc,
                     allocators::Hoard38, PurePrivate, PrivateOwnership>;
TYPED_TEST_SUITE(SharedHeap, Shared);

constexpr std::size_t threads = 4;

TYPED_TEST(SharedHeap, ServesThreadsAtOnce) {
    std::vector<std::thread> workers;
    for (std::uint32_t id = 0; id < threads; ++id) {
        workers.emplace_back(
            [id] { runHistory(TestFixture::heap(), 100 + id, {2000, 100, 1, 3000, false}); });
    }
    for (std::thread& worker : workers) {
        worker.join();
    }
}

/// Objects go from hand to hand: one thread's are freed by another.
TYPED_TEST(SharedHeap, FreesObjectsOfOtherThreads) {
    struct Parcel {
        unsigned char* bytes = nullptr;
        std::size_t size = 0;
    };
    std::mutex mutex;
    std::array<Parcel, 64> shelf{};
    std::atomic<std::size_t> wrong{0};
    std::vector<std::thread> workers;
    for (std::uint32_t id = 0; id < threads; ++id) {
        workers.emplace_back([&, id] {
            std::mt19937 random(id);
            for (int i = 0; i < 4000; ++i) {
                Parcel mine;
                mine.size = 1 + random() % (i % 100 == 0 ? 200'000U : 300U);
                mine.bytes = static_cast<unsigned char*>(TestFixture::heap().malloc(mine.size));
                if (mine.bytes == nullptr) {
                    ++wrong;
                    return;
                }
                mine.bytes[0] = mine.bytes[mine.size - 1] = static_cast<unsigned char>(mine.size);
                {
                    const std::lock_guard<std::mutex> hold(mutex);
                    std::swap(mine, shelf[random() % shelf.size()]);
                }
                if (mine.bytes != nullptr) {
                    const auto mark = static_cast<unsigned char>(mine.size);
                    wrong += mine.bytes[0] != mark || mine.bytes[mine.size - 1] != mark ? 1U : 0U;
                    TestFixture::heap().free(mine.bytes);
                }
            }
        });
    }
    for (std::thread& worker : workers) {
        worker.join();
    }
    for (const Parcel& left : shelf) {
        TestFixture::heap().free(left.bytes);
    }
    EXPECT_EQ(wrong, 0U);
}

/// The exit status of a child that runs `body`; kills it if it hangs.
template <class Body>
int statusOfChild(Body body) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(30);
        ::_exit(body() ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
}

TYPED_TEST(SharedHeap, WorksInTheChildOfABusyProcess) {
    std::atomic<bool> stop{false};
    std::vector<std::thread> workers;
    for (std::size_t id = 0; id < 2; ++id) {
        workers.emplace_back([&] {
            while (!stop.load()) {
                TestFixture::heap().free(TestFixture::heap().malloc(100));
            }
        });
    }
    for (int round = 0; round < 30; ++round) {
        TestFixture::heap().beforeFork();
        const pid_t child = ::fork();
        if (child == 0) {
            ::alarm(30);
            TestFixture::heap().afterForkInChild();
            for (std::size_t i = 0; i < 100; ++i) {
                TestFixture::heap().free(TestFixture::heap().malloc(i * 10));
            }
            ::_exit(0);
        }
        TestFixture::heap().afterForkInParent();
        int status = 0;
        ::waitpid(child, &status, 0);
        ASSERT_EQ(status, 0) << "round " << round;
    }
    stop = true;
    for (std::thread& worker : workers) {
        worker.join();
    }
}

TYPED_TEST(SharedHeap, ServesAForkHandlerWhileAForkHoldsIt) {
    TestFixture::heap().beforeFork();
    void* const object = TestFixture::heap().malloc(100);
    ASSERT_NE(object, nullptr);
    EXPECT_EQ(addressOf(object) % 16, 0U);
    std::memset(object, 1, 100);
    TestFixture::heap().afterForkInParent();
    EXPECT_GE(TestFixture::heap().getSize(object), 100U);
    TestFixture::heap().free(object);
}

// The handler allocates, grows, asks and frees, on whichever side of the heap it finds itself.
template <class H>
struct Interruption {
    static inline H* heap = nullptr;
    static inline void* handed = nullptr; ///< an object of the program's, for the handler to free
    static inline volatile std::sig_atomic_t times = 0;
    static inline volatile std::sig_atomic_t wrong = 0;

    static void handle(int /*signal*/) {
        const int saved = errno;
        times = times + 1;
        auto* object = static_cast<unsigned char*>(heap->malloc(200));
        auto* zero = static_cast<unsigned char*>(heap->calloc(10, 10));
        if (object == nullptr || zero == nullptr || heap->getSize(object) < 200 || zero[99] != 0) {
            wrong = wrong + 1;
        } else {
            object[199] = 7;
            object = static_cast<unsigned char*>(heap->realloc(object, 2000));
            wrong = wrong + (object == nullptr || object[199] != 7 ? 1 : 0);
        }
        heap->free(object);
        heap->free(zero);
        heap->free(handed);
        handed = nullptr;
        errno = saved;
    }
};

TYPED_TEST(SharedHeap, ServesASignalHandlerThatInterruptsIt) {
    const int status = statusOfChild([] {
        using Handler = Interruption<TypeParam>;
        Handler::heap = &TestFixture::heap();
        struct sigaction action = {};
        action.sa_handler = &Handler::handle;
        ::sigaction(SIGALRM, &action, nullptr);
        struct itimerval often = {{0, 200}, {0, 200}};
        std::vector<void*> objects;
        ::setitimer(ITIMER_REAL, &often, nullptr);
        for (std::size_t i = 0; Handler::times < 1500 && i < 50'000'000; ++i) {
            void* const object = TestFixture::heap().malloc(i % 500);
            std::memset(object, 3, i % 500);
            if (i % 1000 == 0 && Handler::handed == nullptr) {
                Handler::handed = object;
            } else {
                TestFixture::heap().free(object);
            }
        }
        often = {};
        ::setitimer(ITIMER_REAL, &often, nullptr);
        return Handler::wrong == 0 && Handler::times > 0;
    });
    EXPECT_EQ(status, 0);
}

/// A handler that interrupted the heap forks: neither side waits for a lock of its own.
TYPED_TEST(SharedHeap, HandlerThatInterruptsARequestCanFork) {
    const int status = statusOfChild([] {
        auto& heap = TestFixture::heap();
        heap.beforeFork(); // as a request that was interrupted: this thread is inside
        heap.beforeFork(); // the fork of the handler
        const pid_t child = ::fork();
        if (child == 0) {
            ::alarm(30);
            heap.afterForkInChild();
            void* const aside = heap.malloc(10);
            heap.afterForkInChild(); // what was interrupted goes on
            void* const object = heap.malloc(10);
            heap.free(aside);
            heap.free(object);
            ::_exit(aside != nullptr && object != nullptr ? 0 : 1);
        }
        heap.afterForkInParent();
        heap.afterForkInParent();
        void* const object = heap.malloc(10);
        heap.free(object);
        int childStatus = 0;
        ::waitpid(child, &childStatus, 0);
        return object != nullptr && childStatus == 0;
    });
    EXPECT_EQ(status, 0);
}

/// Forks in a handler, at any point of its thread. The child returns to the interrupted code.
template <class H>
struct ForkingInterruption {
    static inline H* heap = nullptr;
    static inline volatile std::sig_atomic_t times = 0;
    static inline volatile std::sig_atomic_t wrong = 0;
    static inline volatile std::sig_atomic_t inChild = 0;

    static void handle(int /*signal*/) {
        heap->beforeFork();
        const pid_t child = ::fork();
        if (child == 0) {
            ::alarm(30);
            heap->afterForkInChild();
            inChild = 1;
            return;
        }
        heap->afterForkInParent();
        int status = 0;
        while (::waitpid(child, &status, 0) != child) {
        }
        wrong = wrong + (status != 0 ? 1 : 0);
        times = times + 1;
    }
};

/// Those whose heaps share no lock below their own, for which a thread that is inside might wait.
template <class H>
class ForkingHandler : public SharedHeap<H> {};

using Forking =
    ::testing::Types<allocators::Kingsley, allocators::Lea, allocators::Concurrent,
                     allocators::PurePrivate, allocators::Ptmalloc2, allocators::Mtmalloc,
                     allocators::Nedmalloc, allocators::Thresholds, allocators::Miser,
                     allocators::Hoard38, PrivateOwnership>;
TYPED_TEST_SUITE(ForkingHandler, Forking);

TYPED_TEST(ForkingHandler, ForksBesideOtherThreads) {
    const int status = statusOfChild([] {
        using Handler = ForkingInterruption<TypeParam>;
        Handler::heap = &TestFixture::heap();
        sigset_t alarms;
        sigemptyset(&alarms);
        sigaddset(&alarms, SIGUSR1);
        ::pthread_sigmask(SIG_BLOCK, &alarms, nullptr); // for this thread alone
        std::atomic<bool> stop{false};
        std::vector<std::thread> workers;
        for (std::size_t id = 0; id < 3; ++id) {
            workers.emplace_back([&stop, self = ::pthread_self(), id] {
                for (std::size_t i = 0; !stop.load(); ++i) {
                    TestFixture::heap().free(TestFixture::heap().malloc(i % 500));
                    if (id == 0 && i % 200 == 0) {
                        ::pthread_kill(self, SIGUSR1);
                    }
                    if (i % 50 == 0) { // a lock that is always taken would starve the forking
                                       // thread
                        std::this_thread::sleep_for(std::chrono::microseconds(200));
                    }
                }
            });
        }
        struct sigaction action = {};
        action.sa_handler = &Handler::handle;
        ::sigaction(SIGUSR1, &action, nullptr);
        ::pthread_sigmask(SIG_UNBLOCK, &alarms, nullptr);
        while (Handler::times < 12 && Handler::inChild == 0) {
            TestFixture::heap().free(TestFixture::heap().malloc(100));
        }
        ::pthread_sigmask(SIG_BLOCK, &alarms, nullptr); // the last one may come just before
        if (Handler::inChild != 0) {
            for (std::size_t i = 0; i < 100; ++i) {
                TestFixture::heap().free(TestFixture::heap().malloc(i * 10));
            }
            ::_exit(0);
        }
        stop = true;
        for (std::thread& worker : workers) {
            worker.join();
        }
        return Handler::wrong == 0;
    });
    EXPECT_EQ(status, 0);
}

} // namespace
} // namespace heapwright::testing
