// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Replaces the recorder. It takes the blocks that the stack table requests, and reads chains out of
// them as a reader of the trace would.
#pragma once

#include "recorder/stacks/stacks.hpp"
#include "trace/layout.hpp"
#include "trace/stack_nodes.hpp"

#include <atomic>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <string>
#include <sys/mman.h>
#include <vector>

namespace heapwright::recorder::stacks::test {

class FakeHost {
public:
    static Host host() { return {&claim, &release, &now}; }

    /// The addresses of a chain, innermost first.
    static std::vector<std::uint64_t> chain(StackId id) {
        std::vector<std::uint64_t> addresses;
        const std::map<StackId, trace::StackNode> all = nodes();
        while (id != noStack) {
            const auto node = all.find(id);
            if (node == all.end() || node->second.parent >= id) {
                addresses.push_back(0); // so that no comparison holds
                break;
            }
            addresses.push_back(node->second.address);
            id = node->second.parent;
        }
        return addresses;
    }

    /// All modules that were written, the path of each by where it begins.
    static std::map<std::uint64_t, std::string> modules() {
        std::map<std::uint64_t, std::string> found;
        const std::lock_guard guard(mutex_);
        for (const std::byte* block : blocks_[1]) {
            const auto* const header = reinterpret_cast<const trace::BlockHeader*>(block);
            std::size_t at = sizeof *header;
            for (std::uint64_t i = header->published >> 32U; i > 0; --i) {
                trace::RecordHeader record{};
                trace::ModuleLoaded module{};
                std::memcpy(&record, block + at, sizeof record);
                std::memcpy(&module, block + at + sizeof record, sizeof module);
                const auto* const path = reinterpret_cast<const char*>(
                    block + at + sizeof record + sizeof module + module.buildIdLength);
                found[module.begin] = std::string(path, module.pathLength);
                at += (sizeof record + record.length + 7) & ~std::size_t{7};
            }
        }
        return found;
    }

    static std::vector<const std::byte*> blocks(Table table) {
        const std::lock_guard guard(mutex_);
        const auto& all = blocks_[static_cast<std::size_t>(table)];
        return {all.begin(), all.end()};
    }

    /// From now on only a limited number of further blocks is granted.
    static void allow(int more) { allowed_ = more; }

private:
    static void* claim(Table table, std::size_t bytes) noexcept {
        if (allowed_.fetch_sub(1) <= 0) {
            return nullptr;
        }
        void* const pages =
            ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        auto* const header = static_cast<trace::BlockHeader*>(pages);
        header->magic = trace::blockMagic;
        header->state = trace::state::open;
        header->sizeShift = static_cast<std::uint8_t>(__builtin_ctzl(bytes / trace::pageSize));
        const std::lock_guard guard(mutex_);
        blocks_[static_cast<std::size_t>(table)].push_back(static_cast<std::byte*>(pages));
        return pages;
    }

    static void release(void*, std::size_t) noexcept {} // they are still to be read

    static std::uint64_t now() noexcept { return ++ticks_; }

    /// All that the blocks say.
    static std::map<StackId, trace::StackNode> nodes() {
        const std::lock_guard guard(mutex_);
        std::map<StackId, trace::StackNode> found;
        for (std::byte* block : blocks_[0]) {
            auto* const header = reinterpret_cast<trace::BlockHeader*>(block);
            const std::atomic_ref published(header->published);
            if (published.load(std::memory_order_acquire) == 0) {
                continue; // its thread has yet to begin it
            }
            trace::RecordHeader record{};
            std::memcpy(&record, block + sizeof(trace::BlockHeader), sizeof record);
            trace::NodeReader reader(
                {block + sizeof(trace::BlockHeader) + sizeof record, record.length});
            for (trace::StackNode node{}; reader.next(node);) {
                EXPECT_TRUE(found.emplace(node.number, node).second);
            }
        }
        return found;
    }

    inline static std::mutex mutex_;
    inline static std::vector<std::byte*> blocks_[2];
    inline static std::atomic<std::uint64_t> ticks_{0};
    inline static std::atomic<int> allowed_{1 << 20};
};

} // namespace heapwright::recorder::stacks::test
