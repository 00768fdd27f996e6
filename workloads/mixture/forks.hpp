// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A child that works on with what it has inherited, while its parent waits for it and the parent's
// other threads go on.
#pragma once

namespace heapwright::workloads {

/// Runs `work(context)` in a child. What is wrong there is wrong here: the process leaves with the
/// child's status, or says what it died of.
void inChildProcess(void (*work)(void*), void* context);

template <class Work>
void inChild(const Work& work) {
    inChildProcess([](void* context) { (*static_cast<const Work*>(context))(); },
                   const_cast<Work*>(&work));
}

} // namespace heapwright::workloads
