// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The file that the witness in every process shares with heapwright-run. The runner creates it,
// sparse and zero. Every process maps it and claims records by incrementing `claimed`. No process
// waits for another, because a writer may be killed between any two stores.
//
// Invariant: a record is valid once `state` has `published`. Only its own process writes it. A text
// is valid once `ready` is set. Texts are found by their hash and shared.
// Cost: a process touches three to five pages of it, and uses 7 MiB of address space.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwright::runner::witness {

inline constexpr std::uint64_t magic = 0x3153534e54495748; // "HWITNSS1"
inline constexpr std::uint32_t recordCapacity = 65536;
inline constexpr std::uint32_t textCapacity = 1024; // a power of two
inline constexpr char variable[] = "HEAPWRIGHT_WITNESS";

/// Bits of `Record::state`.
enum State : std::uint32_t {
    published = 1,     ///< the fields below are valid
    exited = 2,        ///< the process reached its exit, `cpuNs` and `endNs` are final
    forked = 4,        ///< the record of a child forked from a reporting process
    late = 8,          ///< claimed only at exit: a direct clone call created the process
    libcProvides = 16, ///< malloc is the C library's
    sandboxed = 32,    ///< from now on the witness must make no system calls in the process
    replacing = 64,    ///< it has called exec for `successor`, which has not returned
};

/// One program image in one process.
struct Record {
    std::atomic<std::uint32_t> state;
    std::int32_t pid;
    std::int32_t parent;
    std::uint16_t exe;       ///< 1 + index of a text; 0: none, or the table was full
    std::uint16_t provider;  ///< the same for the object that provides malloc
    std::uint16_t successor; ///< the same for the program that it called exec for
    std::uint16_t unused;
    std::uint32_t faults;      ///< minor page faults of the process at its exit
    std::uint64_t startNs;     ///< CLOCK_MONOTONIC
    std::uint64_t cpuStartNs;  ///< CPU time of the process before this image
    std::uint64_t cpuNs;       ///< CPU time of the process at its last report
    std::uint64_t endNs;       ///< CLOCK_MONOTONIC at the exit
    std::uint32_t peakStartKb; ///< the kernel's peak at the start, which exec carried over
    std::uint32_t peakKb;      ///< the same at the exit
};
static_assert(sizeof(Record) == 64);

/// What a process learned when it waited for a child. It is the kernel's account of that child and
/// of all descendants that the child had waited for.
struct Reaped {
    std::atomic<std::uint32_t> state; ///< `published`
    std::int32_t pid;
    std::int32_t reaper;
    std::int32_t status; ///< from wait
    std::uint64_t cpuNs;
    std::uint64_t timeNs; ///< CLOCK_MONOTONIC
    std::uint32_t peakKb;
    std::uint32_t faults; ///< minor page faults
};
static_assert(sizeof(Reaped) == 40);

struct Text {
    std::atomic<std::uint64_t> hash; ///< 0 = free
    std::atomic<std::uint32_t> ready;
    char bytes[500]; ///< ends with a zero byte
};
static_assert(sizeof(Text) == 512);

struct File {
    std::uint64_t magic;
    std::atomic<std::uint64_t> claimed; ///< may exceed `recordCapacity`: the rest got no record
    std::atomic<std::uint64_t> claimedReaped; ///< the same
    Record records[recordCapacity];
    Reaped reaped[recordCapacity];
    Text texts[textCapacity];
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

} // namespace heapwright::runner::witness
