// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts the pthread locks that an allocator takes. The library is preloaded beside an allocator
// of another project, which cannot be compiled with counting locks. It stands between the allocator
// and the C library, and reports the counts as a counting library does (heapwright/c/events.h).
//
// Counts mutexes and spin locks. Ignores those that the program itself takes. The locks of the C
// library do not pass here. A call that arrives while the C library's functions are looked up
// succeeds without a lock, because only one thread exists then.
// Cost: for each lock, a look-up of the caller and of the last thread.
#include <heapwright/c/events.h>
#include <heapwright/sync/event_counts.hpp>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

namespace heapwright {
namespace {

constinit EventCounts counts;

/// The addresses of the program, which is not the allocator.
struct Range {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
};
constinit Range program;

void findProgram() noexcept {
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t /*size*/, void* /*data*/) {
            for (std::size_t i = 0; i < info->dlpi_phnum; ++i) {
                const auto& part = info->dlpi_phdr[i];
                if (part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0) {
                    program.begin = info->dlpi_addr + part.p_vaddr;
                    program.end = program.begin + part.p_memsz;
                }
            }
            return 1; // the program comes first
        },
        nullptr);
}

bool isProgram(const void* caller) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(caller);
    return address >= program.begin && address < program.end;
}

using Lock = int (*)(void*);

/// A function of the C library; null while it is looked up.
Lock next(std::atomic<Lock>& known, const char* name) noexcept {
    static constinit std::atomic<bool> looking{false};
    Lock found = known.load(std::memory_order_acquire);
    if (found == nullptr && !looking.exchange(true)) {
        found = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, name));
        known.store(found, std::memory_order_release);
        looking.store(false);
    }
    return found;
}

/// Counts a lock that was taken.
int counted(int result, const void* lock, const void* caller) noexcept {
    if (result == 0 && !isProgram(caller)) {
        counts.add(Event::lockTaken, lock);
    }
    return result;
}

int taken(void* lock, Lock attempt, Lock take, const void* caller) noexcept {
    if (attempt == nullptr || take == nullptr) {
        return 0;
    }
    int result = attempt(lock);
    if (result == EBUSY) {
        if (!isProgram(caller)) {
            counts.add(Event::lockWaiting, lock);
        }
        result = take(lock);
    }
    return counted(result, lock, caller);
}

constinit std::atomic<Lock> mutexTry;
constinit std::atomic<Lock> mutexLock;
constinit std::atomic<Lock> spinTry;
constinit std::atomic<Lock> spinLock;

/// Looks everything up before there are threads.
[[gnu::constructor]] void begin() noexcept {
    findProgram();
    next(mutexTry, "pthread_mutex_trylock");
    next(mutexLock, "pthread_mutex_lock");
    next(spinTry, "pthread_spin_trylock");
    next(spinLock, "pthread_spin_lock");
}

} // namespace
} // namespace heapwright

extern "C" {

[[gnu::visibility("default")]] int pthread_mutex_lock(pthread_mutex_t* mutex) {
    using namespace heapwright;
    const Lock attempt = next(mutexTry, "pthread_mutex_trylock");
    return taken(mutex, attempt, next(mutexLock, "pthread_mutex_lock"),
                 __builtin_return_address(0));
}

[[gnu::visibility("default")]] int pthread_mutex_trylock(pthread_mutex_t* mutex) {
    using namespace heapwright;
    const Lock attempt = next(mutexTry, "pthread_mutex_trylock");
    return attempt == nullptr ? 0 : counted(attempt(mutex), mutex, __builtin_return_address(0));
}

[[gnu::visibility("default")]] int pthread_spin_lock(pthread_spinlock_t* lock) {
    using namespace heapwright;
    const Lock attempt = next(spinTry, "pthread_spin_trylock");
    return taken(const_cast<int*>(lock), attempt, next(spinLock, "pthread_spin_lock"),
                 __builtin_return_address(0));
}

[[gnu::visibility("default")]] int pthread_spin_trylock(pthread_spinlock_t* lock) {
    using namespace heapwright;
    const Lock attempt = next(spinTry, "pthread_spin_trylock");
    return attempt == nullptr ? 0
                              : counted(attempt(const_cast<int*>(lock)), const_cast<int*>(lock),
                                        __builtin_return_address(0));
}

[[gnu::visibility("default")]] void heapwright_events(heapwright_event_counts* events) {
    const heapwright::EventTotals totals = heapwright::counts.totals();
    *events = {};
    events->lock_takes = totals.lockTakes;
    events->lock_waits = totals.lockWaits;
    events->hand_overs = totals.handOvers;
    events->lock_hand_overs = totals.lockHandOvers;
    events->unknown = totals.unknown;
}
}
