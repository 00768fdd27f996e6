// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The ways of an obstack that are not inline, where each object is one of the program's chunk
// function, mostly malloc. So that the inline ways come here for every object, the room that they
// see is only what they have asked for: an object that is made at once has just its size; one that
// grows has as much again as half of it, known only here, and is moved when that is used up.
//
// What is on an obstack is recorded out of band, the newest last. `chunk_` leads to the record, its
// highest bit set, which no address has: so no object lies behind it, and every obstack_free comes
// here. Objects without bytes are recorded when the next call shows that there was one.
// What remains, because it is inline: room that was asked for by obstack_make_room or given up by
// obstack_blank, and is not used, serves the objects that come next and fit. The record of an
// obstack that goes with its reap, and is never freed by itself, stays.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast" // a header of C
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

/// Memory of the program's chunk function, or none, for an object without bytes.
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

    /// False without memory.
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

/// Records the object without bytes that stands where the next one is to begin, if there is one.
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

/// Memory for an object of `size` bytes; what it has beyond alignment is all its own.
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
    h->chunkSize_ = size == 0 ? usualChunk : size; // of no effect
    h->holdsEmpty_ = 0;
    void* const memory = Records().malloc(sizeof(Stack));
    if (memory == nullptr) {
        heapwrightObstackFail();
    }
    h->chunk_ =
        static_cast<heapwright_obstack_chunk*>(pointerTo(addressOf(::new (memory) Stack) | mark));
    // Where nothing is: an address that is no object's.
    h->object_ = h->next_ = h->end_ = static_cast<char*>(memory);
    return 1;
}

/// The place of the piece in which an object stands; `count` if in none. An object that begins a
/// piece is that one, whatever else may end there.
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

/// Makes room for `size` bytes behind the object under construction, and for no more.
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
        popTo(h, stack, whole ? place : place + 1); // where one is empty, others may be, too
    }
    h->object_ = h->next_ = h->end_ = from; // where it was, and no room: nothing is written there
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
