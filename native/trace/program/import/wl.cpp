// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Workload files have neither times nor addresses: numbers stand for blocks, and threads wait for
// each other's signals. So the import runs the threads in turns, one operation each, waits where
// they wait, and gives each block an address of its own. Some files lack signals, so a free of a
// number that no thread has filled yet is deferred. When no thread can continue, the one that waits
// longest continues without the signal, and that is counted. A number that is filled again frees
// what it held, as replaying does.
#include <algorithm>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>

#include "trace/program/import/import.hpp"
#include "trace/program/import/wl_stream.hpp"

namespace heapwright::trace {

namespace {

using wl::Op;
using wl::Step;

std::vector<std::uint64_t> readMain(std::span<const std::byte> bytes) {
    wl::Stream main(bytes, 0, bytes.size());
    std::vector<std::uint64_t> starts;
    bool begun = false;
    for (Step step = main.next(); step.op != Op::done; step = main.next()) {
        const bool heads = step.op >= Op::pointers && step.op <= Op::start;
        if (!heads && step.op != Op::nop)
            throw TraceError("this is no .wl file: a call before the threads are named",
                             step.offset);
        begun = begun || heads;
        if (step.op != Op::start)
            continue;
        if (step.operands[0] >= bytes.size())
            throw TraceError("a thread begins behind the file's end", step.offset);
        if (starts.size() == Import::mostThreads)
            throw TraceError("more than " + std::to_string(Import::mostThreads) + " threads",
                             step.offset);
        starts.push_back(step.operands[0]);
    }
    if (!begun)
        throw TraceError("this is no .wl file: no threads are named", 0);
    return starts;
}

class Player {
public:
    explicit Player(Import& import) : import_(import) {
        const std::vector<std::uint64_t> starts = readMain(import.bytes);
        std::vector<std::uint64_t> ends = starts;
        std::sort(ends.begin(), ends.end());
        for (const std::uint64_t start : starts) {
            const auto next = std::upper_bound(ends.begin(), ends.end(), start);
            const auto same = std::lower_bound(ends.begin(), ends.end(), start);
            if (next - same > 1)
                throw TraceError("two threads begin at one place", start);
            const std::uint64_t end = next == ends.end() ? import.bytes.size() : *next;
            threads_.emplace_back(import.thread(start), wl::Stream(import.bytes, start, end));
            ready_.push_back(threads_.size() - 1);
        }
    }

    void play() {
        while (!ready_.empty() || force()) {
            if (ready_.empty())
                continue; // the last one that was forced has ended
            const std::size_t thread = ready_.front();
            ready_.pop_front();
            // One that was woken tries the step again for which it waited.
            if (!std::exchange(threads_[thread].woken, false))
                threads_[thread].step = threads_[thread].stream.next();
            perform(thread, false);
        }
    }

private:
    struct Thread {
        Thread(std::uint32_t who, wl::Stream what) : number(who), stream(what) {}

        std::uint32_t number;
        wl::Stream stream;
        Step step;
        std::uint64_t ticket = 0; ///< its place among those that wait; 0 = it does not
        bool woken = false;
    };

    /// Does the thread's step, or lets it wait; `anyway`: it has waited enough.
    void perform(std::size_t thread, bool anyway) {
        const Step& step = threads_[thread].step;
        const std::uint64_t id = step.operands[0];
        if (step.op == Op::done) {
            import_.writer.endThread(threads_[thread].number);
            return;
        }
        if (step.op == Op::wait && !anyway && !signalled(id))
            return park(thread, signalWaiters_[id]);
        const bool lacks = step.op == Op::free && id != 0 && !blocks_.contains(id);
        if (lacks && !anyway)
            return park(thread, blockWaiters_[id]);
        if (lacks)
            import_.odd("frees of what is not live");
        else
            call(thread, step);
        ready_.push_back(thread);
    }

    void call(std::size_t thread, const Step& step) {
        switch (step.op) {
        case Op::nop:
        case Op::wait:
            return;
        case Op::signal:
            signalled_[step.operands[0] / 64] |= bitOf(step.operands[0]);
            return wake(signalWaiters_, step.operands[0]);
        case Op::free:
            return release(thread, step.operands[0]);
        case Op::realloc:
            return reallocate(thread, step);
        case Op::malloc:
            return allocate(thread, Routine::malloc, step, step.operands[1]);
        case Op::calloc:
            return allocate(thread, Routine::calloc, step, step.operands[1]);
        case Op::valloc:
            return allocate(thread, Routine::valloc, step, step.operands[1]);
        case Op::pvalloc:
            return allocate(thread, Routine::pvalloc, step, step.operands[1]);
        case Op::memalign:
            return allocate(thread, Routine::memalign, step, step.operands[2]);
        case Op::posixMemalign:
            return allocate(thread, Routine::posixMemalign, step, step.operands[2]);
        default:
            throw TraceError("an operation of the main stream in a thread", step.offset);
        }
    }

    void add(std::size_t thread, Event event) {
        event.thread = threads_[thread].number;
        event.time = event.began = import_.step();
        import_.writer.add(event);
    }

    void release(std::size_t thread, std::uint64_t id) {
        const auto found = id == 0 ? blocks_.end() : blocks_.find(id);
        add(thread,
            {.routine = Routine::free, .address = found == blocks_.end() ? 0 : found->second});
        if (found != blocks_.end())
            blocks_.erase(found);
    }

    /// An address that no other block has, or null for number 0: the call had failed.
    std::uint64_t place(std::uint64_t id, std::uint64_t size, std::uint64_t alignment) {
        if (id == 0)
            return 0;
        constexpr std::uint64_t most = std::uint64_t{1} << 32; // of absurd sizes only the begin
        const std::uint64_t grain = std::clamp(std::bit_floor(alignment), std::uint64_t{16}, most);
        const std::uint64_t address = (next_ + grain - 1) & ~(grain - 1);
        next_ = address + ((std::clamp(size, std::uint64_t{1}, most) + 15) & ~std::uint64_t{15});
        blocks_[id] = address;
        wake(blockWaiters_, id);
        return address;
    }

    void emptySlot(std::size_t thread, std::uint64_t id) {
        if (id == 0 || !blocks_.contains(id))
            return;
        import_.odd("blocks freed because their number was filled again");
        release(thread, id);
    }

    void allocate(std::size_t thread, Routine routine, const Step& step, std::uint64_t size) {
        const std::uint64_t id = step.operands[0];
        const std::uint64_t alignment = hasAlignment(routine) ? step.operands[1] : 0;
        emptySlot(thread, id);
        const bool pages = routine == Routine::valloc || routine == Routine::pvalloc;
        add(thread, {.routine = routine,
                     .address = place(id, size, pages ? 4096 : alignment),
                     .size = size,
                     .usable = id == 0 ? 0 : size,
                     .alignment = alignment});
    }

    void reallocate(std::size_t thread, const Step& step) {
        const auto [id, oldId, size] = step.operands;
        const auto found = blocks_.find(oldId);
        const std::uint64_t old = oldId == 0 || found == blocks_.end() ? 0 : found->second;
        if (oldId != 0 && old == 0)
            import_.odd("reallocs of what is not live");
        if (id != oldId)
            emptySlot(thread, id);
        // A failed one leaves its block, unless it requested size 0.
        if (old != 0 && (id != 0 || size == 0))
            blocks_.erase(oldId);
        add(thread, {.routine = Routine::realloc,
                     .address = place(id, size, 0),
                     .old = old,
                     .size = size,
                     .usable = id == 0 ? 0 : size});
    }

    using Waiters = std::unordered_map<std::uint64_t, std::vector<std::size_t>>;

    static std::uint64_t bitOf(std::uint64_t id) { return std::uint64_t{1} << (id % 64); }

    bool signalled(std::uint64_t id) const {
        const auto found = signalled_.find(id / 64);
        return found != signalled_.end() && (found->second & bitOf(id)) != 0;
    }

    void park(std::size_t thread, std::vector<std::size_t>& where) {
        where.push_back(thread);
        threads_[thread].ticket = ++tickets_;
        parked_.emplace(tickets_, thread);
    }

    void wake(Waiters& waiters, std::uint64_t id) {
        const auto found = waiters.find(id);
        if (found == waiters.end())
            return;
        for (const std::size_t thread : found->second) {
            if (threads_[thread].ticket == 0)
                continue;
            parked_.erase(std::exchange(threads_[thread].ticket, 0));
            threads_[thread].woken = true;
            ready_.push_back(thread);
        }
        waiters.erase(found);
    }

    /// Lets the thread go on that has waited longest; false if none waits.
    bool force() {
        if (parked_.empty())
            return false;
        const std::size_t thread = parked_.begin()->second;
        parked_.erase(parked_.begin());
        threads_[thread].ticket = 0;
        if (threads_[thread].step.op == Op::wait)
            import_.odd("waits for a signal that no thread gives");
        perform(thread, true);
        return true;
    }

    Import& import_;
    std::vector<Thread> threads_;
    std::deque<std::size_t> ready_;
    std::map<std::uint64_t, std::size_t> parked_; ///< by ticket
    std::uint64_t tickets_ = 0;
    std::unordered_map<std::uint64_t, std::uint64_t> signalled_; ///< bits, by number / 64
    Waiters signalWaiters_;
    Waiters blockWaiters_;
    std::unordered_map<std::uint64_t, std::uint64_t> blocks_; ///< address by number
    std::uint64_t next_ = 0x1000'0000;
};

} // namespace

void importWl(Import& import) {
    Player(import).play();
}

} // namespace heapwright::trace
