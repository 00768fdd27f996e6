/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What operators.c calls when no library after this one defines an operator.
 */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(hidden)

/* A function of the C++ runtime that the process has by now; null if it has none. */
void* heapwright_runtime_function(const char* name);

/* Allocation and release for a process without a C++ runtime. Failure ends the process. */
void* heapwright_plain_new(size_t size, size_t alignment);
void heapwright_plain_delete(void* object);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
