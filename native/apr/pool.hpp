// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What the type `apr_pool_t` stands for: a heap whose objects go all at once, the pools inside it,
// and what shall be done before. `Memory` says which heap, where it has its memory from, and where
// the pool itself stands (reap_memory.hpp, emulated_memory.hpp).
//
// A pool that ends first runs what was registered to be run first, ends the pools inside it, the
// newest first, each in the same way, runs its cleanups, ends its processes, and then gives its
// memory back. That goes without recursion, so that pools may be nested as deeply as there is
// memory (`PoolEnd`). Invariant: a pool is on its parent's list until its memory goes. The list is
// changed under the mutex of the parent's allocator, if it has one, for many threads may make pools
// inside one. Cost: an object is the heap's; a pool costs its heap and four stores.
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

    /// A pool, of the type `Public` that programs know; null if there is no memory for it.
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

    /// Runs everything that is to be run, ends the pools inside, and frees all objects.
    void clear() {
        check("apr_pool_clear");
        const State before = state_; // not live if it is a cleanup that clears its own pool
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

    /// Ends this pool, and with it the allocator that it owns.
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

    /// One that runs before the pools inside end.
    void addFirstCleanup(const void* data, CleanupFunction plain) {
        add(firstCleanups_, data, plain, nullptr);
    }

    /// Takes the newest of this function and data back, of either kind.
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

    /// Runs the cleanups for a child process, of this pool and of all inside it.
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

    /// Numbers that other memory is not likely to have where a pool had its state.
    enum class State : std::uint32_t { live = 0x506F6F6C, ending = 0x456E6473, gone = 0x476F6E65 };

    /// Out of line and static, so that `malloc` needs no stack.
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

    /// The pool after this one in a walk through all inside `root`, parents first.
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

    /// Gives the memory back; the mutex of an allocator that goes along was in it. Pre: nothing is
    /// left to be run, and no pool inside.
    void release() noexcept {
        leave();
        const_cast<volatile State&>(state_) = State::gone; // for who destroys it twice
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

    Heap heap_; ///< first, so that it ends last: the pool may stand in its memory
    Allocator& allocator_;
    Pool* parent_ = nullptr;
    Pool* children_ = nullptr; ///< the newest first
    Pool* next_ = nullptr;     ///< of the same parent
    Pool* previous_ = nullptr;
    CleanupList cleanups_;
    CleanupList firstCleanups_; ///< to be run before the pools inside end
    CleanupList spare_;         ///< records that were taken back
    ProcessNote* processes_ = nullptr;
    apr_hash_t* userData_ = nullptr;
    apr_abortfunc_t abort_ = nullptr;
    const char* tag_ = nullptr; ///< for who looks with a debugger
    State state_ = State::live;
};

/// How a pool and all inside it come to their end: down to the newest that has none inside, and
/// from there up again.
template <class Memory>
class PoolEnd {
    using P = Pool<Memory>;
    using State = typename P::State;

public:
    /// Runs all that `root` has to run, with those inside it, which are gone then. What a cleanup
    /// of the pool itself makes inside it lives on in a pool that is only cleared, and must not in
    /// one that is `ending`.
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
