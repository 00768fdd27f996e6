// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The processes that a pool ends, and how (apr_thread_proc.h, `apr_kill_conditions_e`).
//
// All get their signal before the pool waits for any, so that they end at the same time. A process
// with a timeout has three seconds after its signal, and is checked at growing intervals.
// Cost: the time that the processes take to end.
#pragma once

#include <apr_thread_proc.h>
#include <apr_time.h>

#include <csignal>

namespace heapwright::apr {

/// Lies in the pool.
struct ProcessNote {
    ProcessNote* next;
    apr_proc_t* process;
    apr_kill_conditions_e how; ///< APR_KILL_NEVER when it has ended
};

namespace processes {

constexpr apr_interval_time_t grace = apr_time_from_sec(3);
constexpr apr_interval_time_t firstLook = grace / 64;

/// Collects the processes that have ended. Returns true if one with a timeout has not.
inline bool collect(ProcessNote* first) {
    bool anyLeft = false;
    for (ProcessNote* note = first; note != nullptr; note = note->next) {
        if (note->how == APR_KILL_NEVER) {
            continue;
        }
        if (apr_proc_wait(note->process, nullptr, nullptr, APR_NOWAIT) != APR_CHILD_NOTDONE) {
            note->how = APR_KILL_NEVER;
        } else {
            anyLeft |= note->how == APR_KILL_AFTER_TIMEOUT;
        }
    }
    return anyLeft;
}

inline void tell(const ProcessNote* first) {
    for (const ProcessNote* note = first; note != nullptr; note = note->next) {
        if (note->how == APR_KILL_ALWAYS) {
            apr_proc_kill(note->process, SIGKILL);
        } else if (note->how == APR_KILL_AFTER_TIMEOUT || note->how == APR_KILL_ONLY_ONCE) {
            apr_proc_kill(note->process, SIGTERM);
        }
    }
}

inline void wait(const ProcessNote* first) {
    for (const ProcessNote* note = first; note != nullptr; note = note->next) {
        if (note->how == APR_KILL_AFTER_TIMEOUT) {
            apr_proc_kill(note->process, SIGKILL);
        }
    }
    for (const ProcessNote* note = first; note != nullptr; note = note->next) {
        if (note->how != APR_KILL_NEVER) {
            apr_proc_wait(note->process, nullptr, nullptr, APR_WAIT);
        }
    }
}

/// Ends all processes, each as registered, and collects them.
inline void end(ProcessNote* first) {
    for (ProcessNote* note = first; note != nullptr; note = note->next) { // of any kind
        if (apr_proc_wait(note->process, nullptr, nullptr, APR_NOWAIT) != APR_CHILD_NOTDONE) {
            note->how = APR_KILL_NEVER;
        }
    }
    tell(first);
    apr_interval_time_t waited = 0;
    for (apr_interval_time_t look = firstLook; waited < grace && collect(first); look *= 2) {
        const apr_interval_time_t left = grace - waited;
        const apr_interval_time_t next = look < left ? look : left;
        apr_sleep(next);
        waited += next;
    }
    wait(first);
}

} // namespace processes

} // namespace heapwright::apr
