// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The parts of a granary library beyond malloc. They are the functions of heapwright/c/granary.h
// over any complete allocator that can be inspected and walked. They also include statistics at
// exit and on a signal, and the background thread.
//
// The library's start reads the settings, so that an invalid one is reported then at the latest,
// and prepares for the signal and for forks. Work that may allocate is left to the program's first
// request.
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <pthread.h>
#include <string_view>

#include <heapwright/c/granary.h>
#include <heapwright/core/introspection.hpp>
#include <heapwright/platform/errno_keeper.hpp>
#include <heapwright/platform/helper_thread.hpp>
#include <heapwright/platform/output.hpp>
#include <heapwright/platform/stack_trace.hpp>
#include <heapwright/structure/settings/granary_settings.hpp>
#include <heapwright/structure/thread/deferred_work.hpp>

#include <preload/granary/background_thread.hpp>
#include <preload/granary/c_library_code.hpp>
#include <preload/granary/statistics.hpp>
#include <preload/granary/walk.hpp>
#include <preload/instance.hpp>
#include <preload/own_code.hpp>

namespace heapwright::preload {

/// The identity of a library that takes samples (native/sampled/).
template <class Identity>
concept TakesSamples = requires { requires Identity::takesSamples; };

/// The identity of a library beside which the C library keeps its own malloc.
template <class Identity>
concept LeavesMalloc = requires { requires Identity::leavesMalloc; };

template <class Allocator, class Identity>
    requires InspectableHeap<Allocator> && WalkableHeap<Allocator>
class GranaryApi {
    using BackgroundThread = GranaryBackgroundThread<Allocator>;
    using Statistics = GranaryStatistics<Allocator, Identity>;

public:
    // --- start, fork and exit of the process ---

    [[gnu::cold]] static void begin() noexcept {
        GranarySettings::readOnce();
        if constexpr (!TakesSamples<Identity>) {
            if (GranarySettings::sampleBytes() != 0) {
                refuseSamples();
            }
        }
        CLibraryCode::collect();
        DeferredWork::setWorker(&work, &isSafeCaller);
        GranarySettings::setWaker(&BackgroundThread::memoryWaits);
        ::pthread_atfork(nullptr, nullptr, &afterForkInChild);
        Statistics::keepDescriptor();
        listen();
        if (BackgroundThread::wanted()) {
            BackgroundThread::watchThisThread();
            DeferredWork::ask(GranaryTask::start);
        }
        if (GranarySettings::guardInterval() != 0) {
            DeferredWork::ask(GranaryTask::guard); // the C library cannot load its unwinder yet
        }
    }

    static void end() noexcept {
        if (GranarySettings::printsAtExit()) {
            Statistics::printAsSet();
        }
    }

    // --- the functions ---

    [[gnu::cold]] static int set(const char* name, const char* value) noexcept {
        const platform::ErrnoKeeper keeper;
        switch (GranarySettings::set(name, value)) {
        case GranarySettings::Answer::unknownName:
            return ENOENT;
        case GranarySettings::Answer::wrongValue:
            return EINVAL;
        case GranarySettings::Answer::set:
            break;
        }
        Statistics::keepDescriptor();
        listen();
        guard();
        if (BackgroundThread::wanted()) {
            BackgroundThread::start();
        }
        BackgroundThread::wake();
        return 0;
    }

    [[gnu::cold]] static std::size_t get(const char* name, char* value, std::size_t size) noexcept {
        const auto text = GranarySettings::get(name);
        const std::string_view view = text ? text->view() : std::string_view{};
        if (size != 0) {
            const std::size_t length = std::min(view.size(), size - 1);
            std::memcpy(value, view.data(), length);
            value[length] = '\0';
        }
        return view.size();
    }

    [[gnu::cold]] static void statistics(heapwright_granary_figures& to) noexcept {
        Statistics::look([&to](const HeapSnapshot& now) {
            const HeapSnapshot::Totals sum = now.totals();
            to.live_objects = sum.liveObjects;
            to.live_bytes = sum.liveBytes;
            to.large_objects = now.large.objects;
            to.large_bytes = now.large.bytes;
            to.cached_objects = sum.cachedObjects;
            to.cached_bytes = sum.cachedBytes;
            to.free_bytes = sum.freeBytes;
            to.dirty_bytes = now.source.dirtyBytes;
            to.clean_bytes = now.source.cleanBytes;
            to.mapped_bytes = now.system.nowMapped();
            to.threads = now.cacheCount;
            to.maps = now.system.maps;
            to.unmaps = now.system.unmaps;
            to.purges = now.system.purges;
            to.purged_bytes = now.system.purgedBytes;
            to.lock_takes = now.heapLocks.takes + now.globalLock.takes + now.sourceLock.takes;
            to.lock_waits = now.heapLocks.waits + now.globalLock.waits + now.sourceLock.waits;
        });
    }

    [[gnu::cold]] static int print(int descriptor, int format) noexcept {
        using Format = GranarySettings::Format;
        const Format wanted = format == 0                                ? Format::table
                              : format == HEAPWRIGHT_GRANARY_OPENMETRICS ? Format::openMetrics
                                                                         : Format::json;
        return Statistics::print(descriptor, wanted) ? 0 : EIO;
    }

    [[gnu::cold]] static int walk(int (*visit)(const heapwright_granary_object*, void*),
                                  void* argument) {
        const ObjectList<Allocator> list;
        if (!list.complete()) {
            return ENOMEM;
        }
        return list.forEach([visit, argument](const LiveObject& each) {
            const bool large = each.sizeClass == LiveObject::noClass;
            const heapwright_granary_object object = {each.address, each.size,
                                                      large ? -1 : static_cast<int>(each.sizeClass),
                                                      each.cached ? 1 : 0};
            return visit(&object, argument);
        });
    }

    [[gnu::cold]] static std::size_t purge() noexcept {
        const std::uint64_t before = returned();
        instance<Allocator>().trim(0);
        const std::uint64_t after = returned();
        return static_cast<std::size_t>(after > before ? after - before : 0);
    }

private:
    [[gnu::cold, gnu::noinline]] static void refuseSamples() noexcept {
        constexpr std::string_view line =
            "heapwright: HEAPWRIGHT_GRANARY: sample has no effect in this library; preload "
            "libheapwright-granary-sampled.so instead\n";
        platform::writeAll(2, line.data(), line.size());
    }

    /// Bytes returned to the system since the start.
    [[gnu::cold]] static std::uint64_t returned() noexcept {
        std::uint64_t bytes = 0;
        Statistics::look([&bytes](const HeapSnapshot& now) {
            bytes = now.system.purgedBytes + now.system.unmappedBytes;
        });
        return bytes;
    }

    /// Whether an address is in neither the C library nor this library, which other code calls. If
    /// the C library has its own malloc, all callers are other code.
    [[gnu::cold]] static bool isSafeCaller(const void* caller) noexcept {
        if constexpr (LeavesMalloc<Identity>) {
            return true;
        }
        const Address address = addressOf(caller);
        return CLibraryCode::isKnown() && !CLibraryCode::contains(address) &&
               !OwnCode::contains(address);
    }

    [[gnu::cold]] static void work(DeferredWork::Set chores) noexcept {
        const platform::ErrnoKeeper keeper;
        if ((chores & GranaryTask::start) != 0) {
            BackgroundThread::start();
        }
        if ((chores & GranaryTask::print) != 0) {
            Statistics::printAsSet();
        }
        if ((chores & GranaryTask::guard) != 0) {
            guard();
        }
    }

    /// Prepares the reports of guarded pages, if the settings ask for such pages. Installs the
    /// handler of faults once, and only if the settings ask for it.
    [[gnu::cold]] static void guard() noexcept {
        if constexpr (DescribingHeap<Allocator>) {
            if (GranarySettings::guardInterval() == 0) {
                return;
            }
            platform::prepareStacks();
            static constinit std::atomic<bool> installed{false};
            if (!GranarySettings::guardReports() || installed.exchange(true)) {
                return;
            }
            struct sigaction action = {};
            action.sa_sigaction = &onFault;
            action.sa_flags = SA_SIGINFO | SA_ONSTACK;
            ::sigemptyset(&action.sa_mask);
            ::sigaction(SIGSEGV, &action, &before_[0]);
            ::sigaction(SIGBUS, &action, &before_[1]);
        }
    }

    /// Reports an access beside a guarded object. Then the previous action takes effect, because
    /// the instruction faults again.
    [[gnu::cold]] static void onFault(int signal, siginfo_t* info, void* /*context*/) {
        const platform::ErrnoKeeper keeper;
        if constexpr (DescribingHeap<Allocator>) {
            if (info->si_code > 0 && instance<Allocator>().describe(2, info->si_addr)) {
                constexpr std::string_view line =
                    "heapwright: access beside a sampled object or after its free\n";
                platform::writeAll(2, line.data(), line.size());
            }
        }
        ::sigaction(signal, &before_[signal == SIGSEGV ? 0 : 1], nullptr);
        if (info->si_code <= 0) {
            ::raise(signal); // another process or thread sent it
        }
    }
    static inline struct sigaction before_[2] = {};

    [[gnu::cold]] static void onSignal(int signal) {
        const platform::ErrnoKeeper keeper;
        if (signal == GranarySettings::printsOnSignal()) {
            DeferredWork::ask(GranaryTask::print);
            BackgroundThread::wake();
        }
    }

    /// Handles the signal that the settings name, once for each signal that they have named.
    [[gnu::cold]] static void listen() noexcept {
        static constinit std::atomic<std::uint64_t> heard{0};
        const int signal = GranarySettings::printsOnSignal();
        const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(signal & 63);
        if (signal == 0 || (heard.fetch_or(bit) & bit) != 0) {
            return;
        }
        struct sigaction action = {};
        action.sa_handler = &onSignal;
        action.sa_flags = SA_RESTART;
        ::sigemptyset(&action.sa_mask);
        ::sigaction(signal, &action, nullptr);
    }

    [[gnu::cold]] static void afterForkInChild() noexcept {
        GranarySettings::afterForkInChild();
        Statistics::afterForkInChild();
        if (BackgroundThread::wanted()) {
            BackgroundThread::watchThisThread();
        }
        BackgroundThread::afterForkInChild();
    }
};

} // namespace heapwright::preload
