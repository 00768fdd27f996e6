// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/sync/thread_slot.hpp>

#include <support/child.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <numeric>
#include <pthread.h>
#include <set>
#include <sys/syscall.h>
#include <thread>
#include <ucontext.h>
#include <vector>

namespace heapwright::testing {
namespace {

/// The slot that a thread gets which does nothing else.
std::uint32_t slotOfAThread() {
    std::uint32_t slot = noSlot;
    std::thread([&slot] { slot = threadSlot(); }).join();
    return slot;
}

TEST(ThreadSlot, IsReusedWhenItsThreadEnds) {
    const std::uint32_t mine = threadSlot();
    EXPECT_LT(mine, threadSlots);
    EXPECT_EQ(threadSlot(), mine);
    const std::uint32_t other = slotOfAThread();
    EXPECT_NE(other, mine);
    EXPECT_LT(other, threadSlots);
    EXPECT_EQ(slotOfAThread(), other);
}

TEST(ThreadSlot, TheNextTenantSeesItsContents) {
    static std::array<std::size_t, threadSlots> left{}; // no atomics
    std::vector<std::thread> threads;
    for (int id = 0; id < 4; ++id) {
        threads.emplace_back([] {
            for (int i = 0; i < 50; ++i) {
                std::thread([] { ++left[threadSlot()]; }).join();
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(std::accumulate(left.begin(), left.end(), std::size_t{0}), 200U);
}

TEST(ThreadSlot, ThreadGetsNoSecondSlotAfterGivingItBack) {
    std::uint32_t slot = noSlot;
    std::uint32_t next = noSlot;
    std::thread([&] {
        slot = threadSlot();
        giveThreadSlotBack();
        EXPECT_EQ(threadSlot(), noSlot);
        next = slotOfAThread();
        giveThreadSlotBack();
    }).join();
    EXPECT_EQ(next, slot);
    std::thread([] {
        giveThreadSlotBack(); // before it has one
        EXPECT_EQ(threadSlot(), noSlot);
    }).join();
}

TEST(ThreadSlot, IsStillThereWhenThreadLocalVariablesEnd) {
    static std::uint32_t atEnd;
    struct Last {
        ~Last() { atEnd = threadSlot(); }
    };
    std::uint32_t slot = noSlot;
    std::thread([&slot] {
        static thread_local Last last;
        static_cast<void>(&last);
        slot = threadSlot();
    }).join();
    EXPECT_EQ(atEnd, slot);
}

TEST(ThreadSlot, IsStillThereInTheFirstRoundsOfTheKeysDestructors) {
    static std::vector<std::uint32_t> rounds;
    static pthread_key_t key;
    rounds.clear();
    rounds.reserve(PTHREAD_DESTRUCTOR_ITERATIONS);
    ASSERT_EQ(::pthread_key_create(&key,
                                   [](void* value) {
                                       rounds.push_back(threadSlot());
                                       if (rounds.size() < platform::exitRound) {
                                           ::pthread_setspecific(key, value);
                                       }
                                   }),
              0);
    std::uint32_t slot = noSlot;
    std::thread([&slot] {
        slot = threadSlot();
        ::pthread_setspecific(key, &slot);
    }).join();
    ::pthread_key_delete(key);
    ASSERT_EQ(rounds.size(), std::size_t{platform::exitRound});
    EXPECT_TRUE(std::all_of(rounds.begin(), rounds.end() - 1,
                            [slot](std::uint32_t each) { return each == slot; }));
    EXPECT_TRUE(rounds.back() == slot || rounds.back() == noSlot);
    EXPECT_EQ(slotOfAThread(), slot);
}

TEST(ThreadSlot, AForkLeavesOneTenant) {
    std::atomic<int> step{0};
    std::thread other([&step] {
        static_cast<void>(threadSlot());
        step = 1;
        while (step != 2) {
            std::this_thread::yield();
        }
    });
    while (step != 1) {
        std::this_thread::yield();
    }
    const std::uint32_t mine = threadSlot();
    const int status = statusOfChild([mine] {
        keepOnlyMySlot();
        keepOnlyMySlot(); // as several layers do
        const std::uint32_t smallest = mine == 0 ? 1 : 0;
        return threadSlot() == mine && detail::ThreadSlot::claimAs(1'000'000) == smallest;
    });
    step = 2;
    other.join();
    EXPECT_EQ(status, 0);
}

/// Threads that all live at once, each with its slot.
class Crowd {
public:
    /// As many as the system allows, `count` at most.
    explicit Crowd(std::size_t count) : slots_(count, noSlot) {
        pthread_attr_t attributes;
        ::pthread_attr_init(&attributes);
        ::pthread_attr_setstacksize(&attributes, std::size_t{64} << 10U);
        ::pthread_mutex_lock(&door_);
        for (std::uint32_t& slot : slots_) {
            Place* const place = new Place{this, &slot};
            pthread_t thread{};
            if (::pthread_create(&thread, &attributes, &live, place) != 0) {
                delete place;
                break;
            }
            threads_.push_back(thread);
        }
        ::pthread_attr_destroy(&attributes);
        while (arrived_ != threads_.size()) {
            std::this_thread::yield();
        }
    }
    Crowd(const Crowd&) = delete;
    Crowd& operator=(const Crowd&) = delete;
    ~Crowd() {
        ::pthread_mutex_unlock(&door_);
        for (const pthread_t thread : threads_) {
            ::pthread_join(thread, nullptr);
        }
    }
    [[nodiscard]] std::size_t size() const { return threads_.size(); }
    [[nodiscard]] const std::vector<std::uint32_t>& slots() const { return slots_; }

private:
    struct Place {
        Crowd* crowd;
        std::uint32_t* slot;
    };
    static void* live(void* argument) {
        auto* const place = static_cast<Place*>(argument);
        Crowd& crowd = *place->crowd;
        *place->slot = threadSlot();
        delete place;
        ++crowd.arrived_;
        ::pthread_mutex_lock(&crowd.door_);
        ::pthread_mutex_unlock(&crowd.door_);
        return nullptr;
    }

    std::vector<std::uint32_t> slots_;
    std::vector<pthread_t> threads_;
    std::atomic<std::size_t> arrived_{0};
    pthread_mutex_t door_ = PTHREAD_MUTEX_INITIALIZER;
};

TEST(ThreadSlot, ThereAreMoreThreadsThanSlots) {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "ThreadSanitizer has room for too few threads";
#endif
    static_cast<void>(threadSlot());
    const std::uint32_t before = slotOfAThread();
    // One vanishes and leaves its slot taken, without a report.
    std::uint32_t vanished = noSlot;
    pthread_t thread{};
    ASSERT_EQ(::pthread_create(
                  &thread, nullptr,
                  [](void* slot) -> void* {
                      *static_cast<std::uint32_t*>(slot) = threadSlot();
                      ::syscall(SYS_exit, 0);
                      return nullptr;
                  },
                  &vanished),
              0);
    ::pthread_join(thread, nullptr);
    {
        constexpr std::size_t extra = 10;
        const Crowd crowd(threadSlots - 1 + extra);
        if (crowd.size() < threadSlots - 1 + extra) {
            GTEST_SKIP() << "the system allows only " << crowd.size() << " threads at once";
        }
        std::vector<std::uint32_t> slots = crowd.slots();
        EXPECT_EQ(std::count(slots.begin(), slots.end(), noSlot), extra);
        EXPECT_EQ(std::count(slots.begin(), slots.end(), vanished), 1) << "it was found again";
        slots.push_back(threadSlot());
        EXPECT_EQ(std::set<std::uint32_t>(slots.begin(), slots.end()).size(), threadSlots + 1);
    }
    EXPECT_EQ(slotOfAThread(), before) << "they have all gone";
}

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)

/// Steps through a thread's claim instruction by instruction; a handler asks at one of them.
struct Stepper {
    static constexpr std::uint64_t trapFlag = 0x100;
    static inline std::atomic<int> left;
    static inline std::uint32_t inHandler;

    /// After the handler has asked, the thread runs on without steps.
    static void handle(int, siginfo_t*, void* context) {
        if (left-- == 0) {
            inHandler = threadSlot();
            static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &=
                ~static_cast<greg_t>(trapFlag);
        }
    }

    /// The slot of a new thread whose claim is interrupted before its n-th instruction.
    static std::uint32_t slotInterruptedAt(int n) {
        left = n;
        inHandler = noSlot - 1;
        std::uint32_t slot = noSlot;
        std::thread([&slot] {
            __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | trapFlag);
            const std::uint32_t mine = threadSlot();
            __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~trapFlag);
            slot = mine;
            EXPECT_EQ(threadSlot(), mine);
        }).join();
        return slot;
    }
};

TEST(ThreadSlot, ASignalHandlerMayInterruptTheClaimAnywhere) {
    struct sigaction action {};
    struct sigaction before {};
    action.sa_sigaction = &Stepper::handle;
    action.sa_flags = SA_SIGINFO;
    ASSERT_EQ(::sigaction(SIGTRAP, &action, &before), 0);
    const std::uint32_t expected = slotOfAThread();
    int instructions = 0;
    std::size_t without = 0;
    for (;; ++instructions) {
        const std::uint32_t slot = Stepper::slotInterruptedAt(instructions);
        if (Stepper::left >= 0) {
            break; // the claim is over before that
        }
        ASSERT_EQ(slot, expected) << "interrupted before instruction " << instructions;
        ASSERT_TRUE(Stepper::inHandler == slot || Stepper::inHandler == noSlot) << instructions;
        without += Stepper::inHandler == noSlot ? 1U : 0U;
    }
    ::sigaction(SIGTRAP, &before, nullptr);
    EXPECT_GT(instructions, 30);
    EXPECT_GT(without, 0U) << "in the middle of the claim there is none";
    EXPECT_EQ(slotOfAThread(), expected) << "no slot was lost";
}

#endif

} // namespace
} // namespace heapwright::testing
