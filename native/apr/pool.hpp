// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The type behind `apr_pool_t`: a heap whose objects are freed together, the pools inside it, and
// its cleanups. `Memory` defines the heap, its source, and the place of the pool itself
// (reap_memory.hpp, emulated_memory.hpp).
//
// A pool ends in these steps. It runs its first cleanups (apr_pool_pre_cleanup_register). It ends
// the pools inside it, newest first, and runs its cleanups. It ends its processes and frees its
// memory. `PoolEnd` does this without recursion, so that pools may be nested as deeply as memory
// allows.
// Invariant: a pool is on its parent's list until its memory is freed. The mutex of the parent's
// allocator, if it has one, protects the list, because several threads may create pools inside one.
// Cost: an object costs what the heap takes; a pool costs its heap and four stores.
#pragma once

#include <apr/cleanups.hpp>
#include <apr/node_allocator.hpp>
#include <apr/processes.hpp>

#include <apr_hash.h>
#include <apr_pools.h>

#include <heapwright/platform/abort.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>

namespace heapwright::apr {

template <class Memory>
class PoolEnd;

template <class Memory>
class Pool {
public:
    using Allocator = typename Memory::Allocator;
    using Heap = typename Memory::Heap;

    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    /// Creates a pool of the public type; null if there is no memory.
    template <class Public>
    static Public* make(Pool* parent, apr_abortfunc_t abort, Allocator& allocator) {
        if (parent != nullptr) {
            parent->check("apr_pool_create_ex");
        }
        void* const place = Memory::makePlace(allocator, sizeof(Public));
        if (place == nullptr) {
            if (abort != nullptr) {
                abort(APR_ENOMEM);
            }
            return nullptr;
        }
        auto* const pool = ::new (place) Public(allocator);
        Memory::begin(pool->heap_, place);
        pool->abort_ = abort;
        if (parent != nullptr) {
            pool->join(*parent);
        }
        return pool;
    }

    [[nodiscard]] void* malloc(std::size_t size) {
        check("apr_palloc");
        if (void* const object = Memory::tryMallocFast(heap_, size)) [[likely]] {
            return object;
        }
        return mallocOtherwise(size, *this);
    }

    void free(void* object) noexcept {
        check("apr_pfree");
        if (object != nullptr) {
            Memory::free(heap_, object);
        }
    }

    /// Runs all cleanups, ends the pools inside, and frees all objects.
    void clear() {
        check("apr_pool_clear");
        const State before = state_; // not live if a cleanup clears its own pool
        state_ = State::ending;
        PoolEnd<Memory>::run(*this, false);
        state_ = before;
        cleanups_.forget();
        firstCleanups_.forget();
        spare_.forget();
        processes_ = nullptr;
        userData_ = nullptr;
        heap_.clear();
        Memory::begin(heap_, this);
    }

    /// Ends this pool and the allocator that it owns.
    void destroy() {
        if (state_ != State::live) {
            refuseToEnd();
        }
        state_ = State::ending;
        PoolEnd<Memory>::run(*this, true);
        release();
    }

    void addCleanup(const void* data, CleanupFunction plain, CleanupFunction child) {
        add(cleanups_, data, plain, child);
    }

    /// Registers a cleanup that runs before the pools inside end.
    void addFirstCleanup(const void* data, CleanupFunction plain) {
        add(firstCleanups_, data, plain, nullptr);
    }

    /// Unregisters the newest cleanup of this function and data, of either kind.
    void removeCleanup(const void* data, CleanupFunction plain) noexcept {
        for (CleanupList* const list : {&cleanups_, &firstCleanups_}) {
            if (Cleanup* const record = list->take(data, plain)) {
                spare_.push(record);
            }
        }
    }

    void setChildCleanup(const void* data, CleanupFunction plain, CleanupFunction child) noexcept {
        if (Cleanup* const record = cleanups_.find(data, plain)) {
            record->child = child;
        }
    }

    void noteProcess(apr_proc_t* process, apr_kill_conditions_e how) {
        if (void* const place = malloc(sizeof(ProcessNote))) {
            processes_ = ::new (place) ProcessNote{processes_, process, how};
        }
    }

    /// Runs the child cleanups of this pool and of all pools inside it.
    void cleanUpForChild() {
        for (Pool* pool = this; pool != nullptr; pool = pool->after(this)) {
            pool->cleanups_.runForChild();
        }
    }

    void* exhausted() {
        if (abort_ != nullptr) {
            abort_(APR_ENOMEM);
        }
        return nullptr;
    }

    [[nodiscard]] bool isInside(const Pool* other) const noexcept {
        const Pool* pool = this;
        while (pool != nullptr && pool != other) {
            pool = pool->parent_;
        }
        return pool != nullptr || other == nullptr;
    }

    [[nodiscard]] Heap& heap() noexcept { return heap_; }
    [[nodiscard]] Pool* parent() const noexcept { return parent_; }
    [[nodiscard]] Allocator& allocator() const noexcept { return allocator_; }
    [[nodiscard]] apr_abortfunc_t abortFunction() const noexcept { return abort_; }
    void setAbortFunction(apr_abortfunc_t abort) noexcept { abort_ = abort; }
    void setTag(const char* tag) noexcept { tag_ = tag; }
    [[nodiscard]] apr_hash_t*& userData() noexcept { return userData_; }

protected:
    explicit Pool(Allocator& allocator) noexcept
        : heap_(Memory::heapFor(allocator, this)), allocator_(allocator) {}
    ~Pool() = default;

private:
    friend class PoolEnd<Memory>;

    /// Numbers that are unlikely in other memory at the place of a pool's state.
    enum class State : std::uint32_t { live = 0x506F6F6C, ending = 0x456E6473, gone = 0x476F6E65 };

    /// Out of line and static, so that `malloc` needs no stack frame.
    [[gnu::noinline]] static void* mallocOtherwise(std::size_t size, Pool& pool) {
        void* const object = pool.heap_.malloc(size);
        return object != nullptr ? object : pool.exhausted();
    }

    void add(CleanupList& list, const void* data, CleanupFunction plain, CleanupFunction child) {
        Cleanup* const spare = spare_.pop();
        void* const place = spare != nullptr ? spare : malloc(sizeof(Cleanup));
        if (place != nullptr) {
            list.push(::new (place) Cleanup{nullptr, data, plain, child});
        }
    }

    void join(Pool& parent) noexcept {
        parent_ = &parent;
        const MutexHolder holder(parent.allocator_.mutex());
        next_ = parent.children_;
        if (next_ != nullptr) {
            next_->previous_ = this;
        }
        parent.children_ = this;
    }

    void leave() noexcept {
        if (parent_ == nullptr) {
            return;
        }
        const MutexHolder holder(parent_->allocator_.mutex());
        (previous_ != nullptr ? previous_->next_ : parent_->children_) = next_;
        if (next_ != nullptr) {
            next_->previous_ = previous_;
        }
    }

    /// The next pool of a walk through all pools inside `root`, parents first.
    [[nodiscard]] Pool* after(const Pool* root) const noexcept {
        if (children_ != nullptr) {
            return children_;
        }
        const Pool* pool = this;
        while (pool != root && pool->next_ == nullptr) {
            pool = pool->parent_;
        }
        return pool == root ? nullptr : pool->next_;
    }

    /// Frees the memory, which contains the mutex of an allocator that ends with it.
    /// Pre: no cleanup is left, and no pool is inside.
    void release() noexcept {
        leave();
        const_cast<volatile State&>(state_) = State::gone; // detects a second destroy
        Allocator& allocator = allocator_;
        void* const place = this;
        const bool owner = static_cast<void*>(allocator.owner()) == place;
        if (owner) {
            allocator.setMutex(nullptr);
        }
        this->~Pool();
        Memory::endPlace(place);
        if (owner) {
            Allocator::end(allocator);
        }
    }

    void check(std::string_view routine) const noexcept {
        if constexpr (Memory::checks) {
            if (state_ != State::live && state_ != State::ending) {
                platform::abortWithMessage(routine, "the pool is destroyed already");
            }
        }
    }

    [[noreturn, gnu::cold]] void refuseToEnd() const noexcept {
        platform::abortWithMessage(
            "apr_pool_destroy", state_ == State::gone     ? "the pool is destroyed already"
                                : state_ == State::ending ? "the pool is being cleared or destroyed"
                                                          : "invalid pointer");
    }

    Heap heap_; ///< first, so that it is destroyed last: the pool may lie in its memory
    Allocator& allocator_;
    Pool* parent_ = nullptr;
    Pool* children_ = nullptr; ///< newest first
    Pool* next_ = nullptr;     ///< the next pool of the same parent
    Pool* previous_ = nullptr;
    CleanupList cleanups_;
    CleanupList firstCleanups_; ///< run before the pools inside end
    CleanupList spare_;         ///< unused records
    ProcessNote* processes_ = nullptr;
    apr_hash_t* userData_ = nullptr;
    apr_abortfunc_t abort_ = nullptr;
    const char* tag_ = nullptr; ///< for debuggers
    State state_ = State::live;
};

/// Ends a pool and all pools inside it: it walks down to the newest pool without children, and back
/// up.
template <class Memory>
class PoolEnd {
    using P = Pool<Memory>;
    using State = typename P::State;

public:
    /// Runs all cleanups of `root` and of the pools inside it, which are then destroyed. A pool
    /// that a cleanup of `root` creates inside it survives if `root` is only cleared, and is
    /// destroyed if it is `ending`.
    static void run(P& root, bool ending) {
        P* pool = &root;
        for (;;) {
            pool->firstCleanups_.run();
            if (P* const child = pool->children_) {
                pool = enter(child);
                continue;
            }
            pool->cleanups_.run();
            endProcesses(*pool);
            if (pool->children_ != nullptr && (pool != &root || ending)) {
                continue;
            }
            if (pool == &root) {
                return;
            }
            P* const parent = pool->parent_;
            pool->release();
            pool = parent;
        }
    }

private:
    static P* enter(P* child) noexcept {
        if (child->state_ != State::live) {
            platform::abortWithMessage("apr_pool_destroy", "a cleanup ends a pool around its own");
        }
        child->state_ = State::ending;
        return child;
    }

    static void endProcesses(P& pool) {
        if (pool.processes_ != nullptr) {
            ProcessNote* const all = pool.processes_;
            pool.processes_ = nullptr;
            processes::end(all);
        }
    }
};

} // namespace heapwright::apr
