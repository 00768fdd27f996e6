// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The sources of objects for the programs of this folder: the same work with different custom
// allocators, or with none. All their memory comes through the workloads' calls
// (support/calls.hpp), so the observers and the bump pointer work with each of them.
//
// An arena is a type with `malloc`, `free` and `clear` that can be nested in another of its type.
// It states its limits: without `bulk`, the program frees each object; without `single`, it frees
// none before the arena ends. The loads are templates of an arena, so benchmarks can run them on
// others, too.
#pragma once

#include "support/calls.hpp"

#include <heapwright/allocators/emulated_region.hpp>
#include <heapwright/allocators/nested_reap.hpp>
#include <heapwright/allocators/vmalloc_region.hpp>
#include <heapwright/allocators/winxp_heaps.hpp>
#include <heapwright/heap.hpp>

#include <cstddef>
#include <string_view>
#include <utility>

namespace heapwright::workloads {

/// The workload's own malloc and free, as a heap.
class CallsHeap {
public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr std::string_view caption = "asks the allocator under test";
    using Below = Heaps<>;

    void* malloc(std::size_t size) noexcept { return calls.malloc(size); }
    void free(void* object) noexcept { calls.free(object); }
};

/// No custom allocator: each object is allocated by malloc.
class GeneralArena {
public:
    static constexpr bool bulk = false;
    static constexpr bool single = true;

    GeneralArena() = default;
    explicit GeneralArena(GeneralArena& /*parent*/) {}
    GeneralArena(const GeneralArena&) = delete;
    GeneralArena& operator=(const GeneralArena&) = delete;
    ~GeneralArena() = default;

    void* malloc(std::size_t size) { return allocate(size); }
    void free(void* object) { release(object); }
    void clear() {}
};

/// A heap of layers that is cleared as a whole.
template <class Nested, bool Single>
class BulkArena {
public:
    static constexpr bool bulk = true;
    static constexpr bool single = Single;

    BulkArena() = default;
    explicit BulkArena(BulkArena& parent) : heap_(parent.heap_) {}

    void* malloc(std::size_t size) {
        void* const object = heap_.malloc(size);
        if (object == nullptr) [[unlikely]] {
            noMemory("malloc", size);
        }
        return object;
    }
    void free(void* object) {
        if constexpr (Single) {
            heap_.free(object);
        }
    }
    void clear() { heap_.clear(); }

private:
    Nested heap_;
};

/// A heap of layers that cannot be nested: the arena inside another one is a heap of its own. It is
/// used as a region, so no object is freed before the heap.
template <class Heap>
class SeparateArena {
public:
    static constexpr bool bulk = true;
    static constexpr bool single = false;

    SeparateArena() = default;
    explicit SeparateArena(SeparateArena& /*parent*/) {}
    SeparateArena(const SeparateArena&) = delete;
    SeparateArena& operator=(const SeparateArena&) = delete;
    ~SeparateArena() { heap_.clear(); }

    void* malloc(std::size_t size) {
        void* const object = heap_.malloc(size);
        if (object == nullptr) [[unlikely]] {
            noMemory("malloc", size);
        }
        return object;
    }
    void free(void* /*object*/) {}
    void clear() { heap_.clear(); }

private:
    Heap heap_;
};

/// The discipline of vmalloc's regions: areas from a heap whose objects are all faces of one.
template <class Source>
struct AreasOf {
    static Discipline& get() noexcept { return discipline; }

private:
    static void* memory(Discipline& /*discipline*/, void* area, std::size_t /*size*/,
                        std::size_t newSize) noexcept {
        Source source;
        if (area == nullptr) {
            return source.malloc(newSize);
        }
        source.free(area);
        return nullptr;
    }

    static inline constinit Discipline discipline{&memory, nullptr, 64 * KiB};
};

namespace detail {
using Region = NestedHeap<RegionHeap<8 * KiB, 1 * MiB, CallsHeap>>;
using Reap = allocators::NestedReap<CallsHeap>;
using Emulated = allocators::NestedEmulatedRegion<CallsHeap>;
} // namespace detail

using RegionArena = BulkArena<detail::Region, false>;
using ReapArena = BulkArena<detail::Reap, true>;
using UnfreedReapArena = BulkArena<detail::Reap, false>; ///< a reap used as a region
using EmulatedArena = BulkArena<detail::Emulated, false>;
using EmulatedReapArena = BulkArena<detail::Emulated, true>;
using WinXpArena = SeparateArena<allocators::WinXpHeap<CallsHeap>>;
using VmallocArena = SeparateArena<allocators::VmallocRegion<AreasOf<CallsHeap>>>;

/// The names of the arenas, the values of `--custom`.
inline constexpr const char* arenaNames[] = {"general",      "region",          "reap",
                                             "unfreed-reap", "emulated",        "emulated-reap",
                                             "winxp-heaps",  "vmalloc-regions", nullptr};

/// Calls `work` with a null pointer to the arena that `--custom` selects.
template <class Work>
decltype(auto) withArena(std::uint64_t custom, Work work) {
    switch (custom) {
    case 0:
        return work(static_cast<GeneralArena*>(nullptr));
    case 1:
        return work(static_cast<RegionArena*>(nullptr));
    case 2:
        return work(static_cast<ReapArena*>(nullptr));
    case 3:
        return work(static_cast<UnfreedReapArena*>(nullptr));
    case 4:
        return work(static_cast<EmulatedArena*>(nullptr));
    case 5:
        return work(static_cast<EmulatedReapArena*>(nullptr));
    case 6:
        return work(static_cast<WinXpArena*>(nullptr));
    default:
        return work(static_cast<VmallocArena*>(nullptr));
    }
}

/// An object of an arena, constructed with the arguments.
template <class T, class Arena, class... Arguments>
T* make(Arena& arena, Arguments&&... arguments) {
    return ::new (arena.malloc(sizeof(T))) T{std::forward<Arguments>(arguments)...};
}

/// Text that grows. When it is full, it moves to twice the room.
template <class Arena>
class Growing {
public:
    explicit Growing(Arena& arena) : arena_(arena) {}
    Growing(const Growing&) = delete;
    Growing& operator=(const Growing&) = delete;
    ~Growing() {
        if (text_ != nullptr) {
            arena_.free(text_);
        }
    }

    void add(char byte) {
        if (length_ == room_) {
            grow(1);
        }
        text_[length_++] = byte;
    }

    void add(const char* bytes, std::size_t length) {
        if (length > room_ - length_) {
            grow(length);
        }
        __builtin_memcpy(text_ + length_, bytes, length);
        length_ += length;
    }

    [[nodiscard]] const char* text() const { return text_; }
    [[nodiscard]] std::size_t length() const { return length_; }
    void empty() { length_ = 0; }
    /// The number of objects so far.
    [[nodiscard]] std::uint64_t objects() const { return objects_; }

private:
    void grow(std::size_t more) {
        std::size_t room = room_ == 0 ? 32 : 2 * room_;
        while (room < length_ + more) {
            room *= 2;
        }
        auto* const moved = static_cast<char*>(arena_.malloc(room));
        ++objects_;
        if (text_ != nullptr) {
            __builtin_memcpy(moved, text_, length_);
            arena_.free(text_);
        }
        text_ = moved;
        room_ = room;
    }

    Arena& arena_;
    char* text_ = nullptr;
    std::size_t length_ = 0;
    std::size_t room_ = 0;
    std::uint64_t objects_ = 0;
};

} // namespace heapwright::workloads
