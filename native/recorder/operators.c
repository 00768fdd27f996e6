/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * operator new and delete, by their names in the C++ ABI. Each forwards the call to the next
 * definition: the allocator's, or the C++ runtime's, which calls malloc. The recorder records the
 * operator that the program called. The file is in C, because an exception may leave operator new.
 * C++ would need its runtime for that, and the recorder must not load one into a C program.
 *
 * The first call looks up the next definition, not earlier: a plugin may load the runtime.
 */
#define _GNU_SOURCE
#include "operators.h"
#include "operator_fallback.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

/* Numbers of the trace's routines. */
enum { new = 9, newArray = 10, newAligned = 11, newArrayAligned = 12 };
enum {
    delete = 20,
    deleteArray = 21,
    deleteSized = 22,
    deleteArraySized = 23,
    deleteAligned = 24,
    deleteArrayAligned = 25
};

/* The next definition of a name, found once; null if there is none. */
static void* nextOf(_Atomic(void*)* known, const char* name) {
    void* function = atomic_load_explicit(known, memory_order_relaxed);
    if (__builtin_expect(function == NULL, 0)) {
        function = dlsym(RTLD_NEXT, name);
        if (function == NULL) {
            function = heapwright_runtime_function(name);
        }
        atomic_store_explicit(known, function, memory_order_relaxed);
    }
    return function;
}

/* NEW(symbol, routine, alignment, parameters, types, arguments): one form of operator new. */
#define NEW(symbol, number, aligned, parameters, types, arguments)                                 \
    void* symbol parameters {                                                                      \
        static _Atomic(void*) known;                                                               \
        __attribute__((cleanup(heapwright_leave_new))) struct heapwright_new call = {              \
            NULL, size, aligned, __builtin_frame_address(0), number, heapwright_enter()};          \
        void* const function = nextOf(&known, #symbol);                                            \
        if (function == NULL) {                                                                    \
            return call.result = heapwright_plain_new(size, aligned);                              \
        }                                                                                          \
        void*(*forward)types;                                                                      \
        memcpy(&forward, &function, sizeof forward);                                               \
        return call.result = forward arguments;                                                    \
    }

/* DELETE(symbol, routine, parameters, types, arguments): one form of operator delete. */
#define DELETE(symbol, number, parameters, types, arguments)                                       \
    void symbol parameters {                                                                       \
        static _Atomic(void*) known;                                                               \
        const bool recorded = heapwright_enter_delete(number, object);                             \
        void* const function = nextOf(&known, #symbol);                                            \
        if (function == NULL) {                                                                    \
            heapwright_plain_delete(object);                                                       \
        } else {                                                                                   \
            void(*forward) types;                                                                  \
            memcpy(&forward, &function, sizeof forward);                                           \
            forward arguments;                                                                     \
        }                                                                                          \
        if (recorded) {                                                                            \
            heapwright_leave_delete();                                                             \
        }                                                                                          \
    }

#pragma GCC visibility push(default)

NEW(_Znwm, new, 0, (size_t size), (size_t), (size))
NEW(_Znam, newArray, 0, (size_t size), (size_t), (size))
NEW(_ZnwmRKSt9nothrow_t, new, 0, (size_t size, const void* tag), (size_t, const void*), (size, tag))
NEW(_ZnamRKSt9nothrow_t, newArray, 0, (size_t size, const void* tag), (size_t, const void*),
    (size, tag))
NEW(_ZnwmSt11align_val_t, newAligned, alignment, (size_t size, size_t alignment), (size_t, size_t),
    (size, alignment))
NEW(_ZnamSt11align_val_t, newArrayAligned, alignment, (size_t size, size_t alignment),
    (size_t, size_t), (size, alignment))
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, newAligned, alignment,
    (size_t size, size_t alignment, const void* tag), (size_t, size_t, const void*),
    (size, alignment, tag))
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, newArrayAligned, alignment,
    (size_t size, size_t alignment, const void* tag), (size_t, size_t, const void*),
    (size, alignment, tag))

DELETE(_ZdlPv, delete, (void* object), (void*), (object))
DELETE(_ZdaPv, deleteArray, (void* object), (void*), (object))
DELETE(_ZdlPvm, deleteSized, (void* object, size_t size), (void*, size_t), (object, size))
DELETE(_ZdaPvm, deleteArraySized, (void* object, size_t size), (void*, size_t), (object, size))
DELETE(_ZdlPvRKSt9nothrow_t, delete, (void* object, const void* tag), (void*, const void*),
       (object, tag))
DELETE(_ZdaPvRKSt9nothrow_t, deleteArray, (void* object, const void* tag), (void*, const void*),
       (object, tag))
DELETE(_ZdlPvSt11align_val_t, deleteAligned, (void* object, size_t alignment), (void*, size_t),
       (object, alignment))
DELETE(_ZdaPvSt11align_val_t, deleteArrayAligned, (void* object, size_t alignment), (void*, size_t),
       (object, alignment))
DELETE(_ZdlPvmSt11align_val_t, deleteAligned, (void* object, size_t size, size_t alignment),
       (void*, size_t, size_t), (object, size, alignment))
DELETE(_ZdaPvmSt11align_val_t, deleteArrayAligned, (void* object, size_t size, size_t alignment),
       (void*, size_t, size_t), (object, size, alignment))
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, deleteAligned,
       (void* object, size_t alignment, const void* tag), (void*, size_t, const void*),
       (object, alignment, tag))
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, deleteArrayAligned,
       (void* object, size_t alignment, const void* tag), (void*, size_t, const void*),
       (object, alignment, tag))

#pragma GCC visibility pop
