// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A heap that lives in the memory which it gives out: the whole object, with every free list and
// every lock. Over `SharedMemoryHeap` the processes that are forked from this one allocate from it
// and free into it as this one does; over `MappedFileHeap` it is there again, with all that was
// allocated, when the file is opened the next time.
//
//   ResidentHeap<Kept> heap;
//   if (!heap) { … heap.opening() says why … }
//   auto* const index = heap.opening() == Opening::made ? makeIn(*heap) : heap.root<Index>();
//
// What it takes: every source of the heap is of that memory (or never has any), a lock in it works
// between processes (`SharedFutexLock`), and no layer keeps something outside of the memory from
// below: no `SignalSafeHeap`, no map of its own as the layers of observation have. The concept
// below refuses what it can see. Memory stands at the same address wherever it is used, so pointers
// into it are plain ones. The heap is never destroyed; it ends with its file, or with the last
// process that shares it. A file is told from another heap's by the type, layers and policies; it
// is meant for programs built alike, not as a format. A forked child may use the heap as long as
// the process that opened it has it open.
#pragma once

#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/layers/source/null_heap.hpp>
#include <heapwright/structure/room/room.hpp>

#include <cstddef>
#include <new>
#include <type_traits>

namespace heapwright {

namespace detail {

/// The memory of the first source that has a room, or void.
template <class H>
struct RoomOf;

template <class... B>
struct FirstRoom {
    using type = void;
};
template <class B, class... More>
struct FirstRoom<B, More...> {
    using mine = typename RoomOf<B>::type;
    using type = std::conditional_t<std::is_void_v<mine>, typename FirstRoom<More...>::type, mine>;
};
template <class... B>
FirstRoom<B...> firstRoom(Heaps<B...>);

template <class H>
struct RoomOf {
    using type = typename decltype(firstRoom(typename H::Below{}))::type;
};
template <class H>
    requires requires { typename H::RoomMemory; }
struct RoomOf<H> {
    using type = typename H::RoomMemory;
};

template <class H, class Memory>
consteval bool livesIn();

template <class Memory, class... B>
consteval bool allLiveIn(Heaps<B...>) {
    return (livesIn<B, Memory>() && ...);
}

/// Whether all that a heap has is in that memory, as far as can be seen.
template <class H, class Memory>
consteval bool livesIn() {
    if constexpr (requires { requires H::processLocal; }) {
        return false;
    } else if constexpr (requires { typename H::RoomMemory; }) {
        return std::is_same_v<typename H::RoomMemory, Memory>;
    } else if constexpr (std::is_same_v<typename H::Below, Heaps<>>) {
        return std::is_same_v<H, NullHeap>;
    } else {
        return allLiveIn<Memory>(typename H::Below{});
    }
}

} // namespace detail

/// A housable heap takes its memory from one room and keeps nothing outside of it.
template <class H>
concept HousableHeap = Heap<H> && !std::is_void_v<typename detail::RoomOf<H>::type> &&
                       detail::livesIn<H, typename detail::RoomOf<H>::type>();

/// What to do with a file that was not left in order, because its last user died: what was written
/// is there, and what was half written too.
enum class Unclean : bool { refuse, accept };

template <HousableHeap H>
class ResidentHeap {
    using Memory = typename detail::RoomOf<H>::type;

public:
    explicit ResidentHeap(Unclean unclean = Unclean::refuse) noexcept
        : open_(Memory::open({kindOfHeap<H>(), true, unclean == Unclean::accept})) {
        if (open_.opening == Opening::made && !build()) {
            Memory::close(open_);
            open_ = {};
        }
    }
    ResidentHeap(const ResidentHeap&) = delete;
    ResidentHeap& operator=(const ResidentHeap&) = delete;
    /// Lets the memory go; what is in it stays for who else has it, or opens it again.
    ~ResidentHeap() {
        if (open_.room != nullptr) {
            Memory::close(open_);
        }
    }

    /// Whether there is a heap.
    explicit operator bool() const noexcept { return open_.room != nullptr; }
    /// Whether it is new or was found, or why there is none.
    [[nodiscard]] Opening opening() const noexcept { return open_.opening; }

    [[nodiscard]] H& operator*() const noexcept { return *static_cast<H*>(open_.room->resident); }
    [[nodiscard]] H* operator->() const noexcept { return &**this; }

    /// Where everything begins: what was last set here, null in a new heap.
    template <class T = void>
    [[nodiscard]] T* root() const noexcept {
        return static_cast<T*>(open_.room->root);
    }
    void setRoot(void* root) noexcept { open_.room->root = root; }

private:
    /// Builds the heap as the first thing in its own memory; false if it is too large for it.
    bool build() noexcept {
        Room& room = *open_.room;
        void* const place = room.bump.memalign(room.memory(), alignof(H), sizeof(H));
        if (place == nullptr) {
            return false;
        }
        RoomBeingBuilt::mine() = &room;
        room.resident = ::new (place) H;
        RoomBeingBuilt::mine() = nullptr;
        room.bump.keep();
        Memory::finish(open_);
        return true;
    }

    OpenRoom open_;
};

} // namespace heapwright
