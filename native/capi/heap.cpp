// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// User heaps for C, over the C++ composition and an account. The heap lies in pages of its own, so
// that nothing here calls malloc.
//
// All heaps are in one list, which a fork quiesces. Lock order: the lock of the list, then the
// locks of a heap.
#include <heapwright/c/heap.h>

#include <capi/account.hpp>
#include <heapwright/allocators/user_heap.hpp>
#include <heapwright/platform/abort.hpp>
#include <heapwright/platform/errno_keeper.hpp>
#include <heapwright/platform/pages.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <bit>
#include <cstring>
#include <mutex>
#include <new>
#include <pthread.h>
#include <string_view>

using namespace heapwright;

struct heapwright_heap {
    capi::AccountHeap<allocators::UserHeap<SystemExtents>> objects;
    heapwright_heap* next = nullptr;
    heapwright_heap* previous = nullptr;
    char name[48] = {};
};

namespace {

/// All heaps of the process, the newest first.
class HeapList {
public:
    using Hold = std::lock_guard<FutexLock>;

    void add(heapwright_heap& heap) noexcept {
        const Hold hold(lock_);
        if (!forkHandled_) {
            forkHandled_ =
                ::pthread_atfork(&beforeFork, &afterForkInParent, &afterForkInChild) == 0;
        }
        heap.next = first_;
        if (first_ != nullptr) {
            first_->previous = &heap;
        }
        first_ = &heap;
    }

    void remove(heapwright_heap& heap) noexcept {
        const Hold hold(lock_);
        (heap.previous != nullptr ? heap.previous->next : first_) = heap.next;
        if (heap.next != nullptr) {
            heap.next->previous = heap.previous;
        }
    }

    /// Runs `body` on each heap until it returns a value other than 0, and returns that value.
    template <class Body>
    [[nodiscard]] int each(Body body) noexcept {
        const Hold hold(lock_);
        return eachUnlocked(body);
    }

private:
    template <class Body>
    int eachUnlocked(Body body) noexcept {
        int answer = 0;
        for (heapwright_heap* heap = first_; heap != nullptr && answer == 0; heap = heap->next) {
            answer = body(*heap);
        }
        return answer;
    }

    static void beforeFork() noexcept;
    static void afterForkInParent() noexcept;
    static void afterForkInChild() noexcept;

    FutexLock lock_;
    heapwright_heap* first_ = nullptr;
    bool forkHandled_ = false;
};

constinit HeapList heaps;

void HeapList::beforeFork() noexcept {
    heaps.lock_.lock();
    heaps.eachUnlocked([](heapwright_heap& heap) {
        heap.objects.beforeFork();
        return 0;
    });
}
void HeapList::afterForkInParent() noexcept {
    heaps.eachUnlocked([](heapwright_heap& heap) {
        heap.objects.afterForkInParent();
        return 0;
    });
    heaps.lock_.unlock();
}
void HeapList::afterForkInChild() noexcept {
    heaps.eachUnlocked([](heapwright_heap& heap) {
        heap.objects.afterForkInChild();
        return 0;
    });
    heaps.lock_.reset();
}

std::size_t handleBytes() noexcept {
    return roundUp(sizeof(heapwright_heap), platform::pageSize());
}

/// Counts a request that got nothing.
void* counted(heapwright_heap& heap, void* object) noexcept {
    if (object == nullptr) {
        heap.objects.account().countRefusal();
    }
    return object;
}

/// Ends the program unless the object is a live object of the heap.
void check(heapwright_heap& heap, void* object, std::string_view routine) noexcept {
    if (!heap.objects.owns(object)) {
        platform::abortWithMessage(routine, "object of another heap");
    }
    heap.objects.check(object, routine);
}

std::size_t atLeastOne(std::size_t size) noexcept {
    return size == 0 ? 1 : size;
}

/// In place if that works, else by moving pages, else by copying.
void* resized(heapwright_heap& heap, void* object, std::size_t size) noexcept {
    if (heap.objects.resize(object, size)) {
        return object;
    }
    if (void* const moved = heap.objects.relocate(object, size)) {
        return moved;
    }
    void* const place = heap.objects.malloc(size);
    if (place != nullptr) {
        const std::size_t have = heap.objects.getSizeUnlocked(object);
        std::memcpy(place, object, have < size ? have : size);
        heap.objects.free(object);
    }
    return place;
}

} // namespace

heapwright_heap* heapwright_heap_create(const char* name, size_t quota) {
    void* const pages = platform::mapPages(handleBytes());
    if (pages == nullptr) {
        return nullptr;
    }
    auto* const heap = ::new (pages) heapwright_heap;
    if (name != nullptr) {
        std::memcpy(heap->name, name, ::strnlen(name, sizeof heap->name - 1));
    }
    heap->objects.account().setQuota(quota);
    heaps.add(*heap);
    return heap;
}

void heapwright_heap_destroy(heapwright_heap* heap) {
    if (heap == nullptr) {
        return;
    }
    heaps.remove(*heap);
    heap->~heapwright_heap();
    platform::unmapPages(heap, handleBytes());
}

void heapwright_heap_clear(heapwright_heap* heap) {
    heap->objects.clear();
}

void* heapwright_heap_malloc(heapwright_heap* heap, size_t size) {
    return counted(*heap, heap->objects.malloc(atLeastOne(size)));
}

void* heapwright_heap_calloc(heapwright_heap* heap, size_t count, size_t size) {
    std::size_t whole = 0;
    const bool fits = !__builtin_mul_overflow(count, size, &whole);
    return counted(*heap, fits ? heap->objects.zalloc(atLeastOne(whole)) : nullptr);
}

void* heapwright_heap_aligned_alloc(heapwright_heap* heap, size_t alignment, size_t size) {
    const bool valid = std::has_single_bit(alignment);
    const std::size_t least = atLeastOne(size);
    return counted(*heap, !valid                      ? nullptr
                          : alignment <= minAlignment ? heap->objects.malloc(least)
                                                      : heap->objects.memalign(alignment, least));
}

void* heapwright_heap_realloc(heapwright_heap* heap, void* object, size_t size) {
    if (object == nullptr) {
        return heapwright_heap_malloc(heap, size);
    }
    check(*heap, object, "heap_realloc");
    return counted(*heap, resized(*heap, object, atLeastOne(size)));
}

void heapwright_heap_free(heapwright_heap* heap, void* object) {
    if (object != nullptr) {
        check(*heap, object, "heap_free");
        heap->objects.free(object);
    }
}

size_t heapwright_heap_size(heapwright_heap* heap, void* object) {
    check(*heap, object, "heap_size");
    return heap->objects.getSizeUnlocked(object);
}

int heapwright_heap_owns(const heapwright_heap* heap, const void* address) {
    // The region map is read without a lock and without a change.
    return const_cast<heapwright_heap*>(heap)->objects.owns(address) ? 1 : 0;
}

const char* heapwright_heap_name(const heapwright_heap* heap) {
    return heap->name;
}

void heapwright_heap_set_quota(heapwright_heap* heap, size_t quota) {
    heap->objects.account().setQuota(quota);
}

int heapwright_heap_trim(heapwright_heap* heap) {
    return heap->objects.trim(0) ? 1 : 0;
}

void heapwright_heap_statistics(heapwright_heap* heap, heapwright_heap_figures* figures,
                                size_t size) {
    MemoryUsage usage;
    heap->objects.measure(usage);
    const capi::Account& account = heap->objects.account();
    heapwright_heap_figures all = {};
    all.live_objects = account.objects();
    all.live_bytes = account.live();
    all.peak_bytes = account.peak();
    all.quota_bytes = account.quota();
    all.mapped_bytes = usage.mapped;
    all.allocations = account.allocations();
    all.refusals = account.refusals();
    std::memset(figures, 0, size); // fields of a later version
    std::memcpy(figures, &all, size < sizeof all ? size : sizeof all);
}

int heapwright_heap_each(int (*visit)(heapwright_heap* heap, void* argument), void* argument) {
    return heaps.each([=](heapwright_heap& heap) { return visit(&heap, argument); });
}
