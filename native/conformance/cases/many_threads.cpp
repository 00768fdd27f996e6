// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// More threads than an allocator may have places for, and threads that the system refuses to
// create.
#include "conformance/thread_group.hpp"

#include <cerrno>
#include <cstdlib>
#include <grp.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace conformance;

namespace {

constexpr std::size_t crowd = 1500;
/// Known allocators have places for 1,024 threads.
constexpr std::size_t least = 1100;
constexpr std::size_t stack = 32768;
constexpr std::size_t each = 8;

Gate gate;
std::atomic<std::size_t> arrivals{0};
std::size_t present = 0; ///< set while the gate is closed
std::size_t* objects[crowd][each];

std::size_t* someObject(std::size_t thread, std::size_t i) {
    return ExchangeTable::make((thread * 37 + i * 211) % 2000);
}

void* meetAndSwap(void*) {
    const std::size_t thread = arrivals++;
    for (std::size_t i = 0; i < each; ++i) {
        objects[thread][i] = someObject(thread, i);
    }
    gate.wait();
    // Another thread is the last owner of each object.
    for (std::size_t i = 0; i < each; ++i) {
        ExchangeTable::checkAndFree(objects[(thread + i * 97 + 1) % present][i]);
        ExchangeTable::checkAndFree(someObject(thread, i + each));
    }
    return nullptr;
}

void* comeAndGo(void*) {
    const std::size_t thread = arrivals++ % crowd;
    for (std::size_t i = 0; i < each; ++i) {
        ExchangeTable::checkAndFree(someObject(thread, i));
    }
    return nullptr;
}

void manyAtOnce() {
    static ThreadGroup group(stack);
    while (group.count() < crowd && group.add(meetAndSwap) == 0) {
    }
    if (group.count() < least) {
        skip("the system does not let a process have 1,100 threads");
    }
    gate.expect(group.count());
    present = group.count();
    ExchangeTable::checkAndFree(someObject(0, 0)); // the main thread is one of them
    gate.open();
    group.join();
    for (int round = 0; round < 20; ++round) {
        runThreads(20, comeAndGo, stack);
    }
}

/// Waits at the gate, and allocates before and after.
void* wait(void*) {
    ExchangeTable::checkAndFree(ExchangeTable::tryMake(500));
    gate.wait();
    ExchangeTable::checkAndFree(ExchangeTable::make(500));
    return nullptr;
}

void expectRefused(int error) {
    require(error == EAGAIN || error == ENOMEM, "pthread_create fails with another error");
    std::size_t* object = ExchangeTable::tryMake(100);
    require(object != nullptr || errno == ENOMEM, "errno is not ENOMEM");
    ExchangeTable::checkAndFree(object);
}

void noMemoryForThreads() {
    static ThreadGroup group(std::size_t{1} << 18U);
    ExchangeTable::checkAndFree(
        ExchangeTable::make(100)); // the memory for the first object is there
    limitAddressSpace(std::size_t{24} << 20U);
    int error = 0;
    while (error == 0 && group.count() < ThreadGroup::most) {
        error = group.add(wait);
    }
    for (int again = 0; again < 20; ++again) {
        expectRefused(error);
        error = group.add(wait);
        if (error == 0) { // a page or two was found
            break;
        }
    }
    require(group.count() > 0, "no thread at all");
    unlimit();
    gate.open();
    group.join();
    runThreads(8, comeAndGo);
}

void noSuchStack() {
    for (int again = 0; again < 20; ++again) {
        ThreadGroup group(std::size_t{1} << 50U);
        expectRefused(group.add(comeAndGo));
    }
    runThreads(8, comeAndGo);
}

/// As an unprivileged user, because the limit does not apply to root.
void noMoreProcesses() {
    inChild(
        [] {
            rlimit limit{};
            ::getrlimit(RLIMIT_NPROC, &limit);
            const rlim_t before = limit.rlim_cur;
            limit.rlim_cur = 0;
            if ((::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) ||
                ::setrlimit(RLIMIT_NPROC, &limit) != 0) {
                skip("the number of processes cannot be limited here");
            }
            for (int again = 0; again < 50; ++again) {
                ThreadGroup group;
                const int error = group.add(comeAndGo);
                group.join();
                if (error == 0) {
                    skip("the number of processes is not limited here");
                }
                expectRefused(error);
            }
            limit.rlim_cur = before;
            require(::setrlimit(RLIMIT_NPROC, &limit) == 0, "setrlimit");
            runThreads(8, comeAndGo);
        },
        "a child that may not have threads");
}

const Case cases[] = {
    {"thread-crowd", Demand::standard,
     "1,500 threads live at the same time and free each other's objects", manyAtOnce},
    {"threads-refused-memory", Demand::standard,
     "threads are started until there is no memory for one more, and again later",
     noMemoryForThreads},
    {"threads-refused-stack", Demand::standard, "a thread with a stack that cannot be",
     noSuchStack},
    {"threads-refused-limit", Demand::standard,
     "no thread may be started (RLIMIT_NPROC), and later it may", noMoreProcesses},
};

} // namespace
