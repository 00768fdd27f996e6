// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Storage for names without the obstack interface of the C library: an obstack layer, plain malloc,
// and arenas, one for each scope.
#pragma once

#include "../names.hpp"
#include "load.hpp"

#include <new>

namespace heapwright::workloads::symbols {

/// An obstack of layers.
class LayerPlace {
public:
    void add(char byte) {
        if (!heap_.grow(byte)) [[unlikely]] {
            noMemory("grow", 1);
        }
    }
    const char* finished() { return static_cast<const char*>(given(heap_.finish())); }
    void drop(const char* name) { heap_.free(const_cast<char*>(name)); }
    void* object(std::size_t size) { return given(heap_.malloc(size)); }
    void open() { marks_[depth_++] = object(1); }
    void close(Symbol* /*first*/) { heap_.free(marks_[--depth_]); }

private:
    static void* given(void* object) {
        if (object == nullptr) [[unlikely]] {
            noMemory("malloc", 1);
        }
        return object;
    }

    ObstackHeap<4 * KiB, CallsHeap> heap_;
    void* marks_[deepest] = {};
    unsigned depth_ = 0;
};

/// Names grow in one buffer and are copied out of it, as in a program without obstacks. Each name
/// and each symbol is freed separately.
class GeneralPlace {
public:
    void add(char byte) { buffer_.add(byte); }
    const char* finished() {
        char* const name = static_cast<char*>(allocate(buffer_.length()));
        std::memcpy(name, buffer_.text(), buffer_.length());
        buffer_.empty();
        return name;
    }
    void drop(const char* name) { release(const_cast<char*>(name)); }
    void* object(std::size_t size) { return allocate(size); }
    void open() {}
    void close(Symbol* first) {
        while (first != nullptr) {
            Symbol* const next = first->nextInScope;
            release(const_cast<char*>(first->name));
            release(const_cast<char*>(first->fullName));
            release(first);
            first = next;
        }
    }

private:
    GeneralArena arena_;
    Growing<GeneralArena> buffer_{arena_};
};

/// The same in arenas: the declarations of a scope are in an arena inside that of the surrounding
/// scope.
template <class Arena>
class ArenaPlace {
public:
    void add(char byte) { buffer_.add(byte); }
    const char* finished() {
        char* const name = static_cast<char*>(inner().malloc(buffer_.length()));
        std::memcpy(name, buffer_.text(), buffer_.length());
        buffer_.empty();
        return name;
    }
    void drop(const char* name) { inner().free(const_cast<char*>(name)); }
    void* object(std::size_t size) { return inner().malloc(size); }
    void open() {
        Arena& outer = depth_ == 0 ? whole_ : inner();
        ::new (static_cast<void*>(room_[depth_++].bytes)) Arena(outer);
    }
    void close(Symbol* /*first*/) {
        inner().~Arena();
        --depth_;
    }

private:
    struct alignas(Arena) Room {
        unsigned char bytes[sizeof(Arena)];
    };

    Arena& inner() { return *std::launder(reinterpret_cast<Arena*>(room_[depth_ - 1].bytes)); }

    Arena whole_;
    Growing<Arena> buffer_{whole_};
    Room room_[deepest];
    unsigned depth_ = 0;
};

} // namespace heapwright::workloads::symbols
