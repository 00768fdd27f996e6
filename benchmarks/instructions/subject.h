// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What is counted: one heap behind plain functions. Each subject is a translation unit of its own
// that defines those which its driver calls, so that the compiler sees the whole heap inside them
// and nothing of the loop that calls them, alike for a composed heap and for one written by hand.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void* subjectMalloc(size_t size);
void subjectFree(void* object);
void* subjectMemalign(size_t alignment, size_t size);
void subjectClear(void); ///< frees all objects at once
/// Puts a text, as instructions/obstack_driver.c writes it, on an obstack and takes it off again.
size_t subjectParse(const char* text, size_t length);
/// The most that it adds at once; in the driver, so that compilers do not know it.
extern const size_t subjectPiece;

#ifdef __cplusplus
}
#endif
