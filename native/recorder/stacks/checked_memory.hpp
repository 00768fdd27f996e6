// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies out of memory that belongs to the program's own structures. A wrong address gives false
// and no fault.
//
// Two ways: `direct` reads pages that were found readable once. It is for structures that nothing
// can release meanwhile. `copied` asks the system for each copy, which may be of memory that
// another thread unmaps at the same time. Where the system refuses such copies, they give false.
// Cost: some ten instructions for a direct copy, a call to the system for the other.
#pragma once

#include "readable.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <sys/uio.h>

namespace heapwright::recorder::stacks {

class CheckedMemory {
public:
    enum class Way : std::uint8_t { direct, copied };

    void use(Way way) noexcept { way_ = way; }

    /// Copies `bytes` bytes; false if they cannot be read.
    [[nodiscard]] bool copy(std::uint64_t from, void* to, std::size_t bytes) noexcept {
        if (way_ == Way::copied) [[unlikely]] {
            return copySlowly(from, to, bytes);
        }
        const std::uint64_t last = from + bytes - 1;
        if (last < from || from < smallestPage) {
            return false;
        }
        for (std::uint64_t page = from / smallestPage; page <= last / smallestPage; ++page) {
            if (!known(page)) {
                return false;
            }
        }
        std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
        return true;
    }

    template <class T>
    [[nodiscard]] bool read(std::uint64_t from, T& value) noexcept {
        return copy(from, &value, sizeof value);
    }

private:
    static constexpr std::size_t places = 256;

    bool known(std::uint64_t page) noexcept {
        std::uint64_t& place = pages_[page % places];
        if (place != page) [[unlikely]] {
            if (!isReadable(page * smallestPage)) {
                return false;
            }
            place = page;
        }
        return true;
    }

    [[gnu::noinline]] static bool copySlowly(std::uint64_t from, void* to,
                                             std::size_t bytes) noexcept {
        const platform::ErrnoKeeper keeper;
        const iovec ours{to, bytes};
        const iovec theirs{reinterpret_cast<void*>(from), bytes};
        return ::syscall(SYS_process_vm_readv, ::getpid(), &ours, 1L, &theirs, 1L, 0L) ==
               static_cast<long>(bytes);
    }

    std::array<std::uint64_t, places> pages_{}; ///< numbers of pages; 0 = none
    Way way_ = Way::copied;
};

} // namespace heapwright::recorder::stacks
