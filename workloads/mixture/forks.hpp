// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A child that continues with the heap it inherited, while its parent waits for it and the parent's
// other threads continue.
#pragma once

namespace heapwright::workloads {

/// Runs `work(context)` in a child. If the child fails, the process exits with the child's status,
/// or reports the signal that ended it.
void inChildProcess(void (*work)(void*), void* context);

template <class Work>
void inChild(const Work& work) {
    inChildProcess([](void* context) { (*static_cast<const Work*>(context))(); },
                   const_cast<Work*>(&work));
}

} // namespace heapwright::workloads
