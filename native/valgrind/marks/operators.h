/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * operator new and delete, single and array forms, by their names in the C++ ABI. Each calls the
 * next definition once. Pre: the including file has defined `next`, the next definitions;
 * `findLater()`, which looks for operators again; and CALL(KIND, OBJECT, SIZE), which declares
 * `call`.
 */
#ifndef HEAPWRIGHT_VALGRIND_OPERATORS_H
#define HEAPWRIGHT_VALGRIND_OPERATORS_H

#define NEED(routine)                                                                              \
    if (__builtin_expect(next.routine[0] == NULL, 0)) {                                            \
        findLater();                                                                               \
    }
#define NEW(single, array, routine, parameters, arguments)                                         \
    void* single parameters {                                                                      \
        NEED(routine)                                                                              \
        CALL(heapwright_allocate, NULL, size);                                                     \
        return call.result = next.routine[0] arguments;                                            \
    }                                                                                              \
    void* array parameters {                                                                       \
        NEED(routine)                                                                              \
        CALL(heapwright_allocate, NULL, size);                                                     \
        return call.result = next.routine[1] arguments;                                            \
    }
#define DELETE(single, array, routine, parameters, arguments)                                      \
    void single parameters {                                                                       \
        NEED(routine)                                                                              \
        CALL(heapwright_release, object, 0);                                                       \
        next.routine[0] arguments;                                                                 \
    }                                                                                              \
    void array parameters {                                                                        \
        NEED(routine)                                                                              \
        CALL(heapwright_release, object, 0);                                                       \
        next.routine[1] arguments;                                                                 \
    }

NEW(_Znwm, _Znam, new, (size_t size), (size))
NEW(_ZnwmRKSt9nothrow_t, _ZnamRKSt9nothrow_t, newNothrow, (size_t size, const void* tag),
    (size, tag))
NEW(_ZnwmSt11align_val_t, _ZnamSt11align_val_t, newAligned, (size_t size, size_t alignment),
    (size, alignment))
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, _ZnamSt11align_val_tRKSt9nothrow_t, newAlignedNothrow,
    (size_t size, size_t alignment, const void* tag), (size, alignment, tag))
DELETE(_ZdlPv, _ZdaPv, delete, (void* object), (object))
DELETE(_ZdlPvm, _ZdaPvm, deleteSized, (void* object, size_t size), (object, size))
DELETE(_ZdlPvRKSt9nothrow_t, _ZdaPvRKSt9nothrow_t, deleteNothrow, (void* object, const void* tag),
       (object, tag))
DELETE(_ZdlPvSt11align_val_t, _ZdaPvSt11align_val_t, deleteAligned,
       (void* object, size_t alignment), (object, alignment))
DELETE(_ZdlPvmSt11align_val_t, _ZdaPvmSt11align_val_t, deleteSizedAligned,
       (void* object, size_t size, size_t alignment), (object, size, alignment))
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, _ZdaPvSt11align_val_tRKSt9nothrow_t,
       deleteAlignedNothrow, (void* object, size_t alignment, const void* tag),
       (object, alignment, tag))

#endif
