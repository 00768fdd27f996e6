// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See stream_pool.hpp.
#include "stream_pool.hpp"

#include <heapwright/platform/pages.hpp>

#include <sys/mman.h>

namespace heapwright::recorder {

constinit Stream noStream = {};
constinit thread_local Thread thisThread = {&noStream, State::fresh, State::idle, 0, 0, 0, 0,
                                            0,         false};

constinit StreamPool streamPool;
constinit std::uint32_t forkGeneration = 1;

void StreamPool::grow() noexcept {
    void* const pages = platform::reservePages(bytes);
    if (pages != nullptr) { // a child has no stream, however it was forked
        ::madvise(pages, bytes, MADV_WIPEONFORK);
    }
    for (std::size_t i = 0; pages != nullptr && i < atOnce; ++i) {
        Stream* const each = static_cast<Stream*>(pages) + i;
        each->nextFree = free_;
        free_ = each;
    }
}

void forgetStreamsOfParent() noexcept {
    streamPool.startAgain();
    ++forkGeneration;
    Thread& self = thisThread;
    self.stream = &noStream;
    self.lost = 0;
}

std::uint32_t numberOfThisThread() noexcept {
    return thisThread.number == 0 ? 0 : thisThread.number - 1;
}

} // namespace heapwright::recorder
