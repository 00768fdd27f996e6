// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The loaded objects whose code has been met in a chain of calls, kept to find unwinding tables and
// written to the trace as they are met, so that addresses can be named after the process is gone.
//
// Invariants: an entry is complete before it is counted. One thread at a time adds; another one
// that comes then does not wait but does without. Cost: of a new object some calls to the system;
// looking one up goes through the list and is done once per address of code.
#pragma once

#include "host.hpp"
#include "image.hpp"

#include "trace/layout.hpp"
#include "trace/stacks.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwright::recorder::stacks {

class ModuleTable {
public:
    /// False where the system has no memory.
    bool begin(const Host& host) noexcept;

    enum class Found : std::uint8_t { yes, no, later };

    /// The object that an address lies in; `later` if it could not be noted now.
    Found find(std::uint64_t address, Image& image) noexcept;

    /// Looks which of them are gone; true if any is.
    bool dropUnloaded() noexcept;

    /// In the child of a fork: the objects are known from the parent, whose blocks are not ours.
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
    Entry* entries_ = nullptr;
    std::atomic<std::size_t> count_{0};
    std::atomic<bool> adding_{false};
    trace::BlockHeader* block_ = nullptr;
};

} // namespace heapwright::recorder::stacks
