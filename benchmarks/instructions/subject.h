// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What is counted: one heap behind two plain functions. Each subject is a translation unit of its
// own that defines both, so that the compiler sees the whole heap inside them and nothing of the
// loop that calls them, alike for a composed heap and for one written by hand.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void* subjectMalloc(size_t size);
void subjectFree(void* object);
void* subjectMemalign(size_t alignment, size_t size);

#ifdef __cplusplus
}
#endif
