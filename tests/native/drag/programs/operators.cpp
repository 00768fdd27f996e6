// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Objects of all forms of operator new, each used when it is made; and one that cannot be had.
#include <cstddef>
#include <cstdint>
#include <new>

namespace {

struct alignas(64) Wide {
    char bytes[64];
};

volatile std::size_t tooMuch = SIZE_MAX / 4;

template <typename Object>
Object* used(Object* object) {
    *reinterpret_cast<volatile char*>(object) = 1;
    return object;
}

} // namespace

int makeThem() {
    char* const single = used(static_cast<char*>(::operator new(100)));
    char* const array = used(static_cast<char*>(::operator new[](100)));
    char* const quiet = used(static_cast<char*>(::operator new(100, std::nothrow)));
    char* const quietArray = used(static_cast<char*>(::operator new[](100, std::nothrow)));
    Wide* const wide = used(static_cast<Wide*>(::operator new(64, std::align_val_t{64})));
    Wide* const wides = used(static_cast<Wide*>(::operator new[](128, std::align_val_t{64})));
    const int wrong = reinterpret_cast<std::uintptr_t>(wide) % 64 != 0 ? 1 : 0;
    ::operator delete(single);
    ::operator delete[](array);
    ::operator delete(quiet, std::nothrow);
    ::operator delete[](quietArray, std::nothrow);
    ::operator delete(wide, std::align_val_t{64});
    ::operator delete[](wides, std::align_val_t{64});
    return wrong;
}

int main() {
    const int wrong = makeThem();
    if (::operator new(tooMuch, std::nothrow) != nullptr) {
        return 2;
    }
    try {
        ::operator delete(::operator new(tooMuch));
    } catch (const std::bad_alloc&) {
        return wrong;
    }
    return 3;
}
