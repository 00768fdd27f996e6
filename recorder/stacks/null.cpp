// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Stacks on a processor whose stacks cannot be read yet: none is ever taken.
#include "stacks.hpp"

namespace heapwright::stacks {

bool begin(const Host&) noexcept {
    return false;
}

StackId capture(const void*) noexcept {
    return noStack;
}

void noteModulesChanged() noexcept {}

void afterForkInChild() noexcept {}

void endThread() noexcept {}

} // namespace heapwright::stacks
