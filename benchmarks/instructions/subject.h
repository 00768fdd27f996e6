// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The subject of a count: one heap behind plain functions. Each subject is a translation unit that
// defines the functions that its driver calls. The compiler thus sees the whole heap inside them
// and nothing of the calling loop. This holds for a composed heap and for one written by hand.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void* subjectMalloc(size_t size);
void subjectFree(void* object);
void* subjectMemalign(size_t alignment, size_t size);
void subjectClear(void); ///< frees all objects at once
/// Parses a text from instructions/obstack_driver.c on an obstack and frees it.
size_t subjectParse(const char* text, size_t length);
/// The largest piece that it adds at once. It is defined in the driver, so that compilers do not
/// know it.
extern const size_t subjectPiece;

#ifdef __cplusplus
}
#endif
