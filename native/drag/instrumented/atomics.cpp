// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The atomic operations of a program compiled with `-fsanitize=thread`, which calls these functions
// instead. Each is done in the strongest memory order. The requested order has no influence.
#include "runtime.hpp"

#include <cstdint>

using heapwright::drag::runtime;

namespace {

using Byte = std::uint8_t;
using Half = std::uint16_t;
using Word = std::uint32_t;
using Long = std::uint64_t;
__extension__ using Quad = unsigned __int128;

constexpr int strongest = __ATOMIC_SEQ_CST;

template <class Value>
Value* noted(const volatile Value* place) {
    Value* const plain = const_cast<Value*>(place);
    runtime.touch(plain);
    return plain;
}

template <class Value>
bool exchangeIf(volatile Value* place, Value* expected, Value value) {
    runtime.touch(expected);
    return __atomic_compare_exchange_n(noted(place), expected, value, false, strongest, strongest);
}

template <class Value>
Value exchangeIfValue(volatile Value* place, Value expected, Value value) {
    __atomic_compare_exchange_n(noted(place), &expected, value, false, strongest, strongest);
    return expected;
}

// For sixteen bytes, every operation is a compare-and-swap loop. The compilers turn this form into
// an instruction and need no library.
Quad exchangeWide(volatile Quad* place, Quad expected, Quad value) {
    return __sync_val_compare_and_swap(noted(place), expected, value);
}

template <class Change>
Quad changeWide(volatile Quad* place, Change change) {
    Quad* const plain = noted(place);
    Quad before = 0;
    for (;;) {
        const Quad found = __sync_val_compare_and_swap(plain, before, change(before));
        if (found == before) {
            return before;
        }
        before = found;
    }
}

} // namespace

#pragma GCC visibility push(default)

extern "C" {

#define OPERATION(bits, Value, name)                                                               \
    Value __tsan_atomic##bits##_fetch_##name(volatile Value* place, Value value, int) {            \
        return __atomic_fetch_##name(noted(place), value, strongest);                              \
    }

#define OPERATIONS(bits, Value)                                                                    \
    Value __tsan_atomic##bits##_load(const volatile Value* place, int) {                           \
        return __atomic_load_n(noted(place), strongest);                                           \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile Value* place, Value value, int) {                    \
        __atomic_store_n(noted(place), value, strongest);                                          \
    }                                                                                              \
    Value __tsan_atomic##bits##_exchange(volatile Value* place, Value value, int) {                \
        return __atomic_exchange_n(noted(place), value, strongest);                                \
    }                                                                                              \
    OPERATION(bits, Value, add)                                                                    \
    OPERATION(bits, Value, sub)                                                                    \
    OPERATION(bits, Value, and)                                                                    \
    OPERATION(bits, Value, or)                                                                     \
    OPERATION(bits, Value, xor)                                                                    \
    OPERATION(bits, Value, nand)                                                                   \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile Value* place, Value* expected,      \
                                                      Value value, int, int) {                     \
        return exchangeIf(place, expected, value);                                                 \
    }                                                                                              \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile Value* place, Value* expected,        \
                                                    Value value, int, int) {                       \
        return exchangeIf(place, expected, value);                                                 \
    }                                                                                              \
    Value __tsan_atomic##bits##_compare_exchange_val(volatile Value* place, Value expected,        \
                                                     Value value, int, int) {                      \
        return exchangeIfValue(place, expected, value);                                            \
    }

OPERATIONS(8, Byte)
OPERATIONS(16, Half)
OPERATIONS(32, Word)
OPERATIONS(64, Long)

#define WIDE_OPERATION(name, ...)                                                                  \
    Quad __tsan_atomic128_##name(volatile Quad* place, Quad value, int) {                          \
        return changeWide(place,                                                                   \
                          [value]([[maybe_unused]] Quad before) -> Quad { return __VA_ARGS__; });  \
    }

WIDE_OPERATION(exchange, value)
WIDE_OPERATION(fetch_add, before + value)
WIDE_OPERATION(fetch_sub, before - value)
WIDE_OPERATION(fetch_and, before& value)
WIDE_OPERATION(fetch_or, before | value)
WIDE_OPERATION(fetch_xor, before ^ value)
WIDE_OPERATION(fetch_nand, ~(before& value))

Quad __tsan_atomic128_load(const volatile Quad* place, int) {
    return exchangeWide(const_cast<volatile Quad*>(place), 0, 0);
}
void __tsan_atomic128_store(volatile Quad* place, Quad value, int) {
    changeWide(place, [value](Quad) { return value; });
}
Quad __tsan_atomic128_compare_exchange_val(volatile Quad* place, Quad expected, Quad value, int,
                                           int) {
    return exchangeWide(place, expected, value);
}
int __tsan_atomic128_compare_exchange_strong(volatile Quad* place, Quad* expected, Quad value, int,
                                             int) {
    runtime.touch(expected);
    const Quad found = exchangeWide(place, *expected, value);
    const bool done = found == *expected;
    *expected = found;
    return done;
}
int __tsan_atomic128_compare_exchange_weak(volatile Quad* place, Quad* expected, Quad value,
                                           int order, int otherwise) {
    return __tsan_atomic128_compare_exchange_strong(place, expected, value, order, otherwise);
}

void __tsan_atomic_thread_fence(int) {
    __atomic_thread_fence(strongest);
}
void __tsan_atomic_signal_fence(int) {
    __atomic_signal_fence(strongest);
}

} // extern "C"

#pragma GCC visibility pop
