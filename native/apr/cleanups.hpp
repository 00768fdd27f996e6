// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The cleanups of a pool: functions with their data, called newest first before the pool's memory
// is freed. A record is removed from the list before its function is called. The function may
// therefore register others, which are called next, unregister others, or clear the whole pool.
//
// The records are allocated in the pool.
// Cost: constant; unregistering is linear in the later records.
#pragma once

#include <apr_errno.h>

namespace heapwright::apr {

using CleanupFunction = apr_status_t (*)(void*);

struct Cleanup {
    Cleanup* next;
    const void* data;
    CleanupFunction plain; ///< called when the pool is cleared or destroyed
    CleanupFunction child; ///< called in a child process that is about to exec
};

class CleanupList {
public:
    void push(Cleanup* record) noexcept {
        record->next = first_;
        first_ = record;
    }

    /// Removes and returns the newest record; null if there is none.
    Cleanup* pop() noexcept {
        Cleanup* const record = first_;
        if (record != nullptr) {
            first_ = record->next;
        }
        return record;
    }

    /// The newest record of this function and data; null if there is none.
    [[nodiscard]] Cleanup* find(const void* data, CleanupFunction plain) noexcept {
        return *linkTo(data, plain);
    }

    /// As `find`, and removes the record.
    Cleanup* take(const void* data, CleanupFunction plain) noexcept {
        Cleanup** const link = linkTo(data, plain);
        Cleanup* const record = *link;
        if (record != nullptr) {
            *link = record->next;
        }
        return record;
    }

    /// Calls all plain functions, including those registered meanwhile.
    void run() {
        while (const Cleanup* const record = pop()) {
            record->plain(const_cast<void*>(record->data));
        }
    }

    /// Calls all functions for a child process.
    void runForChild() {
        while (const Cleanup* const record = pop()) {
            record->child(const_cast<void*>(record->data));
        }
    }

    void forget() noexcept { first_ = nullptr; }

private:
    Cleanup** linkTo(const void* data, CleanupFunction plain) noexcept {
        Cleanup** link = &first_;
        while (*link != nullptr && ((*link)->data != data || (*link)->plain != plain)) {
            link = &(*link)->next;
        }
        return link;
    }

    Cleanup* first_ = nullptr;
};

} // namespace heapwright::apr
