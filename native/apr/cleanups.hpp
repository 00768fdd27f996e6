// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What a pool shall do before its memory goes: functions with their data, the last registered
// first. A record is taken off the list before its function is called, so that the function may
// register others, which come next, take others back, or empty the whole pool.
//
// The records stand in the pool. Cost: constant, to take one back linear in those after it.
#pragma once

#include <apr_errno.h>

namespace heapwright::apr {

using CleanupFunction = apr_status_t (*)(void*);

struct Cleanup {
    Cleanup* next;
    const void* data;
    CleanupFunction plain; ///< when the pool is cleared or destroyed
    CleanupFunction child; ///< in a child process that is about to execute another program
};

class CleanupList {
public:
    void push(Cleanup* record) noexcept {
        record->next = first_;
        first_ = record;
    }

    /// The newest one, off the list; null if there is none.
    Cleanup* pop() noexcept {
        Cleanup* const record = first_;
        if (record != nullptr) {
            first_ = record->next;
        }
        return record;
    }

    /// The newest of this function and data; null if there is none.
    [[nodiscard]] Cleanup* find(const void* data, CleanupFunction plain) noexcept {
        return *linkTo(data, plain);
    }

    /// The same, off the list.
    Cleanup* take(const void* data, CleanupFunction plain) noexcept {
        Cleanup** const link = linkTo(data, plain);
        Cleanup* const record = *link;
        if (record != nullptr) {
            *link = record->next;
        }
        return record;
    }

    /// Calls all plain functions, also those that are registered meanwhile.
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
