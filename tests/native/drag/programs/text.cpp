// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A string of 1001 bytes that is last read by one of its own functions, 1000 bytes before its end.
#include <cstddef>
#include <new>
#include <string>

[[gnu::noinline]] std::string* makeText() {
    return new std::string(1000, 'a');
}

int main() {
    std::string* const text = makeText();
    const bool found = text->find('b') != std::string::npos;
    for (int i = 0; i < 10; ++i) {
        ::operator delete(::operator new(100));
    }
    delete text;
    return found ? 1 : 0;
}
