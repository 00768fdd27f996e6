// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See recording.hpp.
#include "recording.hpp"

#include "entry.hpp"
#include "process_block.hpp"
#include "stacks/stacks.hpp"
#include "stream_pool.hpp"
#include "trace/blocks.hpp"

#include <heapwright/platform/blocked_signals.hpp>
#include <heapwright/platform/errno_keeper.hpp>
#include <heapwright/platform/output.hpp>
#include <heapwright/platform/pages.hpp>

#include <new>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace heapwright::recorder {

constinit std::atomic<std::uint32_t> Recording::shutGate_{Gate::shut};
constinit Recording recording;

namespace {

/// A word that the kernel clears in the child of every fork; null where there can be none.
std::atomic<std::uint32_t>* makeGate() noexcept {
    void* const page = platform::mapPages(platform::pageSize());
    if (page == nullptr) {
        return nullptr;
    }
    // Where the kernel cannot do that, the handler of fork has to be enough.
    [[maybe_unused]] const int wiped = ::madvise(page, platform::pageSize(), MADV_WIPEONFORK);
    return ::new (page) std::atomic<std::uint32_t>(Gate::newProcess);
}

std::uint32_t systemNumber(long call) noexcept {
    return static_cast<std::uint32_t>(::syscall(call));
}

std::uint32_t takeNumber(std::uint32_t& counter) noexcept {
    return std::atomic_ref(counter).fetch_add(1, std::memory_order_relaxed);
}

void* claimForStacks(stacks::Table table, std::size_t bytes) noexcept {
    const auto kind =
        table == stacks::Table::stacks ? trace::BlockKind::stacks : trace::BlockKind::modules;
    return recording.claimTable(kind, bytes);
}

void releaseForStacks(void* block, std::size_t bytes) noexcept {
    TraceFile::unmap(block, bytes);
}

void noteForStacks(const void* pages, std::size_t bytes) noexcept {
    recording.noteOwnMemory(pages, bytes);
}

std::uint64_t timeForStacks() noexcept {
    return recording.now();
}

bool appendMark(trace::BlockHeader* block, const trace::Mark& mark,
                std::string_view name) noexcept {
    return block != nullptr &&
           trace::appendRecord(*block, trace::record::mark, trace::Piece{&mark, sizeof mark},
                               trace::Piece{name.data(), name.size()});
}

} // namespace

void Recording::begin() noexcept {
    const platform::ErrnoKeeper keeper;
    if (!join()) {
        return;
    }
    const trace::FileHeader& header = *file_.header();
    followed_ = (header.flags & trace::flag::followed) != 0;
    const bool first = entry::isLaunched(header);
    if (!first && !followed_) {
        std::atomic_ref(file_.header()->unfollowed).fetch_add(1);
        return;
    }
    steady_ = header.clock == trace::Clock::timestamp;
    shift_ = header.clockShift;
    startTicks_ = header.startTicks;
    sampleSalt_ = header.sampleSalt;
    sampleBelow_ = header.sampleInterval > 1 ? ~std::uint64_t{0} / header.sampleInterval : 0;
    std::atomic<std::uint32_t>* const gate = makeGate();
    if (gate == nullptr) {
        return;
    }
    const bool again = !first || header.processes != 0;
    enterProcess(again ? trace::Cause::exec : trace::Cause::start, trace::noProcess);
    gate->store(Gate::open, std::memory_order_relaxed);
    gate_ = gate;
    if ((header.flags & trace::flag::stacks) != 0) {
        beginStacks();
    }
}

bool Recording::join() noexcept {
    const std::string_view path = entry::tracePath();
    return !path.empty() && file_.open(path.data());
}

void Recording::beginStacks() noexcept {
    stacks_ =
        stacks::begin({&claimForStacks, &releaseForStacks, &timeForStacks, &noteForStacks, true});
}

void Recording::enterProcess(trace::Cause cause, std::uint32_t parent) noexcept {
    process_ = takeNumber(file_.header()->processes);
    pid_ = systemNumber(SYS_getpid);
    for (auto& count : tables_) {
        count.store(0, std::memory_order_relaxed);
    }
    markLock_.reset();
    if (markBlock_ != nullptr) {
        TraceFile::unmap(markBlock_, trace::pageSize); // the parent's
        markBlock_ = nullptr;
    }
    processLock_.reset(); // in a forked child: a thread of the parent may have held it
    processBlock_ = claimTable(trace::BlockKind::process, trace::pageSize);
    if (processBlock_ != nullptr) {
        trace::ProcessStart start = {};
        start.process = process_;
        start.parent = parent;
        start.pid = pid_;
        start.parentPid = systemNumber(SYS_getppid);
        start.cause = cause;
        start.time = processBlock_->firstTime;
        start.thread = cause == trace::Cause::fork ? numberOfThisThread() : 0;
        writeProcessStart(*processBlock_, start);
    }
}

bool Recording::afterFork() noexcept {
    const platform::ErrnoKeeper keeper;
    if (!followed_) {
        std::atomic_ref(file_.header()->unfollowed).fetch_add(1);
        gate_->store(Gate::shut, std::memory_order_relaxed);
        return false;
    }
    const std::uint32_t parent = process_;
    enterProcess(trace::Cause::fork, parent);
    forgetStreamsOfParent();
    if (stacks_) {
        stacks::afterForkInChild();
    }
    gate_->store(Gate::open, std::memory_order_relaxed);
    return std::atomic_ref(file_.header()->recording).load(std::memory_order_relaxed) != 0;
}

void Recording::noteForkInChild() noexcept {
    if (gate_->load(std::memory_order_relaxed) != Gate::shut && pid_ != systemNumber(SYS_getpid)) {
        afterFork();
    }
}

void Recording::end() noexcept {
    const platform::ErrnoKeeper keeper;
    if (isOpen() && processBlock_ != nullptr) {
        processLock_.lock();
        writeProcessEnd(*processBlock_, {process_, 0, now()});
        processLock_.unlock();
    }
}

void Recording::leave() noexcept {
    end();
    gate_->store(Gate::shut, std::memory_order_relaxed);
}

void Recording::noteOwnMemory(const void* pages, std::size_t bytes) noexcept {
    if (processBlock_ != nullptr) {
        const auto begin = reinterpret_cast<std::uint64_t>(pages);
        processLock_.lock();
        writeRecorderMemory(*processBlock_, {begin, begin + bytes});
        processLock_.unlock();
    }
}

void Recording::mark(std::string_view name, std::uint32_t signal) noexcept {
    const platform::ErrnoKeeper keeper;
    if (!isOpen() || !isRecording()) {
        return;
    }
    name = {name.data(), name.size() < trace::longestMark ? name.size() : trace::longestMark};
    const platform::BlockedSignals blocked;
    markLock_.lock();
    const trace::Mark mark = {now(), signal, static_cast<std::uint32_t>(name.size())};
    if (!appendMark(markBlock_, mark, name)) {
        if (markBlock_ != nullptr) {
            TraceFile::unmap(markBlock_, trace::pageSize);
        }
        markBlock_ = claimTable(trace::BlockKind::process, trace::pageSize);
        if (!appendMark(markBlock_, mark, name)) {
            countLost();
        }
    }
    markLock_.unlock();
}

void Recording::toggle() noexcept {
    trace::FileHeader* const header = file_.header();
    if (header != nullptr && std::atomic_ref(header->stop).load() == trace::Stop::none) {
        std::atomic_ref(header->recording).fetch_xor(1);
    }
}

trace::BlockHeader* Recording::claimTable(trace::BlockKind kind, std::size_t bytes) noexcept {
    void* const block = file_.claim(bytes);
    if (block == nullptr) {
        return nullptr;
    }
    const auto shift = static_cast<unsigned>(__builtin_ctzl(bytes / trace::pageSize));
    auto& count = tables_[static_cast<std::size_t>(kind) % tableKinds];
    return trace::beginRecords(block, kind, shift, process_, count.fetch_add(1), now());
}

bool Recording::claimEvents(trace::Encoder& encoder, const NextBlock& next) noexcept {
    if (entry::isAbandoned(*file_.header())) {
        return false;
    }
    void* const block = file_.claim(trace::pageSize << next.sizeShift);
    if (block == nullptr) {
        return false;
    }
    const unsigned bits = stacks_ ? trace::coding::StackTables::bitsFor(next.sizeShift) : 0;
    const trace::BlockStart start = {process_,       next.thread,
                                     next.sequence,  systemNumber(SYS_gettid),
                                     next.sizeShift, static_cast<std::uint8_t>(bits),
                                     startTicks_,    next.tables};
    encoder.open(block, start, clock());
    return true;
}

std::uint32_t Recording::takeThreadNumber() noexcept {
    return takeNumber(file_.header()->threads);
}

void Recording::countLost() noexcept {
    if (file_.header() != nullptr) {
        std::atomic_ref(file_.header()->lostEvents).fetch_add(1, std::memory_order_relaxed);
    }
}

} // namespace heapwright::recorder
