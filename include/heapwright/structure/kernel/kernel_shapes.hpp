// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The number of pages of a slab and the layout of its objects in each of the kernel's designs. Also
// the number of free objects that a processor keeps in SLAB. They follow from the size of an object
// and the number of processors.
// Source: mm/slab.c and mm/slub.c of Linux 6.1, and the patch of SLQB for 2.6.30.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/structure/kernel/page_section.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace heapwright {

/// The layout of objects in a block of pages.
struct SlabShape {
    std::size_t stride = 0;
    std::size_t order = 0;
    std::size_t objects = 0;

    [[nodiscard]] constexpr std::size_t bytes() const noexcept { return bytesOfPage << order; }
};

/// The limit of a processor's array, and the number of objects that move at once.
struct SlabTuning {
    std::size_t limit;
    std::size_t batch;
    std::size_t shared; ///< batches in the array that the processors share
};

[[nodiscard]] constexpr SlabTuning slabTuningFor(std::size_t size,
                                                 std::size_t processors) noexcept {
    const std::size_t limit = size > 131072        ? 1
                              : size > bytesOfPage ? 8
                              : size > 1024        ? 24
                              : size > 256         ? 54
                                                   : 120;
    return {limit, (limit + 1) / 2, size <= bytesOfPage && processors > 1 ? 8U : 0U};
}

/// The layout of a slab of SLAB: a colour, then, if `index` is not 0, an index of that many bytes,
/// then the objects.
struct ColouredShape : SlabShape {
    std::size_t index = 0;
    std::size_t colours = 0; ///< number of different start offsets

    static constexpr std::size_t colourStep = 64;
};

/// The smallest block that wastes at most an eighth, with at most two pages if one object fits. A
/// reclaimable cache uses the smallest block for one object, because larger ones are hard to get
/// when memory is short.
[[nodiscard]] constexpr ColouredShape slabShapeFor(std::size_t stride, bool indexed,
                                                   bool reclaimable = false) noexcept {
    constexpr std::size_t mostOrder = 1;
    for (std::size_t order = pageOrderFor(stride);; ++order) {
        const std::size_t bytes = bytesOfPage << order;
        const std::size_t entry = indexed ? sizeof(std::uint16_t) : 0;
        std::size_t objects = bytes / (stride + entry);
        const auto indexOf = [entry, stride](std::size_t count) {
            return roundUp(count * entry, std::min(stride & (0 - stride), bytesOfPage));
        };
        while (objects > 0 && indexOf(objects) + objects * stride > bytes) {
            --objects;
        }
        if (objects == 0) {
            continue;
        }
        const std::size_t left = bytes - indexOf(objects) - objects * stride;
        if (reclaimable || order >= mostOrder || left * 8 <= bytes) {
            // A colour must keep the objects' alignment.
            const std::size_t step =
                std::max(ColouredShape::colourStep, std::min(stride & (0 - stride), bytesOfPage));
            return {{stride, order, objects}, indexOf(objects), left / step + 1};
        }
    }
}

/// The smallest slab that wastes at most a sixteenth and has enough objects for the number of
/// processors. If there is none, more waste is accepted, and then fewer objects.
[[nodiscard]] constexpr SlabShape slubShapeFor(std::size_t stride,
                                               std::size_t processors) noexcept {
    constexpr std::size_t mostOrder = 3;
    const auto make = [stride](std::size_t order) {
        return SlabShape{stride, order, (bytesOfPage << order) / stride};
    };
    const auto orderWith = [stride](std::size_t objects, std::size_t fraction) {
        for (std::size_t order = pageOrderFor(objects * stride); order <= mostOrder; ++order) {
            const std::size_t bytes = bytesOfPage << order;
            if (bytes % stride <= bytes / fraction) {
                return order;
            }
        }
        return mostOrder + 1;
    };
    const std::size_t most = make(mostOrder).objects;
    std::size_t least = 4 * (static_cast<std::size_t>(std::bit_width(processors)) + 1);
    for (least = std::min(least, most); least > 1; --least) {
        for (std::size_t fraction = 16; fraction >= 4; fraction /= 2) {
            const std::size_t order = orderWith(least, fraction);
            if (order <= mostOrder) {
                return make(order);
            }
        }
    }
    return make(pageOrderFor(stride));
}

/// The smallest block that wastes at most a quarter, with at most two pages if one object fits.
[[nodiscard]] constexpr SlabShape slqbShapeFor(std::size_t stride) noexcept {
    std::size_t order = pageOrderFor(stride);
    while (order < 1 && (bytesOfPage << order) % stride * 4 > bytesOfPage << order) {
        ++order;
    }
    return {stride, order, (bytesOfPage << order) / stride};
}

} // namespace heapwright
