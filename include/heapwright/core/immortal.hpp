// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A static object that is never destroyed. The heap of a process must outlive everything that may
// still free memory into it. Examples are destructors of static objects, of thread keys and of
// other libraries. It is initialised at compile time, so it exists before the first line of the
// program runs.
#pragma once

namespace heapwright {

/// Holds a `T` whose destructor never runs; declare it `constinit`.
template <class T>
union Immortal {
    constexpr Immortal() noexcept : object{} {}
    Immortal(const Immortal&) = delete;
    Immortal& operator=(const Immortal&) = delete;
    ~Immortal() {} // NOLINT(modernize-use-equals-default): a defaulted one would be deleted

    T object;
};

} // namespace heapwright
