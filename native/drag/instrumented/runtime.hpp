// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The runtime in a process whose program was rebuilt for drag. It keeps the account of the
// program's objects. Allocations add objects and frees remove them (routines.cpp, operators.cpp),
// and accesses touch them (accesses.cpp, atomics.cpp, calls/).
//
// A process is observed from its first allocation. The first process with a rebuilt part claims the
// file that HEAPWRIGHT_DRAG_OUTPUT names, and writes it when it ends. In all other processes,
// including its children, calls are only passed on.
//
// Invariant: an access takes no lock. Allocations and frees take one, inside which only the
// allocator's realloc is called. An address that realloc releases has thus left the account before
// another thread can get it. Allocations by a thread that is inside the runtime are not observed.
#pragma once

#include "rebuilt.hpp"

#include "drag/account/account.hpp"
#include "drag/account/sites.hpp"

#include <heapwright/sync/futex_lock.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwright::drag {

/// The state of the calling thread.
struct Self {
    bool inside = false;
    bool counted = false;         ///< counted among the threads that allocate
    const void* behalf = nullptr; ///< the frame of a C library call that owns its allocations
};
[[gnu::tls_model("initial-exec")]] extern constinit thread_local Self thisThread;

class Runtime {
public:
    /// Whether the program itself called the allocation routine. If so, the thread is inside until
    /// `leave`.
    [[nodiscard]] bool enter() noexcept {
        Self& self = thisThread;
        if (self.inside || (state_ != State::watching && !wake())) {
            return false;
        }
        self.inside = true;
        return true;
    }
    void leave() noexcept { thisThread.inside = false; }

    [[gnu::always_inline]] void touch(const void* address) noexcept {
        if (Kept* const kept = kept_.load(std::memory_order_acquire)) [[likely]] {
            kept->account.access(reinterpret_cast<std::uintptr_t>(address), 1);
        }
    }
    void touch(const void* address, std::size_t size) noexcept {
        if (size != 0) {
            touch(address);
        }
    }

    // Called between `enter` and `leave`. `frame` is that of the routine that the program called.

    void allocated(const void* object, std::size_t size, const void* frame) noexcept;
    void freed(const void* object) noexcept;
    /// Makes the call.
    template <class Call>
    void* resized(const void* old, std::size_t size, const void* frame, Call call) noexcept {
        const Origin origin = originOf(frame);
        lock_.lock();
        void* const object = call();
        noteResized(old, object, size, origin);
        lock_.unlock();
        return object;
    }

    /// Records that a part of the program is rebuilt.
    void noteRebuilt() noexcept;
    void afterForkInChild() noexcept { stopKeeping(); }

    /// Writes the file, once.
    void finish() noexcept;

private:
    enum class State : std::uint8_t { asleep, watching, passive };

    /// In pages of its own, because there is no allocator to use.
    struct Kept {
        Account account;
        Sites sites;
    };

    /// The place of an allocation.
    struct Origin {
        std::array<std::uint64_t, 16> chain;
        std::size_t length = 0;
        bool unseen = true; ///< by other code, or by the C library for rebuilt code
    };

    bool wake() noexcept;
    void begin() noexcept;
    void stopKeeping() noexcept;
    [[nodiscard]] Origin originOf(const void* frame) const noexcept;
    void add(const void* object, std::size_t size, const Origin& origin) noexcept;
    void noteResized(const void* old, const void* object, std::size_t size,
                     const Origin& origin) noexcept;
    [[nodiscard]] bool write(const Kept& kept) const;

    std::atomic<State> state_ = State::asleep;
    std::atomic<Kept*> kept_ = nullptr; ///< only while the process is observed
    FutexLock lock_;
    Rebuilt rebuilt_;
    const char* output_ = nullptr;
    std::uint32_t process_ = 0;
    /// Failed allocations. For operator new each creates an exception object, which is allocated
    /// inside it, so unobserved, and freed outside.
    std::uint64_t thrown_ = 0;
    std::uint64_t threads_ = 0; ///< threads that have allocated
    bool claimed_ = false;      ///< this process has claimed the file
};

extern constinit Runtime runtime;

} // namespace heapwright::drag
