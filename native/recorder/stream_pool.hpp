// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The state of each thread, and the pool of the streams that threads write events through.
//
// A thread's state is a word in its own storage:
// - idle: the next call is the program's;
// - careful: the same, for a thread off the common path (stacks, a sample, after its exit hook);
// - inside: the call was made inside another one, such as malloc by operator new. It is forwarded
//   and not recorded;
// - writing: the call came from a signal handler that interrupted a record. It is forwarded and
//   counted as lost;
// - fresh: the thread has made no call yet.
// One comparison with `idle` finds every case off the common path.
//
// Invariant: the encoder (3 KiB) is in a pool of mapped pages, because thread storage would take
// that space from small stacks. The stream returns to the pool when the thread exits. Each later
// call of that thread uses a block of its own.
#pragma once

#include "trace/encoder.hpp"

#include <cstddef>
#include <cstdint>
#include <heapwright/sync/futex_lock.hpp>

namespace heapwright::recorder {

enum class State : std::uint32_t { fresh, idle, careful, inside, writing };

struct Stream {
    trace::Encoder encoder;
    Stream* nextFree;
    void* tables; ///< of the encoder, for events with stacks; kept when the stream is returned
};

struct Thread {
    Stream* stream;
    State state;
    State rest;             ///< between calls: idle or careful
    std::uint32_t number;   ///< one more than the thread's in the trace; 0 = it has none
    std::uint32_t sequence; ///< of its next block
    std::uint32_t process;  ///< the recording's generation in which the number was given
    std::uint32_t lost;     ///< events that no block reports yet
    std::uint8_t sizeShift; ///< of its next block
    bool over;              ///< its end hook has run
};

/// Has no block and no room: so a thread without a stream needs no test of its own.
extern Stream noStream;

extern constinit thread_local Thread thisThread __attribute__((tls_model("initial-exec")));

/// Streams without a thread. A thread takes the lock twice in its life, for a few instructions.
/// A thread that finds the lock taken sleeps: with ten thousand spinning threads, none advances.
class StreamPool {
public:
    Stream* take() noexcept {
        lock_.lock();
        if (free_ == nullptr) {
            grow();
        }
        Stream* const taken = free_;
        if (taken != nullptr) {
            free_ = taken->nextFree;
        }
        lock_.unlock();
        return taken;
    }

    void give(Stream* stream) noexcept {
        lock_.lock();
        stream->nextFree = free_;
        free_ = stream;
        lock_.unlock();
    }

    /// Called in the forked child. Another thread of the parent may have held the lock. The streams
    /// on the list are lost.
    void startAgain() noexcept {
        free_ = nullptr;
        lock_.reset();
    }

private:
    static constexpr std::size_t bytes = 64 << 10; ///< of which little may ever be touched
    static constexpr std::size_t atOnce = bytes / sizeof(Stream);

    void grow() noexcept;

    FutexLock lock_;
    Stream* free_ = nullptr;
};

extern constinit StreamPool streamPool;

/// The number of forks between the first process and this one, plus 1.
extern constinit std::uint32_t forkGeneration;

/// In the child of a fork: the streams are the parent's.
void forgetStreamsOfParent() noexcept;

/// The calling thread's number in the trace; 0 if it has none.
std::uint32_t numberOfThisThread() noexcept;

} // namespace heapwright::recorder
