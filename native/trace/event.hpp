// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The elements of a trace: one event for each call that allocated or freed memory. Files contain
// the routines' numbers, so they never change. An allocation's number is below 16, a free's is not.
// FORMAT.md defines the times: an allocation is stamped at its return, a free at its entry. A
// realloc is one event with both times.
#pragma once

#include <cstdint>
#include <string_view>

namespace heapwright::trace {

/// The routine that a program called. Throwing and non-throwing forms of operator new are one.
enum class Routine : std::uint8_t {
    malloc = 0,
    calloc = 1,
    realloc = 2,
    reallocarray = 3,
    memalign = 4,
    alignedAlloc = 5,
    posixMemalign = 6,
    valloc = 7,
    pvalloc = 8,
    operatorNew = 9,
    operatorNewArray = 10,
    operatorNewAligned = 11,
    operatorNewArrayAligned = 12,
    free = 16,
    cfree = 17,
    freeSized = 18,
    freeAlignedSized = 19,
    operatorDelete = 20,
    operatorDeleteArray = 21,
    operatorDeleteSized = 22,
    operatorDeleteArraySized = 23,
    operatorDeleteAligned = 24,
    operatorDeleteArrayAligned = 25,
    /// Never in a file: the old block of a realloc that moved it, released at the entry of the
    /// call. `MergedEvents` reports it on request.
    release = 31,
};

/// How reports group the routines; operator new counts as malloc, as published characterisations
/// do.
enum class Family : std::uint8_t { malloc, calloc, realloc, aligned, free };

/// One call. What a routine has no use for is zero.
struct Event {
    Routine routine = Routine::malloc;
    std::uint32_t process = 0; ///< from 0, dense over the trace
    std::uint32_t thread = 0;  ///< from 0, dense over all processes of the trace
    std::uint32_t stack = 0;   ///< 0 = not known; else a number of the trace's stack table
    std::uint64_t time = 0;    ///< ns since the trace began: an allocation's return, a free's entry
    std::uint64_t began = 0;   ///< a realloc's entry; of all others the same as `time`
    std::uint64_t address = 0; ///< the new block (0: the call failed), or the one that is freed
    std::uint64_t old = 0;     ///< realloc: its argument
    std::uint64_t size = 0;    ///< as requested; calloc: the product
    std::uint64_t usable = 0;  ///< what the allocator says may be used; 0 = not known
    std::uint64_t alignment = 0; ///< as requested, of the aligned forms; 0 for the others

    bool operator==(const Event&) const = default;
};

constexpr bool isFree(Routine routine) {
    return (static_cast<unsigned>(routine) & 16U) != 0;
}
constexpr bool isAllocation(Routine routine) {
    return !isFree(routine);
}
constexpr bool isRealloc(Routine routine) {
    return routine == Routine::realloc || routine == Routine::reallocarray;
}

/// Whether the number has a name above and may occur in a file.
constexpr bool isRoutine(unsigned number) {
    return number <= 12 || (number >= 16 && number <= 25);
}

/// Whether the routine has an alignment argument.
constexpr bool hasAlignment(Routine routine) {
    return (routine >= Routine::memalign && routine <= Routine::posixMemalign) ||
           routine == Routine::operatorNewAligned || routine == Routine::operatorNewArrayAligned;
}

/// What frees a block that a routine made, where nothing says that it was another.
constexpr Routine freeOf(Routine routine) {
    switch (routine) {
    case Routine::operatorNew:
        return Routine::operatorDelete;
    case Routine::operatorNewArray:
        return Routine::operatorDeleteArray;
    case Routine::operatorNewAligned:
        return Routine::operatorDeleteAligned;
    case Routine::operatorNewArrayAligned:
        return Routine::operatorDeleteArrayAligned;
    default:
        return Routine::free;
    }
}

/// A block is live after this event that was not before it.
constexpr bool givesBlock(const Event& event) {
    return isAllocation(event.routine) && event.address != 0;
}

constexpr Family family(Routine routine) {
    if (isFree(routine))
        return Family::free;
    if (isRealloc(routine))
        return Family::realloc;
    if (routine == Routine::calloc)
        return Family::calloc;
    const bool aligned =
        hasAlignment(routine) || routine == Routine::valloc || routine == Routine::pvalloc;
    return aligned ? Family::aligned : Family::malloc;
}

constexpr std::string_view name(Routine routine) {
    switch (routine) {
    case Routine::malloc:
        return "malloc";
    case Routine::calloc:
        return "calloc";
    case Routine::realloc:
        return "realloc";
    case Routine::reallocarray:
        return "reallocarray";
    case Routine::memalign:
        return "memalign";
    case Routine::alignedAlloc:
        return "aligned_alloc";
    case Routine::posixMemalign:
        return "posix_memalign";
    case Routine::valloc:
        return "valloc";
    case Routine::pvalloc:
        return "pvalloc";
    case Routine::operatorNew:
        return "new";
    case Routine::operatorNewArray:
        return "new[]";
    case Routine::operatorNewAligned:
        return "new aligned";
    case Routine::operatorNewArrayAligned:
        return "new[] aligned";
    case Routine::free:
        return "free";
    case Routine::cfree:
        return "cfree";
    case Routine::freeSized:
        return "free_sized";
    case Routine::freeAlignedSized:
        return "free_aligned_sized";
    case Routine::operatorDelete:
        return "delete";
    case Routine::operatorDeleteArray:
        return "delete[]";
    case Routine::operatorDeleteSized:
        return "delete sized";
    case Routine::operatorDeleteArraySized:
        return "delete[] sized";
    case Routine::operatorDeleteAligned:
        return "delete aligned";
    case Routine::operatorDeleteArrayAligned:
        return "delete[] aligned";
    case Routine::release:
        return "release";
    }
    return "unknown";
}

constexpr std::string_view name(Family family) {
    constexpr std::string_view names[] = {"malloc", "calloc", "realloc", "aligned", "free"};
    return names[static_cast<unsigned>(family)];
}

} // namespace heapwright::trace
