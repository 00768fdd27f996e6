// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Huge pages: one page-table entry and one TLB entry for 2 MiB, or for another size of the machine.
// There are two ways to get them. `AdvisedHugePages` asks for them by `madvise`, and the kernel
// uses them if it finds free ones. `ReservedHugePages` takes them from those that the administrator
// has reserved. If there are none, the same addresses have ordinary pages.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/platform/errno_keeper.hpp>
#include <heapwright/platform/pages.hpp>

#include <atomic>
#include <bit>
#include <concepts>
#include <cstddef>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace heapwright::platform {

namespace detail {

/// The number at the start of a file; 0 if there is no such file or no number in it.
[[nodiscard]] inline std::size_t numberInFile(const char* path) noexcept {
    const ErrnoKeeper keeper;
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return 0;
    }
    char text[32] = {};
    const ssize_t length = ::read(file, text, sizeof text - 1);
    ::close(file);
    std::size_t number = 0;
    for (ssize_t i = 0; i < length && text[i] >= '0' && text[i] <= '9'; ++i) {
        number = number * 10 + static_cast<std::size_t>(text[i] - '0');
    }
    return number;
}

[[gnu::cold, gnu::noinline]] inline std::size_t askHugePageSize() noexcept {
    const std::size_t told = numberInFile("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
    const bool sensible = std::has_single_bit(told) && told >= pageSize() && told <= 1 * GiB;
    return sensible ? told : 2 * MiB;
}

} // namespace detail

/// The size of a huge page, a power of two: what the system reports, or 2 MiB.
/// Cost: one read of a file, on the first call.
[[nodiscard]] inline std::size_t hugePageSize() noexcept {
    static constinit std::atomic<std::size_t> known{0};
    std::size_t size = known.load(std::memory_order_relaxed);
    if (size == 0) [[unlikely]] {
        size = detail::askHugePageSize();
        known.store(size, std::memory_order_relaxed);
    }
    return size;
}

/// Ordinary memory, with a request to back it by huge pages.
struct AdvisedHugePages {
    /// Pre: as for `mapPagesAt`, in units of huge pages.
    /// Post: zero bytes at `phase` modulo `alignment`, or null.
    [[nodiscard]] static void* map(std::size_t bytes, std::size_t alignment,
                                   std::size_t phase) noexcept {
        void* const pages = mapPagesAt(bytes, alignment, phase);
        if (pages != nullptr) {
            const ErrnoKeeper keeper;
            // A failure is ignored: the memory then has ordinary pages.
            [[maybe_unused]] const int refused = ::madvise(pages, bytes, MADV_HUGEPAGE);
        }
        return pages;
    }
};

/// Huge pages that the administrator has reserved. If none is left, `AdvisedHugePages`.
struct ReservedHugePages {
    [[nodiscard]] static void* map(std::size_t bytes, std::size_t alignment,
                                   std::size_t phase) noexcept {
        const ErrnoKeeper keeper;
        const auto log2 = static_cast<int>(floorLog2(hugePageSize()));
        void* const pages =
            alignment > hugePageSize()
                ? MAP_FAILED // the system aligns them to their own size
                : ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | (log2 << hugeSizeShift), -1,
                         0);
        return pages == MAP_FAILED ? AdvisedHugePages::map(bytes, alignment, phase) : pages;
    }

private:
    /// MAP_HUGE_SHIFT, which some C libraries do not define.
    static constexpr int hugeSizeShift = 26;
};

/// A way to map huge pages.
template <class P>
concept HugePages = requires(std::size_t n) {
    { P::map(n, n, n) } -> std::same_as<void*>;
};

} // namespace heapwright::platform
