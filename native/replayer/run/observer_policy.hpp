// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The policy of a replay that is checked or whose live bytes are recorded. One lock for all threads
// covers each change of the curve. Times would be distorted by it and are not taken.
#pragma once

#include "check.hpp"
#include "curve.hpp"

#include "trace/event.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace heapwright::replayer {

/// The observers that all threads share. Null if not requested.
struct Observers {
    Check* check = nullptr;
    Curve* curve = nullptr;
    std::mutex mutex{}; ///< around the curve
};

class ObserverPolicy {
public:
    static constexpr bool timed = false;

    explicit ObserverPolicy(Observers& observers) : observers_(&observers) {}

    void allocated(trace::Routine routine, void* object, std::size_t size, std::size_t alignment) {
        if (observers_->check != nullptr) {
            observers_->check->allocated(routine, object, size, alignment);
        }
        change(signedOf(size), 1, true);
    }

    /// `recorded`: the trace has this call.
    void freeing(void* object, std::size_t size, bool recorded) {
        if (observers_->check != nullptr) {
            observers_->check->freeing(object, size);
        }
        change(-signedOf(size), object != nullptr ? -1 : 0, recorded);
    }

    void reallocating(void* object, std::size_t size) {
        old_ = object;
        if (observers_->check != nullptr) {
            observers_->check->reallocating(object, size);
        }
    }

    void reallocFailed(void* object, std::size_t size) {
        if (observers_->check != nullptr) {
            observers_->check->reallocFailed(object, size);
        }
        change(0, 0, true);
    }

    /// `released`: the old size has already been subtracted.
    void reallocated(void* object, std::size_t oldSize, std::size_t size, bool released) {
        if (observers_->check != nullptr) {
            observers_->check->reallocated(object, old_, oldSize, size);
        }
        const bool was = old_ != nullptr && !released;
        change(signedOf(size) - (was ? signedOf(oldSize) : 0),
               (object != nullptr ? 1 : 0) - (was ? 1 : 0), true);
    }

    void skipped() { change(0, 0, true); }
    void reallocReleased(std::size_t size) { change(-signedOf(size), -1, false); }

private:
    static std::int64_t signedOf(std::size_t size) { return static_cast<std::int64_t>(size); }

    void change(std::int64_t bytes, std::int64_t objects, bool operation) {
        if (observers_->curve != nullptr) {
            const std::lock_guard lock(observers_->mutex);
            observers_->curve->change(bytes, objects, operation);
        }
    }

    Observers* observers_;
    const void* old_ = nullptr;
};

} // namespace heapwright::replayer
