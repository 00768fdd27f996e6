// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// An aligned object of C++ is deleted twice, the second time as an array.
// aborts: heapwright: free(): double free
// under granary: nothing
#include <new>

int main() {
    constexpr std::align_val_t alignment{256};
    void* object = ::operator new[](400, alignment);
    ::operator delete[](object, alignment);
    ::operator delete[](object, alignment);
    return 0;
}
