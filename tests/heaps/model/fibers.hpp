// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads that are none: contexts of one real thread, of which one runs until it hands over to
// another. So a run takes place in one and the same order whenever it is repeated, and costs no
// more than the calls in it.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <ucontext.h>

namespace heapwright::testing::model {

class Fibers {
public:
    static constexpr std::size_t most = 8;
    /// The context that started the others.
    static constexpr std::size_t main = most;

    /// What a fiber does; it must not return but hand over for good.
    using Body = void (*)(std::size_t fiber);

    /// Makes a fiber ready to begin with its body.
    void make(std::size_t fiber, Body body);

    /// Leaves the fiber that runs, to continue in another one. Returns when another fiber switches
    /// to it.
    void switchTo(std::size_t fiber);

    [[nodiscard]] std::size_t running() const { return running_; }

private:
    static constexpr std::size_t stackSize = std::size_t{256} << 10U;

    std::array<ucontext_t, most + 1> contexts_{};
    std::array<std::unique_ptr<std::byte[]>, most> stacks_;
    std::size_t running_ = main;
};

} // namespace heapwright::testing::model
