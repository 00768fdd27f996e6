// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls the operators of C++ by hand, each with a size of its own, and catches what they throw.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <new>

int main() {
    constexpr std::align_val_t aligned{64};
    ::operator delete(::operator new(111));
    ::operator delete[](::operator new[](112));
    ::operator delete(::operator new(113), std::size_t{113});
    ::operator delete[](::operator new[](114), std::size_t{114});
    ::operator delete(::operator new(115, std::nothrow), std::nothrow);
    ::operator delete(::operator new(116, aligned), aligned);
    ::operator delete[](::operator new[](117, aligned), aligned);
    bool caught = false;
    try {
        void* volatile block = ::operator new(SIZE_MAX / 2);
        ::operator delete(block);
    } catch (const std::bad_alloc&) {
        caught = true;
    }
    ::operator delete(::operator new(118));
    std::puts(caught ? "caught" : "missed");
}
