// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A thread's cache as seen by another thread, which holds the heap below quiescent: the number of
// waiting objects, and the objects.
//
// A thread needs no lock for its own cache, so it may change it meanwhile. Each number is then from
// some moment. Objects are reported as far as a list could be followed. The caller reports for each
// address whether there is an object, and only then its link is read.
// Cost: a step for each object.
#pragma once

#include <heapwright/core/bulk.hpp>
#include <heapwright/core/heap_snapshot.hpp>
#include <heapwright/structure/object/object_chain.hpp>

#include <cstddef>
#include <cstdint>

namespace heapwright {

template <class Cache>
class OwnerCacheView {
    using Classes = typename Cache::ClassesKept;
    using Encoding = typename Cache::EncodingKept;

public:
    explicit OwnerCacheView(Cache& cache) noexcept : cache_(cache) {}

    /// Adds the waiting objects, and the cache itself.
    void inspect(HeapSnapshot& snapshot) const noexcept {
        HeapSnapshot::Cache sum;
        sum.thread = cache_.thread_;
        for (std::size_t index = 0; index < Classes::count; ++index) {
            const std::size_t waiting = count(index);
            snapshot.sizeClass(index, Classes::sizeOf(index)).cached += waiting;
            sum.objects += waiting;
            sum.bytes += waiting * Classes::sizeOf(index);
        }
        sum.remoteObjects = read(cache_.remoteCount_);
        sum.remoteBytes = read(cache_.remoteBytes_);
        sum.refills = read(cache_.refills_);
        sum.flushes = read(cache_.flushes_);
        snapshot.addCache(sum);
    }

    /// Runs `take` on each waiting object, and continues after it if that returns true.
    template <class Take>
    void forEachKept(Take take) const {
        for (std::size_t index = 0; index < Classes::count; ++index) {
            ObjectLink* object = read(cache_.state.heads[index]);
            while (object != Cache::listEnd() && object != nullptr && take(object)) {
                object = Encoding::peek(read(object->next), object);
            }
        }
        forEachRemote(take);
    }

    /// As `forEachKept`, for the objects that are in no list: those of other owners, and those that
    /// other threads have sent.
    template <class Take>
    void forEachRemote(Take take) const {
        for (ObjectLink* const first : {read(cache_.remote_), read(cache_.collected_)}) {
            ObjectLink* object = first;
            while (object != nullptr && take(object)) {
                object = read(object->next);
            }
        }
    }

private:
    /// The present value, which its thread may change meanwhile. Hidden from ThreadSanitizer.
    template <class Word>
    [[nodiscard, gnu::noinline]] __attribute__((no_sanitize("thread"))) static Word
    read(Word& word) noexcept {
        return *static_cast<volatile Word*>(&word);
    }

    [[nodiscard]] std::size_t count(std::size_t index) const noexcept {
        const auto most = static_cast<std::int64_t>(Cache::limits.roomFor(Classes::sizeOf(index)));
        const std::int64_t room = read(cache_.room_[index]);
        return room < 0 || room > most ? 0 : static_cast<std::size_t>(most - room);
    }

    Cache& cache_;
};

} // namespace heapwright
