// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks of one size, each aligned to its size, carved from larger chunks. Superblocks are made of
// them. A request for more than a block returns null.
//
// A chunk is also aligned to its size. It uses its first block for a bitmap of its free blocks. The
// heap never writes to the other blocks, so a block arrives as it was freed or as the superheap
// made it. The first words of a block may therefore name its owner, and may be read even while the
// block is free. (Those of the first block are null.) Chunks in use are filled before empty ones.
// Empty chunks are kept, and returned on `trim`, `flush` and destruction.
//
// Chunks are registered in the map of the address space (structure/map/region_map.hpp). Any thread
// may therefore call `owns` at any time with any address; this holds for no other verb. If the
// superheap cannot align, a chunk takes twice its size from it.
// Cost: a bit scan.
//
// Example: AlignedBlockHeap<8 * KiB, 1 * MiB, MmapHeap>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/structure/map/bit_set.hpp>
#include <heapwright/structure/map/region_map.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>

namespace heapwright {

template <std::size_t BlockSize, std::size_t ChunkSize, AnyOrderHeap SuperHeap>
    requires AnySizeHeap<SuperHeap>
class AlignedBlockHeap : private SuperHeap {
    static constexpr std::size_t perChunk = ChunkSize / BlockSize;

    /// Invariant: A chunk is on the list of full chunks if no block is free. It is on the list of
    /// empty ones if all blocks are free. Otherwise it is on the list of partial ones.
    struct Chunk {
        std::uint64_t home =
            0; ///< at the place of a superblock's owner tag (structure/cache/owner_tag.hpp), and
        void* owner = nullptr; ///< at the place of a superblock's owner
        Chunk* next = nullptr;
        Chunk* previous = nullptr;
        void* memory = nullptr; ///< the address from the superheap
        std::size_t vacancies = perChunk - 1;
        BitSet<perChunk> vacant; ///< the block of the chunk itself is never free
    };

    static_assert(std::has_single_bit(BlockSize) && std::has_single_bit(ChunkSize));
    static_assert(ChunkSize % RegionMap::granule == 0);
    static_assert(sizeof(Chunk) <= BlockSize && perChunk >= 2);

public:
    static constexpr std::size_t alignment = BlockSize < minAlignment ? minAlignment : BlockSize;
    static constexpr std::size_t blockSize = BlockSize;
    static constexpr bool uniform = false;     // the superheap receives requests for chunks only
    static constexpr bool processLocal = true; ///< the map belongs to the process
    static constexpr bool ownsLockFree = true;
    static constexpr std::string_view caption = "aligned blocks of one size out of larger chunks";
    using Below = Heaps<SuperHeap>;

    constexpr AlignedBlockHeap() noexcept = default;
    ~AlignedBlockHeap() { clear(); }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        if (void* const block = mallocHeld(size)) [[likely]] {
            return block;
        }
        if (size > BlockSize || !grow()) {
            return nullptr;
        }
        return mallocHeld(size);
    }

    /// A block from the present chunks, else null.
    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept {
        if (size > BlockSize) {
            return nullptr;
        }
        Chunk* const chunk = partial_ != nullptr ? partial_ : empty_;
        return chunk == nullptr ? nullptr : taken(chunk);
    }

    void free(void* block) noexcept {
        auto* const chunk = static_cast<Chunk*>(pointerTo(roundDown(addressOf(block), ChunkSize)));
        const std::size_t vacancies = chunk->vacancies;
        chunk->vacant.set((addressOf(block) - addressOf(chunk)) / BlockSize);
        chunk->vacancies = vacancies + 1;
        moveIfNeeded(chunk, vacancies);
    }

    [[nodiscard]] std::size_t getSize(void* /*block*/) noexcept { return BlockSize; }

    [[nodiscard]] bool resize(void* /*block*/, std::size_t size) noexcept {
        return size <= BlockSize;
    }

    /// Returns empty chunks and flushes the superheap; true if there were any.
    bool flush() noexcept {
        const bool any = returnEmpty(0);
        if constexpr (FlushableHeap<SuperHeap>) {
            return SuperHeap::flush() || any;
        } else {
            return any;
        }
    }

    /// Returns empty chunks except for `pad` bytes; true if there were any.
    bool trim(std::size_t pad) noexcept {
        const bool any = returnEmpty(pad / ChunkSize + (pad % ChunkSize != 0 ? 1U : 0U));
        if constexpr (TrimmableHeap<SuperHeap>) {
            return SuperHeap::trim(pad) || any;
        } else {
            return any;
        }
    }

    /// Returns every chunk, whether its blocks are in use or not.
    void clear() noexcept {
        for (Chunk** const list : {&partial_, &full_, &empty_}) {
            while (*list != nullptr) {
                giveBack(*list, *list);
            }
        }
        if constexpr (ClearableHeap<SuperHeap>) {
            SuperHeap::clear();
        }
    }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap>
    {
        SuperHeap::measure(usage);
        for (const Chunk* const list : {partial_, empty_}) {
            for (const Chunk* chunk = list; chunk != nullptr; chunk = chunk->next) {
                usage.held += chunk->vacancies * BlockSize;
                usage.heldCount += chunk->vacancies;
            }
        }
    }

    /// Whether an address lies in a chunk. Any thread may call it at any time.
    [[nodiscard]] bool owns(const void* object) const noexcept {
        return RegionMap::ownerOf(object) == this;
    }

private:
    static void link(Chunk*& list, Chunk* chunk) noexcept {
        chunk->previous = nullptr;
        chunk->next = list;
        if (list != nullptr) {
            list->previous = chunk;
        }
        list = chunk;
    }
    static void unlink(Chunk*& list, Chunk* chunk) noexcept {
        (chunk->previous != nullptr ? chunk->previous->next : list) = chunk->next;
        if (chunk->next != nullptr) {
            chunk->next->previous = chunk->previous;
        }
    }
    Chunk*& listFor(std::size_t vacancies) noexcept {
        return vacancies == 0 ? full_ : vacancies == perChunk - 1 ? empty_ : partial_;
    }

    /// Moves a chunk to the list of its new state, when the number of its free blocks has changed
    /// from `before`.
    void moveIfNeeded(Chunk* chunk, std::size_t before) noexcept {
        Chunk*& from = listFor(before);
        Chunk*& to = listFor(chunk->vacancies);
        if (&from != &to) {
            unlink(from, chunk);
            link(to, chunk);
        }
    }

    void* taken(Chunk* chunk) noexcept {
        const std::size_t vacancies = chunk->vacancies;
        const std::size_t index = chunk->vacant.next(0);
        chunk->vacant.reset(index);
        chunk->vacancies = vacancies - 1;
        moveIfNeeded(chunk, vacancies);
        return forward(chunk, index * BlockSize);
    }

    [[gnu::noinline]] bool grow() noexcept {
        void* const memory = fresh();
        if (memory == nullptr) {
            return false;
        }
        void* const start = pointerTo(roundUp(addressOf(memory), ChunkSize));
        if (!RegionMap::enter(start, ChunkSize, this)) {
            SuperHeap::free(memory);
            return false;
        }
        auto* const chunk = ::new (start) Chunk;
        chunk->memory = memory;
        for (std::size_t index = 1; index < perChunk; ++index) {
            chunk->vacant.set(index);
        }
        link(empty_, chunk);
        return true;
    }

    /// Memory with room for a chunk at a multiple of its size.
    void* fresh() noexcept {
        if constexpr (AlignedHeap<SuperHeap>) {
            return SuperHeap::memalign(ChunkSize, ChunkSize);
        } else {
            return SuperHeap::malloc(2 * ChunkSize);
        }
    }

    bool returnEmpty(std::size_t keep) noexcept {
        Chunk* chunk = empty_;
        for (; chunk != nullptr && keep != 0; --keep) {
            chunk = chunk->next;
        }
        const bool any = chunk != nullptr;
        while (chunk != nullptr) {
            Chunk* const next = chunk->next;
            giveBack(empty_, chunk);
            chunk = next;
        }
        return any;
    }

    void giveBack(Chunk*& list, Chunk* chunk) noexcept {
        unlink(list, chunk);
        RegionMap::leave(chunk, ChunkSize);
        SuperHeap::free(chunk->memory);
    }

    Chunk* partial_ = nullptr; ///< some blocks free, some not
    Chunk* empty_ = nullptr;   ///< all blocks free
    Chunk* full_ = nullptr;    ///< no block free
};

} // namespace heapwright
