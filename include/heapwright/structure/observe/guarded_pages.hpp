// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A small set of pages, each for one object, with inaccessible pages before and behind it. A freed
// page becomes inaccessible, loses its contents, and is reused as late as possible.
//
//   unit: [ records | closed | object | closed | object | closed | object | closed ]
//
// The set knows the stacks of the allocation and of the free of each object. `report` prints them
// with the stack of a wrong use. Every second object ends at the end of its page, the others
// start at its start. The bytes of the page that the object does not use contain a pattern, which
// is compared at the free.
//
// The first word of each unit of 32 KiB is zero and readable, so no thread's cache takes an object
// here (structure/cache/owner_tag.hpp). A lock protects the set. `owns` needs no lock.
// Invariant: a slot is live, or its page is closed.
// Cost: two system calls to place an object, three to free it. 4 KiB for each unit and for each
// live object.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/platform/abort.hpp>
#include <heapwright/platform/guard_pages.hpp>
#include <heapwright/platform/output.hpp>
#include <heapwright/platform/pages.hpp>
#include <heapwright/platform/stack_trace.hpp>
#include <heapwright/platform/thread_exit.hpp>
#include <heapwright/structure/observe/fixed_text.hpp>
#include <heapwright/sync/futex_lock.hpp>
#include <heapwright/sync/lock.hpp>
#include <heapwright/sync/shared_word.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace heapwright {

template <std::size_t Units>
class GuardedPages {
    static constexpr std::size_t unitBytes = 32 * KiB;
    static constexpr std::size_t page = platform::smallestPage;
    static constexpr std::size_t perUnit = 3;

public:
    static constexpr std::size_t slots = Units * perUnit;
    /// The largest object.
    static constexpr std::size_t largest = page;

    constexpr GuardedPages() noexcept = default;
    GuardedPages(const GuardedPages&) = delete;
    GuardedPages& operator=(const GuardedPages&) = delete;
    ~GuardedPages() {
        if (const Address start = start_.load(std::memory_order_acquire)) {
            platform::unmapPages(pointerTo(start), Units * unitBytes);
        }
    }

    [[nodiscard, gnu::always_inline]] bool owns(const void* object) const noexcept {
        const Address start = start_.load(std::memory_order_acquire);
        return start != 0 && addressOf(object) - start < Units * unitBytes;
    }

    /// An object of zero bytes on a page of its own; null if all are live or there is no memory.
    /// Pre: `size` is from 1 to `largest`.
    [[nodiscard, gnu::noinline]] void* place(std::size_t size) noexcept {
        platform::StackTrace stack;
        stack.record();
        const Guard<FutexLock> hold(lock_);
        if (!ensure()) {
            return nullptr;
        }
        for (std::size_t each = 0; each < slots; ++each) {
            const std::size_t number = next_;
            next_ = next_ + 1 == slots ? 0 : next_ + 1;
            Record& record = recordOf(number);
            if (record.state != State::live) {
                return opened(record, number, size, stack);
            }
        }
        return nullptr;
    }

    /// Frees an object. Ends the program with a report if it is not live or was written beyond its
    /// end.
    /// Pre: `owns(object)`.
    [[gnu::noinline]] void free(void* object) noexcept {
        platform::StackTrace stack;
        stack.record();
        lock_.lock();
        Record& record = liveRecord(object, "free");
        if (!patternIsIntact(record)) {
            lock_.unlock();
            report("free", "overflow of a sampled object", object);
        }
        record.freed = stack;
        record.freeingThread = platform::systemThread();
        record.state = State::freed;
        static_cast<void>(platform::shutPages(pageOf(object), page));
        lock_.unlock();
    }

    /// The size of a live object. Ends the program with a report if it is not live.
    /// Pre: `owns(object)`.
    [[nodiscard]] std::size_t getSize(void* object, std::string_view routine) noexcept {
        const Guard<FutexLock> hold(lock_);
        return liveRecord(object, routine).size;
    }

    /// The size, for a caller that may hold the lock.
    [[nodiscard]] std::size_t getSizeUnlocked(const void* object) noexcept {
        return recordOf(numberOf(object)).size;
    }

    /// Prints what is known of the object at or beside an address of this set.
    [[gnu::cold]] void describe(int descriptor, const void* address) noexcept {
        const Record& record = recordOf(numberOf(address));
        platform::StackTrace now;
        now.record();
        FixedText<256> text;
        if (record.state == State::unused) {
            text.put("  no object was here\n");
        } else {
            text.put("  sampled object of ").putNumber(record.size).put(" bytes, ");
            const auto offset = static_cast<std::int64_t>(addressOf(address) - record.object);
            text.put(offset < 0 ? "address before it by " : "address at byte ");
            text.putNumber(static_cast<std::uint64_t>(offset < 0 ? -offset : offset)).put("\n");
        }
        write(descriptor, text.view());
        part(descriptor, "  allocated", record.allocatingThread, record.allocated);
        if (record.state == State::freed) {
            part(descriptor, "  freed", record.freeingThread, record.freed);
        }
        part(descriptor, "  misused", platform::systemThread(), now);
    }

    /// Ends the program with a message and the stacks.
    [[noreturn, gnu::cold, gnu::noinline]] void
    report(std::string_view routine, std::string_view what, const void* address) noexcept {
        describe(2, address);
        platform::abortWithMessage(routine, what);
    }

    /// Runs `visit(object, size)` on each live object.
    /// Pre: the set is held (`beforeFork`), or no other thread uses it.
    template <class Visit>
    void forEachLive(Visit visit) noexcept {
        for (std::size_t number = 0; start_.load(std::memory_order_acquire) != 0 && number < slots;
             ++number) {
            const Record& record = recordOf(number);
            if (record.state == State::live) {
                visit(pointerTo(record.object), record.size);
            }
        }
    }

    void beforeFork() noexcept { lock_.lock(); }
    void afterForkInParent() noexcept { lock_.unlock(); }
    void afterForkInChild() noexcept { lock_.reset(); }
    [[nodiscard]] bool heldByThisThread() const noexcept { return lock_.heldByThisThread(); }

private:
    enum class State : std::uint8_t { unused, live, freed };
    struct Record {
        platform::StackTrace allocated;
        platform::StackTrace freed;
        Address object;
        std::size_t size;
        std::uint32_t allocatingThread;
        std::uint32_t freeingThread;
        State state;
    };
    static constexpr std::size_t firstRecord = 64; ///< behind the owner tag
    static constexpr unsigned char pattern = 0xA7;
    static_assert(firstRecord + perUnit * sizeof(Record) <= page);

    /// Reserves the units at the first call.
    [[nodiscard]] bool ensure() noexcept {
        if (start_.load(std::memory_order_relaxed) != 0) {
            return true;
        }
        if (platform::pageSize() != page || failed_) {
            return false;
        }
        void* const units = platform::mapPagesAt(Units * unitBytes, unitBytes, 0);
        bool closed = units != nullptr;
        for (std::size_t unit = 0; closed && unit < Units; ++unit) {
            closed = platform::shutPages(forward(units, unit * unitBytes + page), unitBytes - page);
        }
        if (!closed) {
            failed_ = true;
            if (units != nullptr) {
                platform::unmapPages(units, Units * unitBytes);
            }
            return false;
        }
        start_.store(addressOf(units), std::memory_order_release);
        return true;
    }

    [[nodiscard]] void* opened(Record& record, std::size_t number, std::size_t size,
                               const platform::StackTrace& stack) noexcept {
        auto* const bytes = static_cast<unsigned char*>(
            pointerTo(unitAt(number) + (2 * (number % perUnit) + 2) * page));
        if (!platform::openPages(bytes, page)) {
            return nullptr;
        }
        const bool atEnd = (turn_++ & 1U) == 0;
        unsigned char* const object = atEnd ? bytes + page - roundUp(size, minAlignment) : bytes;
        std::memset(object + size, pattern, static_cast<std::size_t>(bytes + page - object) - size);
        std::memset(bytes, pattern, static_cast<std::size_t>(object - bytes));
        record.allocated = stack;
        record.object = addressOf(object);
        record.size = size;
        record.allocatingThread = platform::systemThread();
        record.state = State::live;
        return object;
    }

    /// A handler's deferred free writes up to 16 bytes into an object, so slack below that is not
    /// compared.
    [[nodiscard]] bool patternIsIntact(const Record& record) const noexcept {
        const auto* const object = static_cast<const unsigned char*>(pointerTo(record.object));
        const auto* const first = static_cast<const unsigned char*>(pageOf(object));
        const auto is = [](unsigned char each) { return each == pattern; };
        return std::all_of(first, object, is) &&
               std::all_of(object + std::max(record.size, minAlignment), first + page, is);
    }

    /// Pre: the lock is held. Releases it if the object is not live.
    [[nodiscard]] Record& liveRecord(const void* object, std::string_view routine) noexcept {
        Record& record = recordOf(numberOf(object));
        const bool here = record.object == addressOf(object);
        if (record.state != State::live || !here) [[unlikely]] {
            const bool freed = here && record.state == State::freed;
            lock_.unlock();
            report(routine,
                   !freed              ? "invalid pointer"
                   : routine == "free" ? "double free"
                                       : "use of a freed object",
                   object);
        }
        return record;
    }

    static void write(int descriptor, std::string_view text) noexcept {
        platform::writeAll(descriptor, text.data(), text.size());
    }
    static void part(int descriptor, std::string_view what, std::uint32_t thread,
                     const platform::StackTrace& stack) noexcept {
        FixedText<128> text;
        text.put(what).put(" by thread ").putNumber(thread).put(" at\n");
        write(descriptor, text.view());
        stack.print(descriptor);
    }

    [[nodiscard]] Address unitAt(std::size_t number) const noexcept {
        return start_.load(std::memory_order_relaxed) + number / perUnit * unitBytes;
    }
    /// The slot whose page, or whose neighbouring closed page, contains an address.
    [[nodiscard]] std::size_t numberOf(const void* address) const noexcept {
        const Address offset = addressOf(address) - start_.load(std::memory_order_relaxed);
        const std::size_t at = offset % unitBytes;
        // A closed page belongs to the object before it in its first half.
        const std::size_t half = at / (page / 2);
        const std::size_t within =
            half < 3 ? 0 : std::min<std::size_t>((half - 3) / 4, perUnit - 1);
        return offset / unitBytes * perUnit + within;
    }
    [[nodiscard]] Record& recordOf(std::size_t number) const noexcept {
        return static_cast<Record*>(pointerTo(unitAt(number) + firstRecord))[number % perUnit];
    }
    [[nodiscard]] static void* pageOf(const void* object) noexcept {
        return pointerTo(roundDown(addressOf(object), page));
    }

    FutexLock lock_;
    SharedWord<Address> start_; ///< 0 before the first object
    std::size_t next_ = 0;      ///< the slot to look at next
    std::uint32_t turn_ = 0;    ///< number of objects placed
    bool failed_ = false;       ///< the system refused the units
};

} // namespace heapwright
