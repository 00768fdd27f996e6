// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/object/checked_heap.hpp>
#include <heapwright/layers/source/pmr_heap.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory_resource>
#include <vector>

namespace heapwright::testing {
namespace {

/// Checks that a free has the size and alignment of its allocation. Throws where it has nothing.
class StrictResource : public std::pmr::memory_resource {
public:
    struct Asked {
        std::size_t bytes;
        std::size_t align;
    };
    std::map<void*, Asked> live;
    std::size_t wrong = 0;
    bool empty = false;

private:
    void* do_allocate(std::size_t bytes, std::size_t align) override {
        if (empty) {
            throw std::bad_alloc();
        }
        void* const block = std::pmr::new_delete_resource()->allocate(bytes, align);
        live[block] = {bytes, align};
        return block;
    }
    void do_deallocate(void* block, std::size_t bytes, std::size_t align) override {
        const auto entry = live.find(block);
        if (entry == live.end() || entry->second.bytes != bytes || entry->second.align != align) {
            ++wrong;
            return;
        }
        live.erase(entry);
        std::pmr::new_delete_resource()->deallocate(block, bytes, align);
    }
    [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
        return this == &other;
    }
};

struct Strict {
    static inline StrictResource resource;
    static std::pmr::memory_resource* get() noexcept { return &resource; }
};

TEST(PmrHeap, DeallocatesWithTheRequestedSizeAndAlignment) {
    PmrHeap<Strict> heap;
    std::vector<void*> objects;
    for (const std::size_t size : {1U, 8U, 9U, 24U, 25U, 1000U}) {
        objects.push_back(heap.malloc(size));
        ASSERT_NE(objects.back(), nullptr);
        EXPECT_EQ(addressOf(objects.back()) % 16, 0U);
        EXPECT_GE(heap.getSize(objects.back()), size);
        std::memset(objects.back(), 1, heap.getSize(objects.back()));
    }
    for (std::size_t align = 1; align <= 4096; align *= 2) {
        objects.push_back(heap.memalign(align, 100));
        ASSERT_NE(objects.back(), nullptr);
        EXPECT_EQ(addressOf(objects.back()) % align, 0U);
        std::memset(objects.back(), 1, heap.getSize(objects.back()));
    }
    MemoryUsage full;
    heap.measure(full);
    EXPECT_GT(full.mapped, 2000U);
    for (void* const object : objects) {
        heap.free(object);
    }
    EXPECT_TRUE(Strict::resource.live.empty());
    EXPECT_EQ(Strict::resource.wrong, 0U);
    MemoryUsage empty;
    heap.measure(empty);
    EXPECT_EQ(empty.mapped, 0U);
}

TEST(PmrHeap, ReturnsNullIfTheResourceThrows) {
    PmrHeap<Strict> heap;
    Strict::resource.empty = true;
    EXPECT_EQ(heap.malloc(10), nullptr);
    EXPECT_EQ(heap.memalign(64, 10), nullptr);
    Strict::resource.empty = false;
    heap.free(heap.malloc(10));
    EXPECT_TRUE(Strict::resource.live.empty());
}

TEST(PmrHeap, RefusesSizesBeyondAnyMemory) {
    PmrHeap<DefaultResource> heap;
    for (const std::size_t size : {SIZE_MAX, SIZE_MAX - 40, SIZE_MAX / 2 + 1}) {
        const volatile std::size_t asked = size;
        EXPECT_EQ(heap.malloc(asked), nullptr);
        EXPECT_EQ(heap.memalign(4096, asked), nullptr);
    }
    EXPECT_EQ(heap.memalign(SIZE_MAX / 2 + 1, 10), nullptr);
}

/// Each object returns to its source, for any default at that time.
TEST(PmrHeap, FollowsTheDefaultResource) {
    PmrHeap<DefaultResource> heap;
    void* const before = heap.malloc(100);
    std::array<std::byte, 4096> buffer{};
    std::pmr::monotonic_buffer_resource arena(buffer.data(), buffer.size(),
                                              std::pmr::null_memory_resource());
    std::pmr::memory_resource* const saved = std::pmr::set_default_resource(&arena);
    void* const inside = heap.malloc(100);
    const bool full = heap.malloc(100'000) == nullptr;
    std::pmr::set_default_resource(saved);
    EXPECT_TRUE(full);
    EXPECT_GE(addressOf(inside), addressOf(buffer.data()));
    EXPECT_LT(addressOf(inside), addressOf(buffer.data()) + buffer.size());
    heap.free(inside);
    heap.free(before);
}

TEST(PmrHeap, CarriesLayersThatNeedATag) {
    CheckedHeap<PmrHeap<Strict>> heap;
    void* const object = heap.malloc(100);
    heap.free(object);
    EXPECT_TRUE(Strict::resource.live.empty());
}

} // namespace
} // namespace heapwright::testing
