// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See check.hpp.
#include "check.hpp"

#include <heapwright/core/contents.hpp>
#include <heapwright/core/random.hpp>

#include <algorithm>

namespace heapwright::replayer {

using trace::Routine;

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t anyType = 16; ///< what a type of that size or more may need
constexpr std::size_t smallType = 8;

std::size_t neededAlignment(Routine routine, std::size_t size, std::size_t asked) {
    if (routine == Routine::valloc || routine == Routine::pvalloc) {
        return page;
    }
    return std::max(asked, size < anyType ? smallType : anyType);
}

/// What an object is filled with follows from where it stands.
std::uint64_t stampOf(const void* object) {
    return Random::mixed(reinterpret_cast<std::uintptr_t>(object));
}

} // namespace

void Check::find(FaultKind wrong, Routine routine, const void* object, std::size_t size,
                 std::size_t at) {
    findings_.add({wrong, routine, reinterpret_cast<std::uintptr_t>(object), size, at});
}

void Check::place(Routine routine, void* object, std::size_t size, std::size_t alignment) {
    const std::size_t needed = neededAlignment(routine, size, alignment);
    if (reinterpret_cast<std::uintptr_t>(object) % needed != 0) {
        find(FaultKind::alignment, routine, object, size, needed);
    }
    if (!liveBytes_.mark(object, size)) {
        find(FaultKind::overlap, routine, object, size, 0);
    }
}

void Check::verify(Routine routine, const void* object, std::size_t size) {
    const std::size_t wrong = contents::firstUnlike(object, size, stampOf(object));
    if (wrong != size) {
        find(FaultKind::contents, routine, object, size, wrong);
    }
}

void Check::allocated(Routine routine, void* object, std::size_t size, std::size_t alignment) {
    if (object == nullptr) {
        return;
    }
    place(routine, object, size, alignment);
    if (routine == Routine::calloc) {
        const std::size_t wrong = contents::firstNotZero(object, size);
        if (wrong != size) {
            find(FaultKind::zeroes, routine, object, size, wrong);
        }
    }
    contents::fill(object, size, stampOf(object));
}

void Check::freeing(void* object, std::size_t size) {
    if (object != nullptr) {
        verify(Routine::free, object, size);
        liveBytes_.unmark(object, size);
    }
}

void Check::reallocating(void* object, std::size_t size) {
    if (object != nullptr) {
        verify(Routine::realloc, object, size);
        liveBytes_.unmark(object, size);
    }
}

void Check::reallocFailed(void* object, std::size_t size) {
    if (object != nullptr) {
        liveBytes_.mark(object, size);
    }
}

void Check::reallocated(void* object, const void* old, std::size_t oldSize, std::size_t size) {
    if (object == nullptr) {
        return;
    }
    place(Routine::realloc, object, size, 0);
    const std::size_t same = old == nullptr ? 0 : std::min(oldSize, size);
    const std::size_t wrong = contents::firstUnlike(object, same, stampOf(old));
    if (wrong != same) {
        find(FaultKind::moved, Routine::realloc, object, size, wrong);
    }
    contents::fill(object, size, stampOf(object));
}

} // namespace heapwright::replayer
