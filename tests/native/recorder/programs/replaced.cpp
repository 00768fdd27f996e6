// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A program with an operator new of its own, which cuts objects out of one block of malloc.
#include <cstddef>
#include <cstdlib>
#include <new>

static char* place = nullptr;

void* operator new(std::size_t size) {
    if (place == nullptr) {
        place = static_cast<char*>(std::malloc(100000));
    }
    char* const object = place;
    place += (size + 15) / 16 * 16;
    return object;
}
void operator delete(void*) noexcept {}

int main() {
    for (int i = 0; i < 100; ++i) {
        int* const volatile numbers = new int[10];
        delete[] numbers;
        const int* const volatile number = new int;
        delete number;
    }
}
