// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What stands in a process whose program was rebuilt for drag: the account of its objects, which
// allocations open and frees close (routines.cpp, operators.cpp) and accesses touch (accesses.cpp,
// atomics.cpp, calls/).
//
// A process is watched from its first allocation. The first one of which a part turns out to be
// rebuilt takes the file that HEAPWRIGHT_DRAG_OUTPUT names, and writes it when it ends; all others,
// its children among them, are only passed through.
//
// Invariants: an access takes no lock. Allocations and frees take one, in which nothing of the
// allocator's is called but realloc, so that the address which it gives up is gone from the account
// before anybody is seen to get it. While a thread is inside, what it allocates is not seen.
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

/// The calling thread.
struct Self {
    bool inside = false;
    bool counted = false;         ///< among those that allocate
    const void* behalf = nullptr; ///< the frame of a call to the C library whose objects are its
};
[[gnu::tls_model("initial-exec")]] extern constinit thread_local Self thisThread;

class Runtime {
public:
    /// Whether the program itself makes this call of an allocation routine; if so the thread is
    /// inside until `leave`.
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

    // Between `enter` and `leave`. `frame` is that of the routine that the program called.

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

    /// A part of the program that was rebuilt is there.
    void noteRebuilt() noexcept;
    void afterForkInChild() noexcept { stopKeeping(); }

    /// Writes the file, once.
    void finish() noexcept;

private:
    enum class State : std::uint8_t { asleep, watching, passive };

    /// In pages of its own, as there is nobody to ask for memory.
    struct Kept {
        Account account;
        Sites sites;
    };

    /// Where an allocation comes from.
    struct Origin {
        std::array<std::uint64_t, 16> chain;
        std::size_t length = 0;
        bool unseen = true; ///< made by other code, or by the C library on behalf of rebuilt code
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
    std::atomic<Kept*> kept_ = nullptr; ///< only while the process is watched
    FutexLock lock_;
    Rebuilt rebuilt_;
    const char* output_ = nullptr;
    std::uint32_t process_ = 0;
    /// Allocations that failed, which for operator new makes an object that is thrown: made inside
    /// of it, so unseen, and freed outside.
    std::uint64_t thrown_ = 0;
    std::uint64_t threads_ = 0; ///< that have allocated
    bool claimed_ = false;      ///< the file is ours
};

extern constinit Runtime runtime;

} // namespace heapwright::drag
