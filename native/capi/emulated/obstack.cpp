// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The functions of an obstack that are not inline, where each object comes from the program's chunk
// function, normally malloc. The inline functions must call these for every object, so they see
// only the room that they have requested. An object allocated at once has exactly its size. An
// object that grows has half as much again as spare room, known only here, and moves when that is
// used up.
//
// The objects are recorded apart from them, newest last. `chunk_` points to the record, with its
// highest bit set. No address has that bit, so no object seems to lie behind it, and every
// obstack_free calls these functions. An object without bytes is recorded when the next call
// reveals it.
//
// Limits, because of the inline functions: room that obstack_make_room requested or obstack_blank
// gave up, and that is not used, serves the next objects that fit. The record of an obstack that
// ends with its reap, and is never freed itself, stays.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast" // a C header
#include <heapwright/c/obstack.h>
#pragma GCC diagnostic pop

#include "capi/obstack_shared.h"

#include <heapwright/allocators/emulated_region.hpp>

#include <cstdint>
#include <cstring>
#include <new>

namespace {

using namespace heapwright;
using Records = allocators::emulated::Records;

constexpr std::uintptr_t mark = std::uintptr_t{1} << 63U;

/// Memory of the program's chunk function, or none for an object without bytes.
struct Piece {
    void* memory;
    char* start; ///< aligned
    char* end;

    [[nodiscard]] bool holds(const char* object) const noexcept {
        return object >= start && object <= end;
    }
};

struct Stack {
    Piece* pieces = nullptr;
    std::size_t count = 0;
    std::size_t room = 0;

    [[nodiscard]] Piece* top() const noexcept { return count == 0 ? nullptr : pieces + count - 1; }

    /// Returns false without memory.
    bool makeRoom() noexcept {
        if (count < room) {
            return true;
        }
        const std::size_t more = room == 0 ? 16 : 2 * room;
        auto* const moved = static_cast<Piece*>(Records().malloc(more * sizeof(Piece)));
        if (moved == nullptr) {
            return false;
        }
        if (pieces != nullptr) {
            std::memcpy(moved, pieces, count * sizeof(Piece));
            Records().free(pieces);
        }
        pieces = moved;
        room = more;
        return true;
    }
};

Stack& stackOf(const obstack* h) noexcept {
    return *static_cast<Stack*>(pointerTo(addressOf(h->chunk_) & ~mark));
}

void* allocated(obstack* h, std::size_t size) {
    return h->hasArgument_ != 0 ? h->allocate_.withArgument(h->argument_, size)
                                : h->allocate_.plain(size);
}

void release(obstack* h, const Piece& piece) {
    if (piece.memory == nullptr) {
        return;
    }
    if (h->hasArgument_ != 0) {
        h->release_.withArgument(h->argument_, piece.memory);
    } else {
        h->release_.plain(piece.memory);
    }
}

/// Records an object without bytes at the start of the next object, if there is one.
void noteEmpty(obstack* h, Stack& stack) {
    if (h->holdsEmpty_ == 0) {
        return;
    }
    const Piece* const top = stack.top();
    if (top == nullptr || top->start != h->object_) {
        if (!stack.makeRoom()) {
            heapwrightObstackFail();
        }
        stack.pieces[stack.count++] = {nullptr, h->object_, h->object_};
    }
}

/// Memory for an object of `size` bytes. Beyond alignment it has no spare bytes.
Piece newPiece(obstack* h, std::size_t size) {
    const std::size_t spare = h->mask_ < minAlignment ? 0 : h->mask_;
    std::size_t whole = 0;
    void* const memory = __builtin_add_overflow(size, spare, &whole) || whole > PTRDIFF_MAX
                             ? nullptr
                             : allocated(h, whole == 0 ? 1 : whole);
    if (memory == nullptr) {
        heapwrightObstackFail();
    }
    char* const start = static_cast<char*>(memory);
    char* const first = spare == 0 ? start : start + ((0 - addressOf(start)) & h->mask_);
    return {memory, first, start + whole};
}

int begin(obstack* h, std::size_t size, std::size_t alignment) {
    constexpr std::size_t usualChunk = 4064;
    h->mask_ = (alignment == 0 ? alignof(std::max_align_t) : alignment) - 1;
    h->chunkSize_ = size == 0 ? usualChunk : size; // has no effect here
    h->holdsEmpty_ = 0;
    void* const memory = Records().malloc(sizeof(Stack));
    if (memory == nullptr) {
        heapwrightObstackFail();
    }
    h->chunk_ =
        static_cast<heapwright_obstack_chunk*>(pointerTo(addressOf(::new (memory) Stack) | mark));
    // An address of no object.
    h->object_ = h->next_ = h->end_ = static_cast<char*>(memory);
    return 1;
}

/// The place of the piece that contains an object; `count` if none does. An object at the start of
/// a piece belongs to that piece, even if another piece ends there.
std::size_t placeOf(const Stack& stack, const char* object) noexcept {
    for (std::size_t at = stack.count; at-- != 0;) {
        if (stack.pieces[at].start == object) {
            return at;
        }
    }
    for (std::size_t at = stack.count; at-- != 0;) {
        if (stack.pieces[at].holds(object)) {
            return at;
        }
    }
    return stack.count;
}

void popTo(obstack* h, Stack& stack, std::size_t count) {
    while (stack.count > count) {
        release(h, stack.pieces[--stack.count]);
    }
}

} // namespace

int heapwright_obstack_begin(obstack* h, size_t size, size_t alignment, void* (*allocate)(size_t),
                             void (*releaseChunk)(void*)) {
    h->allocate_.plain = allocate;
    h->release_.plain = releaseChunk;
    h->argument_ = nullptr;
    h->hasArgument_ = 0;
    return begin(h, size, alignment);
}

int heapwright_obstack_begin_with_argument(obstack* h, size_t size, size_t alignment,
                                           void* (*allocate)(void*, size_t),
                                           void (*releaseChunk)(void*, void*), void* argument) {
    h->allocate_.withArgument = allocate;
    h->release_.withArgument = releaseChunk;
    h->argument_ = argument;
    h->hasArgument_ = 1;
    return begin(h, size, alignment);
}

/// Makes exactly `size` bytes of room behind the object under construction.
void heapwright_obstack_new_chunk(obstack* h, size_t size) {
    Stack& stack = stackOf(h);
    const auto have = static_cast<std::size_t>(h->next_ - h->object_);
    const Piece* const top = stack.top();
    const bool alone =
        h->holdsEmpty_ == 0 && top != nullptr && top->start == h->object_ && top->memory != nullptr;
    if (alone && size <= static_cast<std::size_t>(top->end - h->next_)) {
        h->end_ = h->next_ + size;
        return;
    }
    std::size_t whole = 0;
    if (__builtin_add_overflow(have, size, &whole)) {
        heapwrightObstackFail();
    }
    if (!alone) {
        noteEmpty(h, stack);
        if (!stack.makeRoom()) {
            heapwrightObstackFail();
        }
    }
    const Piece piece = newPiece(h, have == 0 ? whole : whole + whole / 2);
    std::memcpy(piece.start, h->object_, have);
    if (alone) {
        release(h, *stack.top());
        *stack.top() = piece;
    } else {
        stack.pieces[stack.count++] = piece;
    }
    h->object_ = piece.start;
    h->next_ = piece.start + have;
    h->end_ = piece.start + whole;
    h->holdsEmpty_ = 0;
}

void heapwright_obstack_free_chunks(obstack* h, void* object) {
    if (h->chunk_ == nullptr && object == nullptr) {
        return;
    }
    Stack& stack = stackOf(h);
    if (object == nullptr) {
        popTo(h, stack, 0);
        if (stack.pieces != nullptr) {
            Records().free(stack.pieces);
        }
        Records().free(&stack);
        h->chunk_ = nullptr;
        h->object_ = h->next_ = h->end_ = nullptr;
        return;
    }
    char* const from = static_cast<char*>(object);
    noteEmpty(h, stack);
    h->holdsEmpty_ = 0;
    const std::size_t place = placeOf(stack, from);
    if (place == stack.count) {
        if (from != h->object_) {
            heapwrightObstackForeign();
        }
    } else {
        const Piece& piece = stack.pieces[place];
        const bool whole = piece.start == from && piece.memory != nullptr;
        popTo(h, stack, whole ? place : place + 1); // an empty object may be followed by others
    }
    // At the same place, without room, so nothing is written there.
    h->object_ = h->next_ = h->end_ = from;
}

int heapwright_obstack_empty_p(const obstack* h) {
    return heapwright_obstack_memory_used(h) == 0 && h->next_ == h->object_ ? 1 : 0;
}

size_t heapwright_obstack_memory_used(const obstack* h) {
    const Stack& stack = stackOf(h);
    std::size_t used = 0;
    for (std::size_t at = 0; at < stack.count; ++at) {
        const Piece& piece = stack.pieces[at];
        used += piece.memory == nullptr
                    ? 0
                    : static_cast<std::size_t>(piece.end - static_cast<char*>(piece.memory));
    }
    return used;
}
