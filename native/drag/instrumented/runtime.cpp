// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See runtime.hpp.
#include "runtime.hpp"

#include "chain.hpp"

#include "drag/account/report.hpp"
#include "recorder/next.hpp"

#include <heapwright/platform/output.hpp>
#include <heapwright/platform/process.hpp>

#include <cstdio>
#include <cstdlib>
#include <link.h>
#include <new>
#include <pthread.h>
#include <string_view>

// The linker's names for the range of this library.
extern "C" {
extern __attribute__((visibility("hidden"))) const char __ehdr_start[];
extern __attribute__((visibility("hidden"))) const char _end[];
}

namespace heapwright::drag {

constinit thread_local Self thisThread;
constinit Runtime runtime;

namespace {

constexpr const char* outputVariable = "HEAPWRIGHT_DRAG_OUTPUT";

std::uint64_t addressOf(const void* object) noexcept {
    return reinterpret_cast<std::uintptr_t>(object);
}

/// The part of the C++ runtime in this library allocates when it is loaded.
bool isOurs(std::uintptr_t code) noexcept {
    return code - addressOf(__ehdr_start) < addressOf(_end) - addressOf(__ehdr_start);
}

/// Adds a loaded file with code.
int addModule(dl_phdr_info* object, std::size_t, void* modules) {
    char program[4096] = {};
    const char* path = object->dlpi_name;
    if (path[0] == '\0') {
        const ssize_t length = ::readlink("/proc/self/exe", program, sizeof program - 1);
        program[length > 0 ? length : 0] = '\0';
        path = program;
    }
    for (unsigned i = 0; i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = object->dlpi_phdr[i];
        if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) {
            const std::uintptr_t start = object->dlpi_addr + segment.p_vaddr;
            static_cast<Modules*>(modules)->add(start, start + segment.p_memsz, object->dlpi_addr,
                                                path);
        }
    }
    return 0;
}

} // namespace

/// The first allocation of the process, before other threads exist.
bool Runtime::wake() noexcept {
    if (state_ != State::asleep) {
        return false;
    }
    thisThread.inside = true;
    recorder::findNext();
    begin();
    thisThread.inside = false;
    return state_ == State::watching;
}

void Runtime::begin() noexcept {
    const platform::ErrnoKeeper keeper;
    output_ = ::secure_getenv(outputVariable);
    void* const pages = output_ != nullptr ? platform::reservePages(sizeof(Kept)) : nullptr;
    if (pages == nullptr) {
        state_ = State::passive;
        return;
    }
    process_ = platform::processId();
    ::pthread_atfork(nullptr, nullptr, [] { runtime.afterForkInChild(); });
    ::at_quick_exit([] { runtime.finish(); });
    kept_ = ::new (pages) Kept;
    state_ = State::watching;
}

/// The account is not freed, because other threads may be reading it.
void Runtime::stopKeeping() noexcept {
    kept_ = nullptr;
    state_ = State::passive;
}

void Runtime::noteRebuilt() noexcept {
    if (!enter()) {
        return;
    }
    lock_.lock();
    rebuilt_.look();
    if (!claimed_) {
        const platform::ErrnoKeeper keeper;
        const int file = ::open(output_, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        claimed_ = file >= 0;
        if (claimed_) {
            ::close(file);
        } else {
            stopKeeping(); // it belongs to another process
        }
    }
    lock_.unlock();
    leave();
}

Runtime::Origin Runtime::originOf(const void* frame) const noexcept {
    const Self& self = thisThread;
    const void* const from = self.behalf != nullptr ? self.behalf : frame;
    Origin origin;
    origin.length = chainFrom(from, origin.chain, [this, &self, &origin](std::uintptr_t code) {
        const bool is = rebuilt_.has(code);
        origin.unseen = origin.unseen && (!is || self.behalf != nullptr);
        return is;
    });
    return origin;
}

void Runtime::add(const void* object, std::size_t size, const Origin& origin) noexcept {
    Kept* const kept = kept_;
    if (object != nullptr && kept != nullptr && !isOurs(origin.chain[0])) {
        const std::uint32_t site = kept->sites.intern({origin.chain.data(), origin.length});
        kept->account.allocate(addressOf(object), size, site, origin.unseen);
    }
}

void Runtime::allocated(const void* object, std::size_t size, const void* frame) noexcept {
    const Origin origin = originOf(frame);
    lock_.lock();
    add(object, size, origin);
    thrown_ += object == nullptr ? 1 : 0;
    threads_ += thisThread.counted ? 0 : 1;
    thisThread.counted = true;
    lock_.unlock();
}

void Runtime::freed(const void* object) noexcept {
    lock_.lock();
    if (Kept* const kept = kept_; kept != nullptr && object != nullptr) {
        if (thrown_ != 0 && kept->account.find(addressOf(object)) == 0) {
            --thrown_;
        } else {
            kept->account.free(addressOf(object));
        }
    }
    lock_.unlock();
}

void Runtime::noteResized(const void* old, const void* object, std::size_t size,
                          const Origin& origin) noexcept {
    Kept* const kept = kept_;
    if (kept == nullptr) {
        return;
    }
    if (old == nullptr) {
        add(object, size, origin);
    } else if (object != nullptr) {
        const std::uint32_t site = kept->sites.intern({origin.chain.data(), origin.length});
        kept->account.reallocate(addressOf(old), addressOf(object), size, site, origin.unseen);
    } else if (size == 0) {
        kept->account.free(addressOf(old));
    }
}

void Runtime::finish() noexcept {
    if (!claimed_ || platform::processId() != process_ || !enter()) {
        return;
    }
    lock_.lock();
    Kept* const kept = kept_;
    stopKeeping();
    lock_.unlock();
    if (kept != nullptr) {
        kept->account.finish();
        if (!write(*kept)) {
            std::fprintf(stderr, "heapwright: the drag cannot be written to %s\n", output_);
        }
    }
    leave();
}

/// Writes through a temporary name, so that no reader sees an unfinished file.
bool Runtime::write(const Kept& kept) const {
    Modules modules;
    ::dl_iterate_phdr(&addModule, &modules);
    Json json;
    json.beginObject().field("format", "heapwright drag record").field("version", std::uint32_t{1});
    json.field("means", "instrumented").field("threads", threads_);
    writeDrag(json, kept.account, kept.sites, modules);
    json.endObject();
    const int file = platform::createFile(output_);
    const std::string& text = json.text();
    const bool written = file >= 0 && platform::writeAll(file, text.data(), text.size());
    platform::closeFile(file);
    return written;
}

} // namespace heapwright::drag
