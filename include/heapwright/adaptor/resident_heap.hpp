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
#include <heapwright/core/traits.hpp>
#include <heapwright/layers/source/null_heap.hpp>
#include <heapwright/structure/shared_region/shared_region.hpp>

#include <cstddef>
#include <new>
#include <type_traits>

namespace heapwright {

/// A source whose memory is a shared region.
template <class H>
concept SharedRegionHeap = requires { typename H::SharedRegionMemory; };

namespace detail {

/// The memory of the first source that has a region, or void.
template <class H>
struct SharedRegionOf;

template <class... B>
struct FirstSharedRegion {
    using type = void;
};
template <class B, class... More>
struct FirstSharedRegion<B, More...> {
    using mine = typename SharedRegionOf<B>::type;
    using type =
        std::conditional_t<std::is_void_v<mine>, typename FirstSharedRegion<More...>::type, mine>;
};
template <class... B>
FirstSharedRegion<B...> firstSharedRegion(Heaps<B...>);

template <class H>
struct SharedRegionOf {
    using type = typename decltype(firstSharedRegion(typename H::Below{}))::type;
};
template <class H>
    requires SharedRegionHeap<H>
struct SharedRegionOf<H> {
    using type = typename H::SharedRegionMemory;
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
    if constexpr (ProcessLocalHeap<H>) {
        return false;
    } else if constexpr (SharedRegionHeap<H>) {
        return std::is_same_v<typename H::SharedRegionMemory, Memory>;
    } else if constexpr (std::is_same_v<typename H::Below, Heaps<>>) {
        return std::is_same_v<H, NullHeap>;
    } else {
        return allLiveIn<Memory>(typename H::Below{});
    }
}

} // namespace detail

/// A housable heap takes its memory from one room and keeps nothing outside of it.
template <class H>
concept HousableHeap = Heap<H> && !std::is_void_v<typename detail::SharedRegionOf<H>::type> &&
                       detail::livesIn<H, typename detail::SharedRegionOf<H>::type>();

/// What to do with a file that was not left in order, because its last user died: what was written
/// is there, and what was half written too.
enum class Unclean : bool { refuse, accept };

template <HousableHeap H>
class ResidentHeap {
    using Memory = typename detail::SharedRegionOf<H>::type;

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
        if (open_.region != nullptr) {
            Memory::close(open_);
        }
    }

    /// Whether there is a heap.
    explicit operator bool() const noexcept { return open_.region != nullptr; }
    /// Whether it is new or was found, or why there is none.
    [[nodiscard]] Opening opening() const noexcept { return open_.opening; }

    [[nodiscard]] H& operator*() const noexcept { return *static_cast<H*>(open_.region->resident); }
    [[nodiscard]] H* operator->() const noexcept { return &**this; }

    /// Where everything begins: what was last set here, null in a new heap.
    template <class T = void>
    [[nodiscard]] T* root() const noexcept {
        return static_cast<T*>(open_.region->root);
    }
    void setRoot(void* root) noexcept { open_.region->root = root; }

private:
    /// Builds the heap as the first thing in its own memory; false if it is too large for it.
    bool build() noexcept {
        SharedRegion& region = *open_.region;
        void* const place = region.bump.memalign(region.memory(), alignof(H), sizeof(H));
        if (place == nullptr) {
            return false;
        }
        RegionUnderConstruction::mine() = &region;
        region.resident = ::new (place) H;
        RegionUnderConstruction::mine() = nullptr;
        region.bump.keep();
        Memory::finish(open_);
        return true;
    }

    OpenRegion open_;
};

} // namespace heapwright
