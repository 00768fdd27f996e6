// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A thread's last call chain with Python functions in it. Each C function that executes
// them is replaced by them. All other C functions of the interpreter stay.
//
// The chain is built anew for each allocation, as a Python call does not always change the C stack.
// Its outer part that is equal to the last one has known nodes. Like other chains it is cut when it
// is too long.
//
// Cost: without frames of Python one call. Otherwise some 450 instructions for each frame of
// Python, and 30 for each of C.
#pragma once

#include "chain.hpp"
#include "checked_memory.hpp"
#include "python.hpp"

#include <array>

namespace heapwright::recorder::stacks {

class PythonChain {
public:
    /// The number of the chain that `chain` has taken last, with the functions of Python. `plain`
    /// is its number without them.
    StackId take(Chain& chain, StackId plain, Python& python, NodeTable& nodes) noexcept;

    /// Nothing that was is to be believed.
    void forget() noexcept { count_ = 0; }

private:
    static constexpr std::size_t most = Chain::most;

    /// Fills `merged_`; false if it is cut.
    [[nodiscard]] bool merge(const Chain& chain, std::size_t frames) noexcept;
    bool append(std::uint64_t address) noexcept;

    struct Named {
        std::uint64_t address;
        std::uint32_t node;
    };

    CheckedMemory memory_;
    std::size_t length_ = 0; ///< of `merged_`
    std::size_t count_ = 0;  ///< of `last_`
    std::array<PythonFrame, most> frames_;
    std::array<std::uint64_t, most> merged_; ///< addresses, innermost first
    std::array<Named, most> last_;           ///< the last chain, outermost first
};

} // namespace heapwright::recorder::stacks
