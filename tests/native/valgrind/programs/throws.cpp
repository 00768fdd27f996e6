// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// throws N: operator new fails and throws, then the program does N turns of a loop of its own, then
// it allocates once more.
#include <cstdlib>
#include <new>

int main(int, char** words) {
    volatile std::size_t much = static_cast<std::size_t>(-1) / 4;
    volatile long turns = std::atol(words[1]);
    try {
        operator delete(operator new(much));
    } catch (const std::bad_alloc&) {
        for (volatile long i = 0; i < turns; i = i + 1) {
        }
    }
    operator delete(operator new(16));
}
