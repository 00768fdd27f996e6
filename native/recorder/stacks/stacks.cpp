// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The state shared by the threads, and the state of each thread. A thread has its chain, on pages
// mapped at its first capture, and the limits of its stack.
#include "stacks.hpp"

#include "chain.hpp"
#include "python_chain.hpp"

#include <heapwright/platform/pages.hpp>

#include <atomic>
#include <new>

namespace heapwright::recorder::stacks {

namespace {

/// One thread's. A signal handler that comes in the middle finds `busy` and does without.
struct ThreadStacks {
    StackMemory memory;
    Chain* chain;
    PythonChain* python; ///< null until the thread has met an interpreter
    std::uint32_t generation;
    bool busy;
};

/// All of it lies still until `begin`.
struct Shared {
    Rows rows;
    NodeTable nodes;
    Python python;
    std::atomic<std::uint32_t> generation{0};
    std::atomic<bool> on{false};
};

constinit Shared shared;

// In the initial-exec model no access allocates.
[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadStacks mine{};

template <class T>
constexpr std::size_t bytesOf = (sizeof(T) + 4095) & ~std::size_t{4095};

/// An object on pages of its own, which are zero at first; null if there are none.
template <class T>
T* make() {
    void* const pages = platform::reservePages(bytesOf<T>);
    return pages != nullptr ? ::new (pages) T : nullptr;
}

class Busy {
public:
    Busy() noexcept {
        mine.busy = true;
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;
    ~Busy() {
        std::atomic_signal_fence(std::memory_order_seq_cst);
        mine.busy = false;
    }
};

/// The number of the chain that was just taken, with the functions of Python.
[[gnu::noinline]] StackId withPython(StackId plain) noexcept {
    if (mine.python == nullptr) {
        mine.python = make<PythonChain>();
        if (mine.python == nullptr) {
            return plain;
        }
    }
    return mine.python->take(*mine.chain, plain, shared.python, shared.nodes);
}

} // namespace

bool begin(const Host& host) noexcept {
    shared.python.begin(host);
    if (shared.rows.begin(host, shared.python) && shared.nodes.begin(host)) {
        shared.on.store(true, std::memory_order_release);
    }
    return shared.on.load(std::memory_order_relaxed);
}

StackId capture(const void* frame) noexcept {
    if (!shared.on.load(std::memory_order_acquire) || mine.busy) {
        return noStack;
    }
    const Busy busy;
    if (mine.chain == nullptr) [[unlikely]] {
        mine.chain = make<Chain>();
        if (mine.chain == nullptr) {
            return noStack;
        }
    }
    const std::uint32_t generation = shared.generation.load(std::memory_order_acquire);
    if (mine.generation != generation) [[unlikely]] {
        mine.generation = generation;
        mine.chain->forget(shared.nodes);
        if (mine.python != nullptr) {
            mine.python->forget();
        }
    }
    const StackId plain = mine.chain->take(reinterpret_cast<std::uint64_t>(frame), mine.memory,
                                           shared.rows, shared.nodes);
    if (!shared.python.isThere()) [[likely]] {
        return plain;
    }
    return withPython(plain);
}

std::size_t addressesOf(StackId stack, std::uint64_t* addresses, std::size_t most) noexcept {
    std::size_t count = 0;
    for (std::uint32_t node = stack; node != noStack && count < most; ++count) {
        const NodeTable::Node& call = shared.nodes.at(node);
        addresses[count] = call.address;
        node = call.parent;
    }
    return count;
}

void noteModulesChanged() noexcept {
    if (!shared.on.load(std::memory_order_acquire)) {
        return;
    }
    if (shared.rows.forgetUnloaded()) {
        shared.nodes.forget();
        shared.generation.fetch_add(1, std::memory_order_acq_rel);
    }
}

void afterForkInChild() noexcept {
    shared.rows.afterForkInChild();
    shared.python.afterForkInChild();
    if (mine.chain != nullptr) {
        mine.chain->abandon();
    }
}

void endThread() noexcept {
    if (mine.chain == nullptr || mine.busy) {
        return;
    }
    Chain* const chain = mine.chain;
    mine.chain = nullptr;
    chain->close(shared.nodes);
    platform::unmapPages(chain, bytesOf<Chain>);
    PythonChain* const python = mine.python;
    mine.python = nullptr;
    if (python != nullptr) {
        platform::unmapPages(python, bytesOf<PythonChain>);
    }
}

} // namespace heapwright::recorder::stacks
