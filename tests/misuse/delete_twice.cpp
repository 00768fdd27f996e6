// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// An object of C++ is deleted twice.
// aborts: heapwright: free(): double free
// under granary: nothing
#include <new>

int main() {
    void* object = ::operator new(40);
    ::operator delete(object);
    ::operator delete(object);
    return 0;
}
