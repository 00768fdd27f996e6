// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A thread that a workload starts in the middle of its run, and waits for.
#pragma once

#include "fatal_error.hpp"

#include <pthread.h>

namespace heapwright::workloads {

/// Runs `work()` in a thread of its own. `index` and `of` are for the message if it cannot be
/// started.
template <class Work>
void inThread(unsigned index, unsigned of, const Work& work) {
    pthread_t thread{};
    const int error = pthread_create(
        &thread, nullptr,
        [](void* context) -> void* {
            (*static_cast<const Work*>(context))();
            return nullptr;
        },
        const_cast<Work*>(&work));
    if (error != 0) {
        notStarted("thread", index + 1, of, error);
    }
    pthread_join(thread, nullptr);
}

} // namespace heapwright::workloads
