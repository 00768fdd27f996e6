// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See counts.hpp. The page of the process, the lines of its threads, forks, and the functions of
// heapwright/c/limit.h.
#include "counts.hpp"

#include "recorder/operator_fallback.hpp"

#include <heapwright/c/limit.h>
#include <heapwright/platform/environment.hpp>
#include <heapwright/platform/errno_keeper.hpp>
#include <heapwright/platform/thread_exit.hpp>

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace heapwright::limit {

constinit thread_local Thread thisThread = {nullptr, nullptr, false, false};
constinit RequestedSizes requestedSizes;

namespace {

constinit Page privatePage = {};
constinit std::atomic<std::uint32_t> begun{0}; ///< 1: a thread is initialising; 2: done
constinit FileHeader* file = nullptr;          ///< null: there is none
constinit char path[512] = {};

std::atomic_ref<std::int64_t> shared(std::int64_t& word) noexcept {
    return std::atomic_ref<std::int64_t>(word);
}

std::atomic_ref<std::uint64_t> shared(std::uint64_t& word) noexcept {
    return std::atomic_ref<std::uint64_t>(word);
}

void* mapPart(std::size_t offset) noexcept {
    const long descriptor = ::syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NOCTTY, 0);
    if (descriptor < 0) {
        return nullptr;
    }
    const long mapped = ::syscall(SYS_mmap, nullptr, pageBytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                                  descriptor, offset);
    ::syscall(SYS_close, descriptor);
    return mapped == -1 ? nullptr : reinterpret_cast<void*>(mapped);
}

/// The file that the environment names; it stays null if there is none, or another one.
void openFile() noexcept {
    const std::string_view name = platform::variableIn(platform::environmentTexts(), fileVariable);
    if (name.empty() || name.size() >= sizeof path || platform::runsSecurely()) {
        return;
    }
    std::memcpy(path, name.data(), name.size());
    void* const first = mapPart(0);
    if (first != nullptr) {
        auto* const header = static_cast<FileHeader*>(first);
        file = std::memcmp(header->magic, fileMagic, sizeof fileMagic) == 0 ? header : nullptr;
    }
}

/// Takes the next page of the file for this process; the private one if there is none.
Page* takePage(bool forked) noexcept {
    Page* taken = &privatePage;
    Cause cause = forked ? Cause::fork : Cause::start;
    if (file != nullptr) {
        const std::uint32_t number = std::atomic_ref(file->taken).fetch_add(1);
        void* const mapped =
            number < file->pages ? mapPart((std::size_t{number} + 1) * pageBytes) : nullptr;
        taken = mapped != nullptr ? static_cast<Page*>(mapped) : taken;
        cause = !forked && number != 0 ? Cause::exec : cause;
    }
    ProcessLine& process = taken->process;
    process.cause = cause;
    process.exact = requestedSizes.exact() ? 1 : 0;
    if (program_invocation_short_name != nullptr) {
        std::strncpy(process.command, program_invocation_short_name, sizeof process.command - 1);
    }
    process.pid = static_cast<std::uint32_t>(::syscall(SYS_getpid));
    return taken;
}

/// Live bytes, with those that threads have not added yet.
std::int64_t liveOf(Page& counts) noexcept {
    std::int64_t live = shared(counts.process.live).load(std::memory_order_relaxed);
    for (ThreadLine& line : counts.threads) {
        live += shared(line.pending).load(std::memory_order_relaxed);
    }
    return live;
}

void raisePeak(std::int64_t live) noexcept {
    auto peak = shared(page->process.peak);
    std::int64_t known = peak.load(std::memory_order_relaxed);
    while (live > known && !peak.compare_exchange_weak(known, live, std::memory_order_relaxed)) {
    }
}

ThreadLine* takeLine() noexcept {
    auto used = shared(page->process.linesInUse);
    std::uint64_t known = used.load();
    for (;;) {
        const unsigned place =
            known == ~std::uint64_t{0} ? 64U : static_cast<unsigned>(__builtin_ctzll(~known));
        if (place >= ownLines) {
            return nullptr;
        }
        if (used.compare_exchange_weak(known, known | std::uint64_t{1} << place)) {
            return &page->threads[place];
        }
    }
}

/// The line keeps its counts for the next thread.
void giveLine(Thread& self) noexcept {
    ThreadLine* const line = self.line;
    self.line = nullptr;
    self.idle = nullptr;
    if (line != nullptr) {
        addShared(line->pending);
        line->pending = 0;
        const auto place = static_cast<unsigned>(line - page->threads);
        shared(page->process.linesInUse).fetch_and(~(std::uint64_t{1} << place));
    }
}

void endThread() noexcept {
    const platform::ErrnoKeeper keeper;
    giveLine(thisThread);
}

/// The other threads of the parent do not exist here.
void afterForkInChild() {
    Thread& self = thisThread;
    const bool inside = self.inside;
    self.inside = true;
    self.idle = nullptr;
    Page& parents = *page;
    const std::int64_t live = liveOf(parents);
    if (file != nullptr) {
        page = takePage(true);
    }
    if (&parents == page) {
        for (ThreadLine& line : page->threads) {
            line.pending = 0;
        }
        page->process.linesInUse = 0;
    }
    page->process.live = live;
    page->process.peak = live;
    self.line = self.line != nullptr ? takeLine() : nullptr;
    self.inside = inside;
    self.idle = inside ? nullptr : self.line;
}

/// Finds the next allocator and the page. Pre: the thread is inside.
void beginOnce() noexcept {
    std::uint32_t none = 0;
    if (!begun.compare_exchange_strong(none, 1)) {
        return;
    }
    const platform::ErrnoKeeper keeper;
    recorder::findNext();
    requestedSizes.begin();
    openFile();
    page = takePage(false);
    begun.store(2);
}

__attribute__((constructor)) void begin() {
    const platform::ErrnoKeeper keeper;
    // The recorder, if it is there, passes this on. So it does not record the requests of dlsym.
    std::free(nullptr);
    Thread& self = thisThread;
    self.inside = true;
    self.idle = nullptr;
    if (page->process.command[0] == 0 && program_invocation_short_name != nullptr) {
        std::strncpy(page->process.command, program_invocation_short_name,
                     sizeof page->process.command - 1);
    }
    recorder::findOperatorOwner(::dlsym(RTLD_DEFAULT, "heapwright_recorder_memory"));
    ::pthread_atfork(nullptr, nullptr, &afterForkInChild);
    self.inside = false;
    self.idle = self.line;
}

} // namespace

constinit Page* page = &privatePage;

bool isOutermost(Thread& self) noexcept {
    if (self.inside) {
        return false;
    }
    if (self.known) {
        return true; // it has no line, or no longer
    }
    self.inside = true;
    if (begun.load(std::memory_order_acquire) != 2) {
        beginOnce();
    }
    if (begun.load(std::memory_order_acquire) == 2) {
        self.known = true;
        self.line = takeLine();
        if (self.line != nullptr && !platform::AtThreadExit<endThread>::arrange()) {
            giveLine(self);
        }
    }
    self.inside = false;
    self.idle = self.line;
    return self.known;
}

void addShared(std::int64_t bytes) noexcept {
    const std::int64_t before =
        shared(page->process.live).fetch_add(bytes, std::memory_order_relaxed);
    raisePeak(before + bytes);
}

void noteAllocatedShared(void* object, std::size_t size) noexcept {
    shared(page->others.allocations).fetch_add(1, std::memory_order_relaxed);
    shared(page->others.bytes).fetch_add(size, std::memory_order_relaxed);
    addShared(noteSize(object, size));
}

void noteFreedShared(void* object) noexcept {
    shared(page->others.frees).fetch_add(1, std::memory_order_relaxed);
    addShared(-static_cast<std::int64_t>(requestedSizes.of(object)));
    requestedSizes.forget(object);
}

void noteResized(Thread& self, const Old& old, void* object, std::size_t size) noexcept {
    if (object == nullptr && (size != 0 || old.object == nullptr)) {
        return; // it failed, and the old block lives on
    }
    const bool counts = object != nullptr && (object != old.object || size > old.requested);
    const std::int64_t fresh = object != nullptr ? noteSize(object, size) : 0;
    const std::int64_t bytes = fresh - static_cast<std::int64_t>(old.requested);
    if (self.line != nullptr) [[likely]] {
        self.line->allocations += counts ? 1 : 0;
        self.line->bytes += counts ? size : 0;
        change(*self.line, bytes);
    } else {
        shared(page->others.allocations).fetch_add(counts ? 1 : 0, std::memory_order_relaxed);
        shared(page->others.bytes).fetch_add(counts ? size : 0, std::memory_order_relaxed);
        addShared(bytes);
    }
}

} // namespace heapwright::limit

using namespace heapwright::limit;

#pragma GCC visibility push(default)
extern "C" {

void heapwright_limit_read(heapwright_limit_figures* figures) {
    *figures = {};
    const auto add = [figures](ThreadLine& line) {
        figures->allocations += shared(line.allocations).load(std::memory_order_relaxed);
        figures->bytes += shared(line.bytes).load(std::memory_order_relaxed);
        figures->frees += shared(line.frees).load(std::memory_order_relaxed);
    };
    for (ThreadLine& line : page->threads) {
        add(line);
    }
    add(page->others);
    if (const ThreadLine* const mine = thisThread.line; mine != nullptr) {
        figures->thread_allocations = mine->allocations;
        figures->thread_bytes = mine->bytes;
    } else { // a thread without a line shares one
        figures->thread_allocations = page->others.allocations;
        figures->thread_bytes = page->others.bytes;
    }
    figures->live = liveOf(*page);
    raisePeak(figures->live);
    figures->peak = shared(page->process.peak).load(std::memory_order_relaxed);
}

int64_t heapwright_limit_restart_peak(void) {
    const std::int64_t live = liveOf(*page);
    raisePeak(live);
    return shared(page->process.peak).exchange(live);
}

void heapwright_limit_restore_peak(int64_t peak) {
    raisePeak(peak);
}

} // extern "C"
#pragma GCC visibility pop
