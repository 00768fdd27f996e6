// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Misuse of the heap by C++; as in misuse.c.
#include <support/mistakes.h>

#include <new>

// An aligned object of C++ is deleted twice, the second time as an array.
// aborts: heapwright: free(): double free
// under granary: nothing
MISTAKE(delete_aligned_twice) {
    constexpr std::align_val_t alignment{256};
    void* object = ::operator new[](400, alignment);
    ::operator delete[](object, alignment);
    ::operator delete[](object, alignment);
}

// An object of C++ is deleted twice.
// aborts: heapwright: free(): double free
// under granary: nothing
MISTAKE(delete_twice) {
    void* object = ::operator new(40);
    ::operator delete(object);
    ::operator delete(object);
}
