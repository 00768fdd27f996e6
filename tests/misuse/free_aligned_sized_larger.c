// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A size that the aligned object cannot have been given.
// aborts: heapwright: free_aligned_sized(): the size is larger than the object
#include <stdlib.h>

// Weak, since not every C library has it to link with.
__attribute__((weak)) void free_aligned_sized(void* object, size_t alignment, size_t size);

int main(void) {
    free_aligned_sized(aligned_alloc(64, 100), 64, 50000);
    return 0;
}
