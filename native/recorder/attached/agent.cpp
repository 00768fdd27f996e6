// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The recorder in a process that already runs. heapwright-attach (native/attach) loads this library
// and makes a thread call these functions, in the order begin, stop, release. Then it unloads the
// library. The rest of the recorder is that of a preload.
//
// Invariant: if heapwright-attach dies, the recorder notices this before its next block. It then
// restores the import tables by itself, and only forwards what still reaches it.
#include "agreement.hpp"
#include "own_memory.hpp"
#include "slots.hpp"

#include "entry.hpp"
#include "record.hpp"

#include <heapwright/platform/errno_keeper.hpp>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

namespace heapwright::recorder {

void* const entry::allocatorScope = RTLD_DEFAULT;

namespace {

constinit char tracePath[sizeof attached::Agreement::trace] = {};
constinit std::atomic<bool> isOver{false};
constinit bool hasLeft = false; ///< the recording has its end of the process
constinit std::atomic<bool> isReleased{false};

} // namespace

std::string_view entry::tracePath() noexcept {
    return recorder::tracePath;
}

bool entry::isLaunched(const trace::FileHeader&) noexcept {
    return true;
}

bool entry::isAbandoned(trace::FileHeader& header) noexcept {
    const platform::ErrnoKeeper keeper;
    if (::kill(static_cast<pid_t>(header.launcher), 0) == 0 || errno != ESRCH) {
        return false;
    }
    std::atomic_ref(header.recording).store(0);
    if (!isOver.exchange(true)) {
        attached::restore();
    }
    return true;
}

namespace {

using attached::Agreement;
using attached::Result;

/// The handler stays until this library is unloaded, so it also runs after the release.
void afterForkInChild() noexcept {
    if (isReleased.load()) {
        return; // the mappings are gone
    }
    Thread& self = thisThread;
    const State before = self.state;
    self.state = State::inside;
    recording.noteForkInChild();
    self.state = before;
}

/// This object, as dlclose wants it.
std::uint64_t handleOfThis() noexcept {
    Dl_info info = {};
    void* object = nullptr;
    if (::dladdr1(reinterpret_cast<void*>(&handleOfThis), &info, &object, RTLD_DL_LINKMAP) == 0) {
        return 0;
    }
    return reinterpret_cast<std::uint64_t>(object);
}

Result begin(Agreement& agreement) noexcept {
    if (tracePath[0] != '\0') {
        return Result::outOfOrder;
    }
    agreement.handle = handleOfThis();
    if (agreement.handle == 0) {
        return Result::noAddress;
    }
    std::memcpy(tracePath, agreement.trace, sizeof tracePath - 1);
    Thread& self = thisThread;
    isOutermost(self); // begins the recording
    if (!recording.isOpen()) {
        return Result::noTrace;
    }
    enter(self, State::inside);
    ::pthread_atfork(nullptr, nullptr, &afterForkInChild);
    const bool redirected = attached::redirect();
    enter(self, self.rest);
    agreement.slots = attached::redirected();
    return redirected ? Result::done : Result::noPages;
}

Result stop(Agreement& agreement) noexcept {
    agreement.handle = handleOfThis();
    attached::listEntries(agreement);
    if (tracePath[0] == '\0') {
        return Result::outOfOrder;
    }
    if (!isOver.exchange(true)) {
        attached::restore();
    }
    if (!isReleased.load() && !hasLeft) {
        hasLeft = true;
        recording.leave();
    }
    forgetThreadEnds(); // a thread that is inside may register once more, so a second call follows
    agreement.slots = attached::redirected();
    return Result::done;
}

Result release(Agreement& agreement) noexcept {
    isReleased.store(
        true); // heapwright-attach may die before it unloads this, and later begin again
    forgetThreadEnds();
    recording.closeFile();
    agreement.unrestored = attached::unmapAll();
    return Result::done;
}

} // namespace

} // namespace heapwright::recorder

#pragma GCC visibility push(default)
extern "C" {

using heapwright::recorder::attached::Agreement;

void heapwright_attached_begin(Agreement* agreement) noexcept {
    const heapwright::platform::ErrnoKeeper keeper;
    agreement->result = heapwright::recorder::begin(*agreement);
}

void heapwright_attached_stop(Agreement* agreement) noexcept {
    const heapwright::platform::ErrnoKeeper keeper;
    agreement->result = heapwright::recorder::stop(*agreement);
}

void heapwright_attached_release(Agreement* agreement) noexcept {
    const heapwright::platform::ErrnoKeeper keeper;
    agreement->result = heapwright::recorder::release(*agreement);
}

/// Called by `heapwright_mark` (include/heapwright/c/mark.h): the program names this moment.
void heapwright_recorder_mark(const char* name) noexcept {
    if (name != nullptr) {
        heapwright::recorder::recording.mark(name, 0);
    }
}

} // extern "C"
#pragma GCC visibility pop
