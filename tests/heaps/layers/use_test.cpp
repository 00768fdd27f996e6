// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The suite on what brings heaps into programs: heaps for threads, heaps by name, sources that are
// C++ allocators and memory resources.
#include "stack_suite.hpp"

#include <support/private_compositions.hpp>

#include <memory>
#include <memory_resource>

namespace heapwright::testing {
namespace {

/// The counting heap as a memory resource, and as an allocator.
struct CountingResource : std::pmr::memory_resource {
    static std::pmr::memory_resource* get() noexcept {
        static CountingResource resource;
        return &resource;
    }

private:
    void* do_allocate(std::size_t bytes, std::size_t align) override {
        void* const block = CountingHeap().malloc(bytes + align);
        if (block == nullptr) {
            throw std::bad_alloc();
        }
        void* const object = pointerTo(roundUp(addressOf(block) + sizeof block, align));
        std::memcpy(backward(object, sizeof block), &block, sizeof block);
        return object;
    }
    void do_deallocate(void* object, std::size_t /*bytes*/, std::size_t /*align*/) override {
        void* block = nullptr;
        std::memcpy(&block, backward(object, sizeof block), sizeof block);
        CountingHeap().free(block);
    }
    [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
        return this == &other;
    }
};

template <class T>
struct CountingAllocator {
    using value_type = T;

    CountingAllocator() = default;
    template <class U>
    CountingAllocator(const CountingAllocator<U>& /*other*/) {}

    T* allocate(std::size_t count) {
        void* const block = CountingHeap().malloc(count * sizeof(T));
        if (block == nullptr) {
            throw std::bad_alloc();
        }
        return static_cast<T*>(block);
    }
    void deallocate(T* block, std::size_t /*count*/) { CountingHeap().free(block); }
    bool operator==(const CountingAllocator&) const = default;
};

/// A counting source for the tests in which one thread runs.
class LonelyCounting : public CountingHeap {
public:
    static constexpr bool concurrent = true;
    static constexpr bool acceptsForeignObjects = true;
};

using Resource = PmrHeap<CountingResource>;
using Allocator = AllocatorHeap<CountingAllocator<int>>;
using One = UniqueHeap<struct OneForTheSuite, CountingHeap>;
using Private =
    LockedHeap<FutexLock, StrictSegHeap<PowerOfTwo<10>, Nothing, SizeHeap<LonelyCounting>>>;
using Owned = LockedHeap<FutexLock, AlignHeap<CheckedHeap<Quick>>>;

using Use = Stacks<
    Stack<Resource>, Stack<Allocator>, Stack<AlignHeap<CheckedHeap<Allocator>>>,
    Stack<SizeHeap<ChunkHeap<4 * KiB, 8, Resource>>>, Stack<ChunkHeap<4 * KiB, 0, Allocator>>,
    Stack<CoalesceHeap<4 * KiB, CoalesceableHeap<Resource>>>, Stack<One>,
    Stack<SizeHeap<ChunkHeap<4 * KiB, 8, One>>>,
    Stack<HybridHeap<300, SizeHeap<One>, SizeHeap<One>>>,
    Uncounted<UniqueHeap<struct MappedForTheSuite, MmapHeap>>, Stack<ThreadHeap<1, LonelyCounting>>,
    Stack<ThreadHeap<4, Private>>,
    OneSize<ThreadHeap<2, LockedHeap<FutexLock, FreelistHeap<LonelyCounting>>>>,
    Uncounted<ThreadHeap<4, LockedHeap<FutexLock, MmapHeap>>>,
    Stack<PHOThreadHeap<1, LonelyCounting>>, Stack<PHOThreadHeap<4, Private>>,
    Stack<PHOThreadHeap<4, Owned>>,
    OneSize<PHOThreadHeap<2, LockedHeap<FutexLock, FreelistHeap<CountingHeap>>>>,
    Stack<PHOThreadHeap<2, LockedHeap<FutexLock, ChunkHeap<4 * KiB, 0, CountingHeap>>>>,
    Uncounted<PHOThreadHeap<4, LockedHeap<FutexLock, MmapHeap>>>,
    Stack<SizeHeap<PHOThreadHeap<4, Owned>>>, Uncounted<PurePrivate>, Uncounted<PrivateOwnership>>;
INSTANTIATE_TEST_SUITE_P(Use, LayerStack, ::testing::ValuesIn(Use::tables()));

/// What throws is no heap for the suite, but its histories are a heap's.
TEST(ThrowExceptionHeapInHistories, ServesAsTheHeapBelow) {
    ThrowExceptionHeap<Quick> heap;
    for (int i = 0; i < 1000; ++i) {
        auto* const object =
            static_cast<unsigned char*>(heap.malloc(static_cast<std::size_t>(i) + 1));
        object[i] = 1;
        heap.free(object);
    }
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_GT(usage.held, 0U);
}

} // namespace
} // namespace heapwright::testing
