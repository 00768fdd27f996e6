// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A heap that lies in the memory that it allocates from: the whole object, with its free lists and
// locks. Over `SharedMemoryHeap`, forked processes allocate from it and free into it together. Over
// `MappedFileHeap`, it exists again, with all its objects, when the file is opened the next time.
//
//   ResidentHeap<Kept> heap;
//   if (!heap) { … heap.opening() gives the reason … }
//   auto* const index = heap.opening() == Opening::made ? makeIn(*heap) : heap.root<Index>();
//
// Pre: every source of the heap is this memory or never has any, and its lock works between
// processes (`SharedFutexLock`). No layer keeps state outside of this memory, as `SignalSafeHeap`
// and the layers of observation do. The concept below rejects what it can detect.
//
// The memory has the same address in every process that uses it, so plain pointers into it are
// valid. The heap is never destroyed. It ends with its file, or with the last process that shares
// it. A file is bound to the heap's type, with its layers and policies, and to programs built
// alike. It is no exchange format. A forked child may use the heap as long as the process that
// opened it keeps it open.
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

/// Whether all state of a heap lies in that memory, as far as the type shows.
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

/// A heap that takes all its memory from one shared region and keeps no state outside of it.
template <class H>
concept HousableHeap = Heap<H> && !std::is_void_v<typename detail::SharedRegionOf<H>::type> &&
                       detail::livesIn<H, typename detail::SharedRegionOf<H>::type>();

/// What to do with a file whose last user died without closing it. Its contents may be half
/// written.
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
    /// Closes the memory. Its contents stay for other processes, or for the next one that opens it.
    ~ResidentHeap() {
        if (open_.region != nullptr) {
            Memory::close(open_);
        }
    }

    /// Whether the heap was opened.
    explicit operator bool() const noexcept { return open_.region != nullptr; }
    /// Whether the heap was created or found, or why it could not be opened.
    [[nodiscard]] Opening opening() const noexcept { return open_.opening; }

    [[nodiscard]] H& operator*() const noexcept { return *static_cast<H*>(open_.region->resident); }
    [[nodiscard]] H* operator->() const noexcept { return &**this; }

    /// The root pointer, from which the program finds its objects: the last value stored, null in a
    /// new heap.
    template <class T = void>
    [[nodiscard]] T* root() const noexcept {
        return static_cast<T*>(open_.region->root);
    }
    void setRoot(void* root) noexcept { open_.region->root = root; }

private:
    /// Constructs the heap as the first object in its own memory. Returns false if it does not fit.
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
