// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Forks while a request or a purge is under way, as in a signal handler that interrupted it.
#include "extent_heap_fixture.hpp"

#include <atomic>
#include <csignal>
#include <functional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace heapwright::testing {
namespace {

/// What interrupts the calling thread once.
struct Interruption {
    static inline thread_local std::function<void()> ofRequest; ///< it holds the memory's lock
    static inline thread_local std::function<void()> ofPurge;   ///< it purges, without that lock

    static void run(std::function<void()>& each) {
        if (const auto once = std::exchange(each, nullptr)) {
            once();
        }
    }
};

struct InterruptedRule {
    [[nodiscard]] static std::uint32_t returnDelay() noexcept {
        Interruption::run(Interruption::ofRequest);
        return purgeAtOnce;
    }
    [[nodiscard]] static bool hugePages() noexcept { return false; }
};

struct InterruptedExtents : LedgerExtents {
    static bool discard(void* pages, std::size_t bytes) noexcept {
        Interruption::run(Interruption::ofPurge);
        return LedgerExtents::discard(pages, bytes);
    }
};

using Interrupted = ExtentHeap<unit, FutexLock, InterruptedRule, InterruptedExtents>;

class ExtentHeapForkTest : public ExtentHeapTest {
protected:
    /// Runs `body` while another thread purges, and lets that thread go on only afterwards.
    template <class Body>
    void besideAPurge(Body body) {
        std::atomic<int> step{0};
        std::thread purger([&] {
            Interruption::ofPurge = [&step] {
                step = 1;
                step.notify_one();
                step.wait(1);
            };
            heap_.free(first_);
        });
        step.wait(0);
        body();
        step = 2;
        step.notify_one();
        purger.join();
    }

    /// Forks, and returns whether the child could use the heap and ended by itself.
    bool forkedChildUsesTheHeap(std::function<bool()> inChild) {
        heap_.beforeFork();
        const pid_t child = ::fork();
        if (child == 0) {
            heap_.afterForkInChild();
            ::alarm(60);
            atEndOfRequest_ = std::move(inChild);
            return true;
        }
        heap_.afterForkInParent();
        int status = 0;
        return ::waitpid(child, &status, 0) == child && WIFEXITED(status) &&
               WEXITSTATUS(status) == 0;
    }

    /// In the child, after the request that the fork interrupted.
    void endChild() {
        if (atEndOfRequest_) {
            ::_exit(atEndOfRequest_() ? 0 : 1);
        }
    }

    bool allocatesAndTrims() {
        void* const run = heap_.malloc(3 * unit);
        heap_.free(run);
        heap_.trim(0);
        return run != nullptr && heap_.dirtyBytes() == 0;
    }

    Interrupted heap_;
    void* first_ = heap_.malloc(2 * unit);
    void* second_ = heap_.malloc(2 * unit);
    std::function<bool()> atEndOfRequest_;
};

TEST_F(ExtentHeapForkTest, AForkInARequestDoesNotWaitForThePurgeOfAnotherThread) {
    besideAPurge([this] {
        bool survived = false;
        Interruption::ofRequest = [&] {
            survived = forkedChildUsesTheHeap([this] { return allocatesAndTrims(); });
        };
        heap_.free(second_);
        endChild();
        EXPECT_TRUE(survived);
    });
    EXPECT_TRUE(allocatesAndTrims());
}

TEST_F(ExtentHeapForkTest, AForkInAPurgeLeavesThePurgeToItsThread) {
    std::thread([this] { // the process has more than one
        bool survived = false;
        Interruption::ofPurge = [&] {
            survived = forkedChildUsesTheHeap([this] { return allocatesAndTrims(); });
        };
        heap_.free(first_);
        endChild();
        EXPECT_TRUE(survived);
        heap_.free(second_);
    })
        .join();
    EXPECT_TRUE(allocatesAndTrims());
}

TEST_F(ExtentHeapForkTest, AForkInsideAForkLeavesTheLocksToTheOuterOne) {
    std::thread([this] {
        heap_.beforeFork();
        EXPECT_TRUE(forkedChildUsesTheHeap([this] {
            heap_.afterForkInChild();
            return allocatesAndTrims();
        }));
        endChild();
        heap_.afterForkInParent();
        heap_.free(first_);
        heap_.free(second_);
    }).join();
    EXPECT_TRUE(allocatesAndTrims());
}

} // namespace
} // namespace heapwright::testing
