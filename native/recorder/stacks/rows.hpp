// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The row for a return address: from the cache, or compiled and cached. Code without unwinding
// tables, such as code of a JIT compiler, is assumed to keep a frame pointer. The same holds for
// all code on processors other than x86-64.
#pragma once

#include "module_table.hpp"
#include "row_cache.hpp"

namespace heapwright::recorder::stacks {

class Rows {
public:
    bool begin(const Host& host, Python& python) noexcept {
        return cache_.begin(host) && modules_.begin(host, python);
    }

    /// `noRow` where there is none to be had.
    [[nodiscard]] ShortRow of(std::uint64_t returnAddress) noexcept {
        const ShortRow row = cache_.find(returnAddress);
        return row != noRow ? row : learn(returnAddress);
    }

    [[nodiscard]] Row odd(ShortRow row) const noexcept { return cache_.odd(row); }

    /// After a dlclose; true if code that had been met is gone.
    bool forgetUnloaded() noexcept {
        if (!modules_.dropUnloaded()) {
            return false;
        }
        cache_.clear();
        return true;
    }

    void afterForkInChild() noexcept { modules_.afterForkInChild(); }

private:
    [[gnu::noinline, gnu::cold]] ShortRow learn(std::uint64_t returnAddress) noexcept;

    RowCache cache_;
    ModuleTable modules_;
};

} // namespace heapwright::recorder::stacks
