// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The parts of the functions of apr_pools.h outside a pool. These are APR's status codes, and the
// root pool of the process, which is the parent of all pools created without one.
//
// Invariant: the root pool exists from the first `initialize` to the last `terminate`. It owns its
// allocator, which has a mutex, because all threads allocate there.
#pragma once

#include <apr/pool.hpp>
#include <apr/printing.hpp>
#include <heapwright/c/apr.h>

#include <apr_allocator.h>
#include <apr_errno.h>
#include <apr_hash.h>
#include <apr_pools.h>
#include <apr_strings.h>
#include <apr_thread_mutex.h>

#include <cstdarg>
#include <cstddef>
#include <cstring>

namespace heapwright::apr {

template <class PoolType, class AllocatorType>
class EntryPoints {
public:
    static apr_status_t initialize() {
        if (users_++ != 0) {
            return APR_SUCCESS;
        }
        const apr_status_t status = makeFirst();
        if (status != APR_SUCCESS) {
            users_ = 0;
        }
        return status;
    }

    static void terminate() {
        if (users_ == 0 || --users_ != 0) {
            return;
        }
        first_->destroy();
        first_ = nullptr;
    }

    static apr_status_t create(PoolType** made, PoolType* parent, apr_abortfunc_t abort,
                               AllocatorType* allocator) {
        *made = nullptr;
        if (parent == nullptr) {
            parent = first_;
        }
        if (parent == nullptr) {
            return APR_ENOPOOL;
        }
        if (abort == nullptr) {
            abort = parent->abortFunction();
        }
        typename PoolType::Allocator& from =
            allocator != nullptr ? *allocator : parent->allocator();
        *made = PoolType::template make<PoolType>(parent, abort, from);
        return *made == nullptr ? APR_ENOMEM : APR_SUCCESS;
    }

    static apr_status_t createUnmanaged(PoolType** made, apr_abortfunc_t abort,
                                        AllocatorType* allocator) {
        *made = nullptr;
        if (users_ == 0) {
            return APR_ENOPOOL;
        }
        AllocatorType* const from =
            allocator != nullptr ? allocator : AllocatorType::template make<AllocatorType>();
        if (from == nullptr) {
            if (abort != nullptr) {
                abort(APR_ENOMEM);
            }
            return APR_ENOMEM;
        }
        *made = PoolType::template make<PoolType>(nullptr, abort, *from);
        if (allocator == nullptr) {
            if (*made == nullptr) {
                AllocatorType::end(*from);
            } else {
                from->setOwner(*made);
            }
        }
        return *made == nullptr ? APR_ENOMEM : APR_SUCCESS;
    }

    static void* zeroed(PoolType* pool, std::size_t size) {
        void* const object = pool->malloc(size);
        return object == nullptr ? nullptr : std::memset(object, 0, size);
    }

    static char* print(PoolType* pool, const char* format, std::va_list arguments) {
        PrintedText text(pool->heap());
        char* const printed = text.print(format, arguments);
        return printed != nullptr ? printed : static_cast<char*>(pool->exhausted());
    }

    static bool isAncestor(const PoolType* above, const PoolType* below) noexcept {
        return above == nullptr || (below != nullptr && below->isInside(above));
    }

    /// Copies a new key if `copying`.
    static apr_status_t setUserData(const void* data, const char* key, CleanupFunction cleanup,
                                    PoolType* pool, bool copying) {
        apr_hash_t*& table = pool->userData();
        if (table == nullptr) {
            table = apr_hash_make(pool);
        }
        if (copying && apr_hash_get(table, key, APR_HASH_KEY_STRING) == nullptr) {
            key = apr_pstrdup(pool, key);
        }
        apr_hash_set(table, key, APR_HASH_KEY_STRING, data);
        if (cleanup != nullptr) {
            pool->addCleanup(data, cleanup, cleanup);
        }
        return APR_SUCCESS;
    }

    static apr_status_t userData(void** data, const char* key, PoolType* pool) {
        apr_hash_t* const table = pool->userData();
        *data = table == nullptr ? nullptr : apr_hash_get(table, key, APR_HASH_KEY_STRING);
        return APR_SUCCESS;
    }

    static void cleanUpForChild() {
        if (first_ != nullptr) {
            first_->cleanUpForChild();
        }
    }

private:
    static apr_status_t makeFirst() {
        auto* const allocator = AllocatorType::template make<AllocatorType>();
        if (allocator == nullptr) {
            return APR_ENOMEM;
        }
        PoolType* const pool = PoolType::template make<PoolType>(nullptr, nullptr, *allocator);
        if (pool == nullptr) {
            AllocatorType::end(*allocator);
            return APR_ENOMEM;
        }
        pool->setTag("APR global pool");
        allocator->setOwner(pool);
        apr_thread_mutex_t* mutex = nullptr;
        const apr_status_t status = apr_thread_mutex_create(&mutex, APR_THREAD_MUTEX_DEFAULT, pool);
        if (status != APR_SUCCESS) {
            pool->destroy();
            return status;
        }
        allocator->setMutex(mutex);
        first_ = pool;
        return APR_SUCCESS;
    }

    static inline PoolType* first_ = nullptr;
    static inline unsigned users_ = 0; ///< number of `initialize` calls without a `terminate`
};

} // namespace heapwright::apr
