// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Misuse of the heap by C++; as in misuse.c.
#include <support/mistakes.h>

#include <new>

// An aligned object of C++ is deleted twice, the second time as an array.
// aborts: heapwright: free(): double free
// under granary, granary-strict: nothing
//
// under granary-hardened: heapwright: operator delete(): double free
MISTAKE(delete_aligned_twice) {
    constexpr std::align_val_t alignment{256};
    void* object = ::operator new[](400, alignment);
    ::operator delete[](object, alignment);
    ::operator delete[](object, alignment);
}

// An object of C++ is deleted twice.
// aborts: heapwright: free(): double free
// under granary, granary-strict: nothing
MISTAKE(delete_twice) {
    void* object = ::operator new(40);
    ::operator delete(object);
    ::operator delete(object);
}

// The size of another type.
// aborts: nothing
// under granary-hardened: heapwright: operator delete(): the size is not the object's
MISTAKE(delete_other_size) {
    ::operator delete(::operator new(40), std::size_t{48});
}

// The size of another array.
// aborts: nothing
// under granary-hardened: heapwright: operator delete(): the size is not the object's
MISTAKE(delete_other_array_size) {
    ::operator delete[](::operator new[](400), std::size_t{4000});
}

// The alignment of another type.
// aborts: nothing
// under granary-hardened: heapwright: operator delete(): the alignment is not the object's
MISTAKE(delete_other_alignment) {
    ::operator delete(::operator new(400, std::align_val_t{256}), std::align_val_t{64});
}

// An aligned object is deleted without its alignment.
// aborts: nothing
// under granary-hardened: heapwright: operator delete(): the alignment is not the object's
MISTAKE(delete_without_alignment) {
    ::operator delete(::operator new(400, std::align_val_t{256}), std::size_t{400});
}

// An aligned object is deleted with another size.
// aborts: nothing
// under granary-hardened: heapwright: operator delete(): the size is not the object's
MISTAKE(delete_aligned_other_size) {
    constexpr std::align_val_t alignment{256};
    ::operator delete(::operator new(400, alignment), std::size_t{40}, alignment);
}
