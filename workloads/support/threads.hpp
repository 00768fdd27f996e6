// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a thread in the middle of a workload and waits for it.
#pragma once

#include "fatal_error.hpp"

#include <pthread.h>

namespace heapwright::workloads {

/// Runs `work()` in a thread. `index` and `of` are for the message if it cannot be started.
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
