// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A range of memory that several processes share, or that a file keeps. Its beginning describes it
// completely, so a process that maps it at the same address can continue to use it.
//
//   | label | bump, resident, root | resident: a whole heap | objects ...                |
//
// A region allocates memory with its own bump. It may have a resident. That is a heap object, with
// all free lists and locks, that lies in the region and takes its memory from it
// (adaptor/resident_heap.hpp). The root is a pointer from which a later user starts.
// Invariant: pointers inside are valid only at `label.address`. The label's magic is written last,
// so an unfinished region is not recognised.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/platform/thread.hpp>
#include <heapwright/structure/area/bump.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>
#include <type_traits>

namespace heapwright {

/// The description of a region, readable before it is mapped.
struct RegionLabel {
    static constexpr std::uint64_t rightMagic = 0x314D4F4F52574148; ///< "HAWROOM1"

    std::uint64_t magic = 0;
    std::uint64_t kind = 0;    ///< the kind of heap that uses it, from `kindOfHeap`
    Address address = 0;       ///< the address at which it must be mapped
    std::size_t bytes = 0;     ///< size of the whole region
    std::uint64_t entered = 0; ///< 1 while any process has it open
};

class alignas(minAlignment) SharedRegion {
public:
    /// Writes a new region into zeroed memory. It is recognised only after `finish`.
    [[nodiscard]] static SharedRegion* begin(void* memory, std::size_t bytes,
                                             std::uint64_t kind) noexcept {
        SharedRegion* const region = ::new (memory) SharedRegion;
        region->label = {0, kind, addressOf(memory), bytes, 1};
        return region;
    }
    void finish() noexcept { label.magic = RegionLabel::rightMagic; }

    /// The memory that it can allocate.
    [[nodiscard]] Stretch memory() const noexcept {
        return {addressOf(this) + sizeof(SharedRegion), label.bytes - sizeof(SharedRegion)};
    }

    RegionLabel label;
    Bump bump;
    void* resident = nullptr;
    void* root = nullptr;

private:
    SharedRegion() noexcept = default;
};

static_assert(sizeof(SharedRegion) % minAlignment == 0 &&
              std::is_trivially_copyable_v<RegionLabel>);

/// The region in which this thread constructs a heap. The sources constructed meanwhile take their
/// memory there.
using RegionUnderConstruction = platform::PerThread<SharedRegion, SharedRegion*>;

/// A number that identifies heaps with compatible memory: a hash of their layers, policies and size
/// (FNV-1a).
template <class H>
[[nodiscard]] constexpr std::uint64_t kindOfHeap() noexcept {
    std::uint64_t kind = 0xCBF29CE484222325U ^ sizeof(H);
    for (const char c : describe<H>()) {
        kind = (kind ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
    }
    return kind;
}

/// The result of opening a region.
enum class Opening : std::uint8_t {
    failed,  ///< the system provided no file or no memory
    made,    ///< a new region
    found,   ///< an existing region, with its contents
    foreign, ///< other contents, or the region of another heap
    taken,   ///< its address is not free in this process
    busy,    ///< another process has it, and it was not opened as shared
    unclean, ///< its last user died without closing it
};

/// Whether a region was opened.
[[nodiscard]] constexpr bool isOpen(Opening opening) noexcept {
    return opening == Opening::made || opening == Opening::found;
}

/// The options for opening a region.
struct RegionRequest {
    std::uint64_t kind = 0;
    bool shared = false;  ///< other processes may open it too
    bool unclean = false; ///< opens it even if its last user died
};

/// A region and how it was opened, with what is needed to close it.
struct OpenRegion {
    SharedRegion* region = nullptr; ///< null unless it is open
    Opening opening = Opening::failed;
    int file = -1;
    std::uint32_t process = 0; ///< the process that opened it
};

} // namespace heapwright
