// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Traces for tests. They have requests of several threads to malloc, drawn at random from a seed,
// with invented addresses that are reused. Beside them is the set of live objects after each call.
#pragma once

#include "trace/writer.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace heapwright::replayer::testing {

using trace::Event;
using trace::Routine;

struct Drawn {
    std::vector<Event> events;
    std::vector<std::uint64_t> live; ///< requested bytes after each event
    std::uint64_t peak = 0;
    std::uint64_t handOvers = 0;
};

struct Wishes {
    unsigned threads = 1;
    unsigned calls = 10'000;
    unsigned most = 400;         ///< live objects
    unsigned foreignPercent = 0; ///< of what ends: ended by any thread rather than its own
    bool odd = false;            ///< with what a trace should not have
};

class Drawing {
public:
    Drawing(const Wishes& wishes, std::uint64_t seed) : wishes_(wishes), random_(seed) {}

    Drawn draw() {
        for (unsigned at = 0; at < wishes_.calls; ++at) {
            call();
        }
        return std::move(drawn_);
    }

private:
    struct Object {
        std::uint64_t address;
        std::uint64_t size;
        unsigned thread;
        Routine routine;
        std::uint64_t alignment;
    };

    std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

    void call() {
        const auto thread = static_cast<unsigned>(below(wishes_.threads));
        const std::uint64_t kind = below(100);
        if (wishes_.odd && kind < 8) {
            odd(thread, kind);
        } else if (objects_.empty() || (kind < 55 && objects_.size() < wishes_.most)) {
            allocate(thread);
        } else if (kind < 65) {
            resize(thread);
        } else {
            free(thread);
        }
    }

    std::uint64_t size() {
        static constexpr std::uint64_t sizes[] = {0, 1, 8, 16, 24, 100, 1000, 5000, 300'000};
        return sizes[below(std::size(sizes))];
    }

    std::uint64_t address() {
        if (!left_.empty() && below(2) != 0) {
            const std::uint64_t reused = left_.back();
            left_.pop_back();
            return reused;
        }
        return next_ += std::uint64_t{1} << 20;
    }

    void allocate(unsigned thread) {
        static constexpr Routine routines[] = {
            Routine::malloc,        Routine::calloc,       Routine::operatorNew,
            Routine::memalign,      Routine::alignedAlloc, Routine::operatorNewArray,
            Routine::posixMemalign, Routine::valloc,       Routine::operatorNewAligned};
        const Routine routine = routines[below(std::size(routines))];
        const std::uint64_t alignment =
            trace::hasAlignment(routine) ? std::uint64_t{16} << below(5) : 0;
        const std::uint64_t bytes = routine == Routine::alignedAlloc ? 4 * alignment : size();
        objects_.push_back({address(), bytes, thread, routine, alignment});
        live_ += bytes;
        add({.routine = routine,
             .thread = thread,
             .address = objects_.back().address,
             .size = bytes,
             .alignment = alignment});
    }

    /// An object for the thread to end.
    Object take(unsigned thread) {
        std::size_t at = below(objects_.size());
        if (below(100) >= wishes_.foreignPercent) {
            for (std::size_t tries = 0; tries < objects_.size() && objects_[at].thread != thread;
                 ++tries) {
                at = (at + 1) % objects_.size();
            }
        }
        const Object object = objects_[at];
        objects_[at] = objects_.back();
        objects_.pop_back();
        drawn_.handOvers += object.thread != thread ? 1 : 0;
        live_ -= object.size;
        return object;
    }

    static Routine freeing(Routine routine, bool sized) {
        switch (routine) {
        case Routine::operatorNew:
            return sized ? Routine::operatorDeleteSized : Routine::operatorDelete;
        case Routine::operatorNewArray:
            return Routine::operatorDeleteArray;
        case Routine::operatorNewAligned:
            return Routine::operatorDeleteAligned;
        default:
            return Routine::free;
        }
    }

    void free(unsigned thread) {
        const Object object = take(thread);
        const Routine routine = freeing(object.routine, below(2) != 0);
        left_.push_back(object.address);
        add({.routine = routine,
             .thread = thread,
             .address = object.address,
             .size = routine == Routine::operatorDeleteSized ? object.size : 0});
    }

    void resize(unsigned thread) {
        const Object old = take(thread);
        const bool moves = below(2) != 0;
        const std::uint64_t bytes = 1 + size();
        const std::uint64_t where = moves ? address() : old.address;
        if (moves) {
            left_.push_back(old.address);
        }
        objects_.push_back({where, bytes, thread, Routine::realloc, 0});
        live_ += bytes;
        add({.routine = Routine::realloc,
             .thread = thread,
             .address = where,
             .old = old.address,
             .size = bytes});
    }

    void odd(unsigned thread, std::uint64_t kind) {
        switch (kind) {
        case 0:
            return add({.routine = Routine::free, .thread = thread});
        case 1: // of an address that never was
            return add({.routine = Routine::free, .thread = thread, .address = 0x77});
        case 2: // no memory
            return add({.routine = Routine::malloc, .thread = thread, .size = size()});
        case 3:
            if (!objects_.empty()) { // no memory: the old one stays
                add({.routine = Routine::realloc,
                     .thread = thread,
                     .old = objects_.back().address,
                     .size = 100});
            }
            return;
        case 4: // of an address that never was
            objects_.push_back({address(), 50, thread, Routine::realloc, 0});
            live_ += 50;
            return add({.routine = Routine::realloc,
                        .thread = thread,
                        .address = objects_.back().address,
                        .old = 0x99,
                        .size = 50});
        case 5:
            if (!objects_.empty()) { // a free
                const Object object = take(thread);
                left_.push_back(object.address);
                add({.routine = Routine::realloc, .thread = thread, .old = object.address});
            }
            return;
        default:
            if (!objects_.empty()) { // its free was not seen
                const std::uint64_t where = take(thread).address;
                objects_.push_back({where, 64, thread, Routine::malloc, 0});
                live_ += 64;
                add({.routine = Routine::malloc, .thread = thread, .address = where, .size = 64});
            }
        }
    }

    void add(Event event) {
        time_ += 1 + below(2000);
        event.time = time_;
        event.began = time_;
        drawn_.events.push_back(event);
        drawn_.live.push_back(live_);
        drawn_.peak = live_ > drawn_.peak ? live_ : drawn_.peak;
    }

    Wishes wishes_;
    std::mt19937_64 random_;
    Drawn drawn_;
    std::vector<Object> objects_;
    std::vector<std::uint64_t> left_;
    std::uint64_t next_ = std::uint64_t{1} << 30;
    std::uint64_t time_ = 1000;
    std::uint64_t live_ = 0;
};

inline void write(const std::string& path, const std::vector<Event>& events, unsigned threads,
                  trace::Clock clock = trace::Clock::counted) {
    trace::TraceWriter writer(path, {.clock = clock});
    const std::uint32_t process = writer.process({});
    std::vector<std::uint32_t> numbers;
    for (unsigned at = 0; at < threads; ++at) {
        numbers.push_back(writer.thread(process));
    }
    for (Event event : events) {
        event.thread = numbers.at(event.thread);
        writer.add(event);
    }
    writer.close();
}

} // namespace heapwright::replayer::testing
