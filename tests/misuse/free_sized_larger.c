// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A size that the object cannot have been given.
// aborts: heapwright: free_sized(): the size is larger than the object
#include <stdlib.h>

// Weak, since not every C library has it to link with.
__attribute__((weak)) void free_sized(void* object, size_t size);

int main(void) {
    free_sized(malloc(100), 5000);
    return 0;
}
