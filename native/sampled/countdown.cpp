// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See countdown.hpp. Also what the sampler asks of the library that it is a part of, and dlclose.
#include <sampled/countdown.hpp>

#include <atomic>
#include <dlfcn.h>

#include <heapwright/platform/abort.hpp>
#include <heapwright/platform/errno_keeper.hpp>
#include <heapwright/structure/settings/granary_settings.hpp>

#include <recorder/stacks/stacks.hpp>
#include <sampler/sampling.hpp>

namespace heapwright::sampled {

constinit thread_local Countdown countdown = {};

namespace {

/// Bytes after which a thread that is not sampled asks again. With some C libraries the environment
/// cannot be read in the first requests of the process.
constexpr std::uint64_t untilNextQuestion = 1 << 20;

/// The thread's first distance. False: there are no samples, or not yet.
bool begin(Countdown& self) noexcept {
    if (!sampler::isSampled()) {
        self.left = untilNextQuestion;
        return false;
    }
    sampler::Thread& thread = sampler::thisThread;
    if (thread.progress.left == 0 && !sampler::beginThread(thread)) {
        return false;
    }
    self.left = thread.progress.left - 1;
    self.begun = true;
    return true;
}

} // namespace

bool isDue(std::size_t size) noexcept {
    const platform::ErrnoKeeper keeper;
    Countdown& self = countdown;
    self.left += size;
    if (size > PTRDIFF_MAX) {
        return false; // it will fail
    }
    if (!self.begun && begin(self) && self.left >= size) {
        self.left -= size;
        return false;
    }
    return self.begun;
}

void note(void* block, std::size_t size, const void* frame) noexcept {
    Countdown& self = countdown;
    self.left = sampler::process.settings.mean; // for requests while the sample is taken
    sampler::take(sampler::thisThread, block, size, frame);
    self.left = sampler::thisThread.progress.left - 1;
}

} // namespace heapwright::sampled

namespace heapwright::sampler {

bool isSampled() noexcept {
    return GranarySettings::sampleBytes() != 0;
}

void prepareLibrary(Settings& settings) noexcept {
    settings.mean = GranarySettings::sampleBytes();
}

void startLibrary() noexcept {}

} // namespace heapwright::sampler

#pragma GCC visibility push(default)
extern "C" {

/// Code may have gone, and other code may come to its place.
int dlclose(void* library) noexcept {
    using Close = int(void*);
    static constinit std::atomic<Close*> next{nullptr};
    Close* function = next.load(std::memory_order_relaxed);
    if (function == nullptr) {
        function = reinterpret_cast<Close*>(::dlsym(RTLD_NEXT, "dlclose"));
        if (function == nullptr) {
            heapwright::platform::abortWithMessage("dlclose", "the C library has none");
        }
        next.store(function, std::memory_order_relaxed);
    }
    const int result = function(library);
    heapwright::recorder::stacks::noteModulesChanged();
    return result;
}

} // extern "C"
#pragma GCC visibility pop
