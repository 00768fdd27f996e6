// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// An alignment that the object does not have.
// aborts: heapwright: free_aligned_sized(): the alignment is not the object's
#include <stdlib.h>

// Weak, since not every C library has it to link with.
__attribute__((weak)) void free_aligned_sized(void* object, size_t alignment, size_t size);

int main(void) {
    char* first = malloc(100);
    char* second = malloc(100);
    // Two objects so small cannot both have an alignment of a gigabyte.
    free_aligned_sized((size_t)first % (1 << 30) != 0 ? first : second, 1 << 30, 100);
    return 0;
}
