// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "fibers.hpp"

namespace heapwright::testing::model {
namespace {

// What `makecontext` starts can be given integers only.
Fibers::Body nextBody;
std::size_t nextFiber;

void start() {
    nextBody(nextFiber);
}

} // namespace

void Fibers::make(std::size_t fiber, Body body) {
    if (stacks_[fiber] == nullptr) {
        stacks_[fiber] = std::make_unique<std::byte[]>(stackSize);
    }
    ucontext_t& context = contexts_[fiber];
    ::getcontext(&context);
    context.uc_stack.ss_sp = stacks_[fiber].get();
    context.uc_stack.ss_size = stackSize;
    context.uc_link = nullptr;
    ::makecontext(&context, &start, 0);
    nextBody = body;
}

void Fibers::switchTo(std::size_t fiber) {
    const std::size_t from = running_;
    running_ = fiber;
    nextFiber = fiber;
    ::swapcontext(&contexts_[from], &contexts_[fiber]);
}

} // namespace heapwright::testing::model
