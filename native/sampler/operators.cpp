// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// operator new and delete, by their names in the C++ ABI. Each forwards the call to the next
// definition: the allocator's, or the C++ runtime's, which calls malloc. Then malloc counts the
// block, and the operator does not. An exception of operator new passes through. No function here
// has anything to do after one, and none is noexcept that calls another, so this file needs no C++
// runtime.
//
// The first call looks up the next definition, not earlier: a plugin may load the runtime.
#include "recorder/operator_fallback.h"
#include "sampling.hpp"

#include <dlfcn.h>

using namespace heapwright::sampler;

namespace {

using Size = std::size_t;
using Tag = const void*;

template <class... Rest>
using New = void*(Size, Rest...);
template <class... Rest>
using Delete = void(void*, Rest...);

template <class Function>
[[gnu::cold, gnu::noinline]] Function* find(std::atomic<Function*>& known, const char* name) {
    void* found = ::dlsym(RTLD_NEXT, name);
    if (found == nullptr) {
        found = heapwright_runtime_function(name);
    }
    auto* const function = reinterpret_cast<Function*>(found);
    known.store(function, std::memory_order_relaxed);
    return function;
}

template <class... Rest>
[[gnu::always_inline]] inline void* allocate(std::atomic<New<Rest...>*>& known, const char* name,
                                             const void* frame, std::size_t alignment,
                                             std::size_t size, Rest... rest) {
    Thread& self = thisThread;
    if (self.progress.left == 0) [[unlikely]] {
        beginThread(self);
    }
    auto* function = known.load(std::memory_order_relaxed);
    if (function == nullptr) [[unlikely]] {
        function = find(known, name);
    }
    const Progress before = self.progress;
    void* const block =
        function != nullptr ? function(size, rest...) : heapwright_plain_new(size, alignment);
    if (before.left != 0 && self.progress == before) {
        count(self, block, size, frame);
    }
    return block;
}

template <class... Rest>
[[gnu::always_inline]] inline void release(std::atomic<Delete<Rest...>*>& known, const char* name,
                                           void* block, Rest... rest) {
    if (samples.mayHold(block)) [[unlikely]] {
        forget(block);
    }
    auto* function = known.load(std::memory_order_relaxed);
    if (function == nullptr) [[unlikely]] {
        function = find(known, name);
        if (function == nullptr) {
            heapwright_plain_delete(block);
            return;
        }
    }
    function(block, rest...);
}

} // namespace

// NEW(symbol, alignment, types behind the first, parameters, arguments) and DELETE: one form of an
// operator.
#define REST(...) __VA_ARGS__
#define NEW(symbol, alignment, types, parameters, ...)                                             \
    void* symbol parameters {                                                                      \
        static constinit std::atomic<New<REST types>*> known{nullptr};                             \
        return allocate(known, #symbol, __builtin_frame_address(0), alignment, __VA_ARGS__);       \
    }
#define DELETE(symbol, types, parameters, ...)                                                     \
    void symbol parameters {                                                                       \
        static constinit std::atomic<Delete<REST types>*> known{nullptr};                          \
        release(known, #symbol, __VA_ARGS__);                                                      \
    }

#pragma GCC visibility push(default)
extern "C" {

NEW(_Znwm, 0, (), (Size size), size)
NEW(_Znam, 0, (), (Size size), size)
NEW(_ZnwmRKSt9nothrow_t, 0, (Tag), (Size size, Tag tag), size, tag)
NEW(_ZnamRKSt9nothrow_t, 0, (Tag), (Size size, Tag tag), size, tag)
NEW(_ZnwmSt11align_val_t, to, (Size), (Size size, Size to), size, to)
NEW(_ZnamSt11align_val_t, to, (Size), (Size size, Size to), size, to)
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, to, (Size, Tag), (Size size, Size to, Tag tag), size, to,
    tag)
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, to, (Size, Tag), (Size size, Size to, Tag tag), size, to,
    tag)

DELETE(_ZdlPv, (), (void* block), block)
DELETE(_ZdaPv, (), (void* block), block)
DELETE(_ZdlPvm, (Size), (void* block, Size size), block, size)
DELETE(_ZdaPvm, (Size), (void* block, Size size), block, size)
DELETE(_ZdlPvRKSt9nothrow_t, (Tag), (void* block, Tag tag), block, tag)
DELETE(_ZdaPvRKSt9nothrow_t, (Tag), (void* block, Tag tag), block, tag)
DELETE(_ZdlPvSt11align_val_t, (Size), (void* block, Size to), block, to)
DELETE(_ZdaPvSt11align_val_t, (Size), (void* block, Size to), block, to)
DELETE(_ZdlPvmSt11align_val_t, (Size, Size), (void* block, Size size, Size to), block, size, to)
DELETE(_ZdaPvmSt11align_val_t, (Size, Size), (void* block, Size size, Size to), block, size, to)
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, (Size, Tag), (void* block, Size to, Tag tag), block, to,
       tag)
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, (Size, Tag), (void* block, Size to, Tag tag), block, to,
       tag)

} // extern "C"
#pragma GCC visibility pop
