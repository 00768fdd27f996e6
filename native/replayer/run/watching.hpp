// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The policy of a replay that is watched: checked, or its live bytes written down. What happens
// from the moment an object is taken until its bytes are counted out is told under one lock for all
// threads, so its times mean nothing, and none are taken.
#pragma once

#include "check.hpp"
#include "curve.hpp"

#include "trace/event.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace heapwright::replayer {

/// What the watchers of all threads share; null is what is not asked for.
struct Watched {
    Check* check = nullptr;
    Curve* curve = nullptr;
    std::mutex mutex{}; ///< around the curve
};

class Watching {
public:
    static constexpr bool timed = false;

    explicit Watching(Watched& watched) : watched_(&watched) {}

    void gave(trace::Routine routine, void* object, std::size_t size, std::size_t alignment) {
        if (watched_->check != nullptr) {
            watched_->check->gave(routine, object, size, alignment);
        }
        change(signedOf(size), 1, true);
    }

    /// `recorded`: there was such a call in the trace.
    void takes(void* object, std::size_t size, bool recorded) {
        if (watched_->check != nullptr) {
            watched_->check->takes(object, size);
        }
        change(-signedOf(size), object != nullptr ? -1 : 0, recorded);
    }

    void resizes(void* object, std::size_t size) {
        old_ = object;
        if (watched_->check != nullptr) {
            watched_->check->resizes(object, size);
        }
    }

    void kept(void* object, std::size_t size) {
        if (watched_->check != nullptr) {
            watched_->check->kept(object, size);
        }
        change(0, 0, true);
    }

    /// `released`: the old size was already counted out.
    void resized(void* object, std::size_t oldSize, std::size_t size, bool released) {
        if (watched_->check != nullptr) {
            watched_->check->resized(object, old_, oldSize, size);
        }
        const bool was = old_ != nullptr && !released;
        change(signedOf(size) - (was ? signedOf(oldSize) : 0),
               (object != nullptr ? 1 : 0) - (was ? 1 : 0), true);
    }

    void skipped() { change(0, 0, true); }
    void releasing(std::size_t size) { change(-signedOf(size), -1, false); }

private:
    static std::int64_t signedOf(std::size_t size) { return static_cast<std::int64_t>(size); }

    void change(std::int64_t bytes, std::int64_t objects, bool operation) {
        if (watched_->curve != nullptr) {
            const std::lock_guard lock(watched_->mutex);
            watched_->curve->change(bytes, objects, operation);
        }
    }

    Watched* watched_;
    const void* old_ = nullptr;
};

} // namespace heapwright::replayer
