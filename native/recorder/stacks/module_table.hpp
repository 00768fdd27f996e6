// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The loaded objects that contain addresses of call chains. The table serves to find unwinding
// tables. Each object is also written to the trace when it is first met, so that addresses can be
// resolved after the process has ended.
//
// Invariant: an entry is complete before it is counted. One thread at a time adds; a second thread
// does not wait and gets no entry.
// Cost: some system calls per new object. A lookup scans the list, once per code address.
#pragma once

#include "host.hpp"
#include "image.hpp"
#include "python.hpp"

#include "trace/layout.hpp"
#include "trace/stacks.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwright::recorder::stacks {

class ModuleTable {
public:
    /// `python` sees each new object. False where the system has no memory.
    bool begin(const Host& host, Python& python) noexcept;

    enum class Found : std::uint8_t { yes, no, later };

    /// The object that an address lies in; `later` if it could not be noted now.
    Found find(std::uint64_t address, Image& image) noexcept;

    /// Looks which of them are gone; true if any is.
    bool dropUnloaded() noexcept;

    /// In the child of a fork: the objects are known from the parent, but the blocks remain the
    /// parent's.
    void afterForkInChild() noexcept;

private:
    static constexpr std::size_t most = 4096;
    static constexpr std::size_t blockBytes = 4096;

    struct Entry {
        Image image;
        trace::ModuleLoaded* record; ///< in the trace; null if the parent has written it
        std::atomic<bool> gone;
    };

    Found add(std::uint64_t address, Image& image) noexcept;
    trace::ModuleLoaded* write(const Image& image) noexcept;

    Host host_{};
    Python* python_ = nullptr;
    Entry* entries_ = nullptr;
    std::atomic<std::size_t> count_{0};
    std::atomic<bool> adding_{false};
    trace::BlockHeader* block_ = nullptr;
};

} // namespace heapwright::recorder::stacks
