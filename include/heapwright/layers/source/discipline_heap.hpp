// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Takes memory from functions of the program that are chosen at run time. A discipline has a memory
// function, an exception function, and a number to which sizes are rounded.
//
// `Named` is a type with `static Discipline& get() noexcept`, called on every request. The result
// may change at any time, because each area records its discipline. Layout: the first 32 bytes of
// an area hold the discipline, the size of the area and the tag. The object has the rest of the
// area, with all that rounding added. If the memory function returns null, the exception function
// is called, and can ask for another attempt. Areas do not grow in place. It is for one thread at a
// time unless there is a lock above.
// Pre: the functions use no heap that stands on this one.
// Cost: a call through a pointer and 32 bytes for each area. As a source it serves chunks.
// Source: the disciplines of Vo's vmalloc ("Vmalloc", Software: Practice and Experience 26, 1996).
//
// Example: DisciplineHeap<MallocDiscipline>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/structure/object/tag.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string_view>

namespace heapwright {

/// What a program gives a region to manage its memory.
struct Discipline {
    /// Allocates `newSize` bytes, aligned to 16, if `area` is null; null if there are none. Frees
    /// an area of `size` bytes, and returns null, if `newSize` is 0.
    void* (*memory)(Discipline& discipline, void* area, std::size_t size,
                    std::size_t newSize) noexcept;
    /// Called with the size that `memory` did not allocate. True asks for another attempt. Null
    /// stands for a function that returns false.
    bool (*exception)(Discipline& discipline, std::size_t size) noexcept;
    /// Sizes of areas are multiples of this number of bytes. 0 and 1 round nothing.
    std::size_t round;
};

/// The default: the C library's malloc, without rounding.
struct MallocDiscipline {
    [[nodiscard]] static Discipline& get() noexcept { return discipline; }

private:
    static void* memory(Discipline& /*discipline*/, void* area, std::size_t /*size*/,
                        std::size_t newSize) noexcept {
        if (area == nullptr) {
            return std::malloc(newSize);
        }
        std::free(area);
        return nullptr;
    }

    static inline constinit Discipline discipline{&memory, nullptr, 0};
};

/// Names a discipline.
template <class N>
concept NamedDiscipline = requires {
    { N::get() } noexcept -> std::same_as<Discipline&>;
};

template <NamedDiscipline Named>
class DisciplineHeap {
    struct Header {
        Discipline* discipline;
        std::size_t bytes; ///< size of the area
        Tag tag;
    };
    static constexpr std::size_t lead = 2 * minAlignment; ///< offset of the object in its area
    static_assert(sizeof(Header) <= lead);

public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool tagged = true;
    static constexpr Tags writes = Tags::plain;
    static constexpr bool acceptsForeignObjects = true;
    static constexpr std::string_view caption = "asks functions of the program, in rounded sizes";
    using Below = Heaps<>;

    constexpr DisciplineHeap() noexcept = default;
    DisciplineHeap(const DisciplineHeap&) = delete;
    DisciplineHeap& operator=(const DisciplineHeap&) = delete;
    ~DisciplineHeap() = default;

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        Discipline& discipline = Named::get();
        const std::size_t bytes = roundedTo(discipline.round, size);
        if (bytes == 0) {
            return nullptr;
        }
        void* area = discipline.memory(discipline, nullptr, 0, bytes);
        while (area == nullptr) {
            if (discipline.exception == nullptr || !discipline.exception(discipline, bytes)) {
                return nullptr;
            }
            area = discipline.memory(discipline, nullptr, 0, bytes);
        }
        mapped_ += bytes;
        void* const object = forward(area, lead);
        const std::size_t block = roundDown(bytes - lead + Tag::bytes, minAlignment);
        ::new (backward(object, sizeof(Header)))
            Header{&discipline, bytes, Tag(block, State::live)};
        return object;
    }

    void free(void* object) noexcept {
        const Header mark = *static_cast<Header*>(backward(object, sizeof(Header)));
        mapped_ -= mark.bytes;
        mark.discipline->memory(*mark.discipline, backward(object, lead), mark.bytes, 0);
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        return Tag::of(object).size() - Tag::bytes;
    }

    void measure(MemoryUsage& usage) const noexcept { usage.mapped += mapped_; }

private:
    static constexpr std::size_t largest = PTRDIFF_MAX / 2;

    /// The size of an area for an object of `size` bytes; 0 if it is too large.
    static constexpr std::size_t roundedTo(std::size_t round, std::size_t size) noexcept {
        if (size > largest || round > largest) {
            return 0;
        }
        const std::size_t least = lead + roundUp(size + Tag::bytes, minAlignment) - Tag::bytes;
        const std::size_t over = round == 0 ? 0 : least % round;
        return over == 0 ? least : least + round - over;
    }

    std::size_t mapped_ = 0;
};

static_assert(SizedHeap<DisciplineHeap<MallocDiscipline>>);
static_assert(TaggedHeap<DisciplineHeap<MallocDiscipline>>);

} // namespace heapwright
