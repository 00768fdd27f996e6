// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Endurance: a great many operations by several threads, all contents verified, under any preloaded
// malloc.
//
//     endurance OPERATIONS [THREADS [SEED [SLOTS]]]
//
// Each worker has a table of objects that fills and empties in phases. Objects of 1 byte to 1 MiB
// come from malloc, calloc, realloc, posix_memalign and aligned_alloc. Another thread than the
// allocating one frees a quarter of them. In some phases one worker hands over all that it makes,
// and another only frees what it receives. Workers end and leave their objects to those that come
// after them. From the 17th on, a worker ends after 512 turns, so that it shares a heap in granary.
// Now and then the process forks, and the child uses the heap as it finds it. An object carries a
// stamp at both of its ends, every 32nd one everywhere. Another thread's write into it, or another
// object that overlaps it, breaks the stamp.
//
// A line of JSON each few seconds has the progress, the live bytes and the resident memory for
// them. The last one has "done": true. When asked to end (SIGTERM, SIGINT) it stops, verifies and
// frees what is live, and says what it came to. Status 1: contents were wrong; 2: wrong use, or no
// memory.
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "endurance_figures.hpp"
#include "endurance_objects.hpp"

namespace {

using namespace endurance;

constexpr unsigned mostThreads = 64;
constexpr unsigned lasting = 16;   ///< workers that live long; granary gives as many threads a heap
constexpr unsigned phaseBits = 15; // limit of the length of a phase, from 2 operations on

// --- a worker ---

struct alignas(64) Worker {
    pthread_t thread{};
    Object* table = nullptr;
    std::uint64_t seed = 0;
    std::uint64_t life = 0; ///< how many operations it makes before it ends
    unsigned number = 0;
    std::atomic<std::uint64_t> operations{0};
    std::atomic<std::int64_t> live{0}; ///< bytes given to it less those that it freed
    std::atomic<bool> ended{false};
};

Worker workers[mostThreads];
std::uint32_t slots = 8192;
std::atomic<bool> stop{false};
pthread_key_t key;

class Life {
public:
    explicit Life(Worker& worker)
        : worker_(worker), random_(worker.seed),
          before_(worker.operations.load(std::memory_order_relaxed)) {}

    void live() {
        for (std::uint64_t done = 0; done < worker_.life;) {
            for (unsigned step = 0; step < 512; ++step) {
                turn();
            }
            done += operations_;
            publish();
            if (worker_.number >= lasting || stop.load(std::memory_order_relaxed)) {
                break;
            }
        }
    }

private:
    void publish() {
        before_ += operations_;
        worker_.operations.fetch_add(operations_, std::memory_order_relaxed);
        worker_.live.fetch_add(live_, std::memory_order_relaxed);
        operations_ = 0;
        live_ = 0;
    }

    /// One slot of the table, whichever way it goes.
    void turn() {
        const std::uint64_t drawn = random_();
        const std::uint64_t phase = (before_ + operations_) >> phaseBits;
        constexpr std::uint32_t full[] = {90, 50, 8, 60};
        const auto index = static_cast<std::uint32_t>(drawn % slots);
        Object& object = worker_.table[index];
        const bool trading = (phase & 4U) != 0;
        if (trading && worker_.number == 1) { // it frees what others made, and makes nothing
            const Object given = mailbox[drawn % mailboxes].swap({});
            if (given.at == nullptr) {
                sched_yield();
            }
            dispose(given);
            return;
        }
        if (object.at == nullptr) {
            if (std::uint64_t{index} * 100 < std::uint64_t{slots} * full[phase % 4]) {
                object = made(drawn >> 16U);
                if (trading && worker_.number == 0) {
                    object = mailbox[drawn % mailboxes].swap(object);
                }
            }
        } else if ((drawn >> 16U) % 16 == 0) {
            resize(object);
        } else {
            Object given = object;
            object = {};
            if ((drawn >> 20U) % 4 == 0) {
                given = mailbox[(drawn >> 24U) % mailboxes].swap(given);
            }
            dispose(given);
        }
    }

    [[nodiscard]] std::uint32_t sizeDrawn() {
        const std::uint64_t drawn = random_();
        const std::uint64_t kind = drawn % 4096;
        std::uint32_t most = 128;
        if (kind < 2) {
            most = 1U << 20U;
        } else if (kind < 40) {
            most = 65536;
        } else if (kind < 450) {
            most = 8192;
        } else if (kind < 1500) {
            most = 1024;
        }
        return 1 + static_cast<std::uint32_t>((drawn >> 12U) % most);
    }

    [[nodiscard]] Object made(std::uint64_t drawn) {
        Object object{nullptr, sizeDrawn(), static_cast<std::uint32_t>(drawn >> 4U)};
        void* memory = nullptr;
        std::size_t alignment = object.size < 16 ? 8 : 16;
        switch (drawn % 16) {
        case 0:
        case 1:
            memory = std::calloc(1, object.size);
            break;
        case 2: {
            alignment = std::size_t{32} << (drawn >> 8U) % 8;
            if (posix_memalign(&memory, alignment, object.size) != 0) {
                memory = nullptr;
            }
            break;
        }
        case 3:
            alignment = 64;
            memory = std::aligned_alloc(64, (object.size + 63U) / 64 * 64);
            break;
        default:
            memory = std::malloc(object.size);
        }
        ++operations_;
        if (memory == nullptr) {
            noMemory();
        }
        object.at = static_cast<unsigned char*>(memory);
        if (reinterpret_cast<std::uintptr_t>(memory) % alignment != 0) {
            wrong("not aligned", object);
        }
        if (drawn % 16 < 2) {
            verifyZero(object);
        }
        mark(object);
        live_ += object.size;
        return object;
    }

    void resize(Object& object) {
        verify(object);
        const Object before = object;
        unsigned char keep[16];
        const std::uint32_t size = sizeDrawn();
        const std::size_t kept = std::min<std::size_t>({before.size, size, sizeof keep});
        std::memcpy(keep, before.at, kept);
        void* const memory = std::realloc(object.at, size);
        ++operations_;
        if (memory == nullptr) {
            noMemory();
        }
        object.at = static_cast<unsigned char*>(memory);
        object.size = size;
        if (std::memcmp(object.at, keep, kept) != 0) {
            wrong("realloc lost the contents", object);
        }
        mark(object);
        live_ += std::int64_t{size} - before.size;
    }

    void dispose(const Object& object) {
        if (object.at != nullptr) {
            verify(object);
            live_ -= object.size;
            std::free(object.at);
            ++operations_;
        }
    }

    Worker& worker_;
    Random random_;
    std::uint64_t before_; ///< what the worker has made in all, but for the latest
    std::uint64_t operations_ = 0;
    std::int64_t live_ = 0;
};

/// What runs when a thread ends: it frees, and asks once more.
void atThreadsEnd(void* value) {
    std::free(value);
    std::free(std::malloc(100));
}

void* run(void* worker) {
    Worker& mine = *static_cast<Worker*>(worker);
    pthread_setspecific(key, std::malloc(48));
    Life(mine).live();
    mine.ended.store(true, std::memory_order_release);
    return nullptr;
}

// --- the main thread: threads come and go, the process forks, memory is sampled ---

void askedToEnd(int /*signal*/) {
    stop.store(true);
}

/// The child finds the heap whole at any point of the workers, with any objects of theirs.
void forkOnce(std::uint64_t seed) {
    Object mine{static_cast<unsigned char*>(std::malloc(1000)), 1000, 7};
    mark(mine);
    const pid_t child = fork();
    if (child == 0) {
        Random random(seed);
        verify(mine);
        std::free(mine.at);
        Object some[64] = {};
        for (unsigned step = 0; step < 20000; ++step) {
            Object& object = some[random() % 64];
            if (object.at != nullptr) {
                verify(object);
                std::free(object.at);
            }
            object = {nullptr, static_cast<std::uint32_t>(1 + random() % 3000), step};
            object.at = static_cast<unsigned char*>(std::malloc(object.size));
            if (object.at == nullptr) {
                noMemory();
            }
            mark(object);
        }
        std::_Exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        std::fprintf(stderr, "endurance: a forked child ended with status %d\n", status);
        std::_Exit(1);
    }
    std::free(mine.at);
}

void start(Worker& worker, std::uint64_t life) {
    worker.seed += 1000003;
    worker.life = life;
    worker.ended.store(false, std::memory_order_relaxed);
    if (pthread_create(&worker.thread, nullptr, run, &worker) != 0) {
        noMemory();
    }
}

void sample(Figures& figures, unsigned threads, std::uint64_t before) {
    std::int64_t live = 0;
    figures.operations = 0;
    for (unsigned each = 0; each < threads; ++each) {
        live += workers[each].live.load(std::memory_order_relaxed);
        figures.operations += workers[each].operations.load(std::memory_order_relaxed);
    }
    figures.live = live > 0 ? static_cast<std::uint64_t>(live) : 0;
    figures.mostLive = std::max(figures.mostLive, figures.live);
    const std::uint64_t now = residentBytes();
    figures.resident = now > before ? now - before : 0;
    figures.mostResident = std::max(figures.mostResident, figures.resident);
}

/// All that is left is verified and freed.
void freeAll(unsigned threads) {
    for (unsigned each = 0; each < threads; ++each) {
        for (std::uint32_t at = 0; at < slots; ++at) {
            const Object& object = workers[each].table[at];
            if (object.at != nullptr) {
                verify(object);
                std::free(object.at);
            }
        }
    }
    for (Mailbox& box : mailbox) {
        const Object object = box.swap({});
        if (object.at != nullptr) {
            verify(object);
            std::free(object.at);
        }
    }
}

void setUp(unsigned threads, std::uint64_t seed) {
    struct sigaction action {};
    action.sa_handler = askedToEnd;
    sigaction(SIGTERM, &action, nullptr);
    sigaction(SIGINT, &action, nullptr);
    pthread_key_create(&key, atThreadsEnd);
    for (unsigned each = 0; each < threads; ++each) {
        // Touched now, so that they are no part of what is sampled.
        void* const table = mmap(nullptr, slots * sizeof(Object), PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        if (table == MAP_FAILED) {
            noMemory();
        }
        workers[each].table = static_cast<Object*>(table);
        workers[each].number = each;
        workers[each].seed = seed + each * 7919;
    }
}

Figures endure(std::uint64_t operations, unsigned threads, std::uint64_t before) {
    using Clock = std::chrono::steady_clock;
    const std::uint64_t life = std::clamp<std::uint64_t>(operations / 200, 20000, 3000000);
    const std::uint64_t forkEvery = std::max<std::uint64_t>(operations / 40, 1);
    Figures figures;
    for (unsigned each = 0; each < threads; ++each, ++figures.lives) {
        start(workers[each], life * (each + 1) / threads + 1000);
    }
    Clock::time_point said = Clock::now();
    while (!stop.load(std::memory_order_relaxed) && figures.operations < operations) {
        usleep(2000);
        sample(figures, threads, before);
        for (unsigned each = 0; each < threads; ++each) {
            if (workers[each].ended.load(std::memory_order_acquire)) {
                pthread_join(workers[each].thread, nullptr);
                start(workers[each], life);
                ++figures.lives;
            }
        }
        if (figures.operations / forkEvery > figures.forks) {
            forkOnce(figures.operations);
            ++figures.forks;
        }
        if (Clock::now() - said > std::chrono::seconds(5)) {
            said = Clock::now();
            figures.say(false);
        }
    }
    stop.store(true);
    for (unsigned each = 0; each < threads; ++each) {
        pthread_join(workers[each].thread, nullptr);
    }
    sample(figures, threads, before);
    return figures;
}

} // namespace

int main(int count, char** words) {
    const auto number = [count, words](int at, std::uint64_t otherwise) {
        return count > at ? std::strtoull(words[at], nullptr, 10) : otherwise;
    };
    const std::uint64_t operations = number(1, 0);
    const auto threads = static_cast<unsigned>(number(2, 4));
    slots = static_cast<std::uint32_t>(number(4, slots));
    if (operations == 0 || threads == 0 || threads > mostThreads || slots == 0) {
        std::fprintf(stderr, "usage: endurance OPERATIONS [THREADS [SEED [SLOTS]]]\n");
        return 2;
    }
    setUp(threads, number(3, 1));
    Figures figures = endure(operations, threads, residentBytes());
    freeAll(threads);
    figures.say(true);
    return 0;
}
