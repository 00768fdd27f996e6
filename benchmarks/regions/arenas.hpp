// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The arenas of the comparison, as the loads of workloads/regions/ use them: Heapwright's, and the
// best known others, each used as its manual recommends. All start with about 8 KiB and take memory
// from malloc.
#pragma once

#include <regions/arenas.hpp>

#include <heapwright/allocators/nested_reap.hpp>
#include <heapwright/allocators/spare_chunks.hpp>
#include <heapwright/allocators/vmalloc_region.hpp>
#include <heapwright/allocators/winxp_heaps.hpp>
#include <heapwright/c/reap.h>
#include <heapwright/c/region.h>
#include <heapwright/heap.hpp>

#include <cstddef>
#include <memory_resource>
#include <obstack.h>
#ifdef WITH_APR
#include <apr_pools.h>
#endif

namespace heapwright::benchmarks {

/// The traits of an arena: its objects are freed together, and whether single objects can be freed
/// before.
template <bool Single>
struct Bulk {
    static constexpr bool bulk = true;
    static constexpr bool single = Single;

    Bulk() = default;
    Bulk(const Bulk&) = delete;
    Bulk& operator=(const Bulk&) = delete;
};

/// Each object is allocated by malloc and freed singly.
class General {
public:
    static constexpr bool bulk = false;
    static constexpr bool single = true;

    General() = default;
    explicit General(General& /*parent*/) {}
    void* malloc(std::size_t size) { return std::malloc(size); }
    void free(void* object) { std::free(object); }
    void clear() {}
};

/// A composition of layers. `Single`: whether the load frees single objects.
template <class Nested, bool Single>
class Composed : public Bulk<Single> {
public:
    Composed() = default;
    explicit Composed(Composed& parent) : heap_(parent.heap_) {}
    void* malloc(std::size_t size) { return heap_.malloc(size); }
    void free(void* object) {
        if constexpr (Single) {
            heap_.free(object);
        }
    }
    void clear() { heap_.clear(); }

private:
    Nested heap_;
};

using Region = Composed<NestedHeap<RegionHeap<8 * KiB, 1 * MiB, allocators::SpareChunks>>, false>;
using Reap = Composed<allocators::NestedReap<allocators::SpareChunks>, true>;
using UnfreedReap = Composed<allocators::NestedReap<allocators::SpareChunks>, false>;

/// A heap of layers that cannot be nested, used as a region.
template <class Heap>
class Separate : public Bulk<false> {
public:
    Separate() = default;
    explicit Separate(Separate& /*parent*/) {}
    void* malloc(std::size_t size) { return heap_.malloc(size); }
    void free(void* /*object*/) {}
    void clear() { heap_.clear(); }

private:
    Heap heap_;
};

using WinXpHeaps = Separate<allocators::WinXpHeap<allocators::SpareChunks>>;
using VmallocRegions =
    Separate<allocators::VmallocRegion<workloads::AreasOf<allocators::SpareChunks>>>;

class RegionInC : public Bulk<false> {
public:
    RegionInC() : region_(heapwright_region_create(nullptr)) {}
    explicit RegionInC(RegionInC& parent) : region_(heapwright_region_create(parent.region_)) {}
    ~RegionInC() { heapwright_region_destroy(region_); }
    void* malloc(std::size_t size) { return heapwright_region_alloc(region_, size); }
    void free(void* /*object*/) {}
    void clear() { heapwright_region_clear(region_); }

private:
    heapwright_region* region_;
};

template <bool Single>
class ReapInC : public Bulk<Single> {
public:
    ReapInC() : reap_(heapwright_reap_create(nullptr)) {}
    explicit ReapInC(ReapInC& parent) : reap_(heapwright_reap_create(parent.reap_)) {}
    ~ReapInC() { heapwright_reap_destroy(reap_); }
    void* malloc(std::size_t size) { return heapwright_reap_malloc(reap_, size); }
    void free(void* object) {
        if constexpr (Single) {
            heapwright_reap_free(reap_, object);
        }
    }
    void clear() { heapwright_reap_clear(reap_); }

private:
    heapwright_reap* reap_;
};

/// The standard library's arena, which cannot be nested.
class Monotonic : public Bulk<false> {
public:
    Monotonic() : resource_(8 * KiB) {}
    explicit Monotonic(Monotonic& /*parent*/) : Monotonic() {}
    void* malloc(std::size_t size) { return resource_.allocate(size, alignof(std::max_align_t)); }
    void free(void* /*object*/) {}
    void clear() { resource_.release(); }

private:
    std::pmr::monotonic_buffer_resource resource_;
};

/// Those of the GNU C library, which cannot be nested either.
class GnuObstack : public Bulk<false> {
#define obstack_chunk_alloc std::malloc
#define obstack_chunk_free std::free
public:
    GnuObstack() { begin(); }
    explicit GnuObstack(GnuObstack& /*parent*/) { begin(); }
    ~GnuObstack() { obstack_free(&obstack_, nullptr); }
    void* malloc(std::size_t size) { return obstack_alloc(&obstack_, size); }
    void free(void* /*object*/) {}
    void clear() {
        obstack_free(&obstack_, nullptr);
        begin();
    }

private:
    void begin() { obstack_begin(&obstack_, static_cast<int>(8 * KiB - 2 * minAlignment)); }

    struct obstack obstack_;
#undef obstack_chunk_alloc
#undef obstack_chunk_free
};

#ifdef WITH_APR
class AprPool : public Bulk<false> {
public:
    AprPool() { apr_pool_create(&pool_, nullptr); }
    explicit AprPool(AprPool& parent) { apr_pool_create(&pool_, parent.pool_); }
    ~AprPool() { apr_pool_destroy(pool_); }
    void* malloc(std::size_t size) { return apr_palloc(pool_, size); }
    void free(void* /*object*/) {}
    void clear() { apr_pool_clear(pool_); }

private:
    apr_pool_t* pool_ = nullptr;
};
#endif

} // namespace heapwright::benchmarks
