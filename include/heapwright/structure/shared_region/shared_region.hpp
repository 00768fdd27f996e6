// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A stretch of memory that several processes see, or that a file keeps, with all that is known of
// it written at its beginning: whoever maps it at the same address can go on where it was left.
//
//   | label | bump, resident, root | resident: a whole heap | objects ...                |
//
// A region serves memory by its own bump. It may have a resident: a heap object that lies in it and
// takes its memory from it, with every free list and every lock (adaptor/resident_heap.hpp). The
// root is a pointer for whoever comes later to begin at. Invariants: pointers inside hold at
// `label.address` only; the label's magic is written last, so a region that was not finished is
// none.
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

/// What a region tells before it is mapped.
struct RegionLabel {
    static constexpr std::uint64_t rightMagic = 0x314D4F4F52574148; ///< "HAWROOM1"

    std::uint64_t magic = 0;
    std::uint64_t kind = 0;    ///< which heap uses it, as `kindOfHeap`
    Address address = 0;       ///< where it has to stand
    std::size_t bytes = 0;     ///< all of it
    std::uint64_t entered = 0; ///< 1 from when somebody maps it until the last one lets it go
};

class alignas(minAlignment) SharedRegion {
public:
    /// Writes a new room into memory that is zero. It is none until it is finished.
    [[nodiscard]] static SharedRegion* begin(void* memory, std::size_t bytes,
                                             std::uint64_t kind) noexcept {
        SharedRegion* const region = ::new (memory) SharedRegion;
        region->label = {0, kind, addressOf(memory), bytes, 1};
        return region;
    }
    void finish() noexcept { label.magic = RegionLabel::rightMagic; }

    /// What it can give out.
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

/// The room in which this thread builds a heap at the moment: the sources that are built in it take
/// their memory there.
using RegionUnderConstruction = platform::PerThread<SharedRegion, SharedRegion*>;

/// A number that tells heaps apart which do not understand each other's memory: from the layers and
/// policies that they are made of, and their size (FNV-1a).
template <class H>
[[nodiscard]] constexpr std::uint64_t kindOfHeap() noexcept {
    std::uint64_t kind = 0xCBF29CE484222325U ^ sizeof(H);
    for (const char c : describe<H>()) {
        kind = (kind ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
    }
    return kind;
}

/// How the opening of a region ended.
enum class Opening : std::uint8_t {
    failed,  ///< the system gave no file or no memory
    made,    ///< it is new
    found,   ///< it was there, with all that is in it
    foreign, ///< there is something else, or the region of another heap
    taken,   ///< its address is not free in this process
    busy,    ///< others have it, and it is not one to share
    unclean, ///< whoever had it last died before letting it go
};

/// Whether a region was opened.
[[nodiscard]] constexpr bool isOpen(Opening opening) noexcept {
    return opening == Opening::made || opening == Opening::found;
}

/// How a region is to be opened.
struct RegionRequest {
    std::uint64_t kind = 0;
    bool shared = false;  ///< others may open it too
    bool unclean = false; ///< also if its last user died
};

/// A room and how it came; what it takes to let it go again.
struct OpenRegion {
    SharedRegion* region = nullptr; ///< not null if and only if it is open
    Opening opening = Opening::failed;
    int file = -1;
    std::uint32_t process = 0; ///< who opened it
};

} // namespace heapwright
