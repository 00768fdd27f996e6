// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A program that replaces operator new and delete in their plain forms only, as programs older than
// C++14 do. All other forms must use these two. Each object of this project has a header, so that
// freeing one past them would be a free of an address inside an object.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t header = 32;
constexpr std::uint64_t mark = 0x5EED5EED5EED5EED;
constexpr std::size_t unobtainable = std::size_t{PTRDIFF_MAX} - 4096;

int live = 0;
int calls = 0;

void expect(bool holds, const char* what) {
    if (!holds) {
        std::printf("%s\n", what);
        std::_Exit(1);
    }
}

template <class T>
T hide(T value) {
    asm volatile("" : "+r"(value) : : "memory");
    return value;
}

} // namespace

void* operator new(std::size_t size) {
    ++calls;
    void* block = size > unobtainable / 2 ? nullptr : std::malloc(size + header);
    if (block == nullptr) {
        throw std::bad_alloc();
    }
    ++live;
    *static_cast<std::uint64_t*>(block) = mark;
    return static_cast<char*>(block) + header;
}

void operator delete(void* object) noexcept {
    if (object != nullptr) {
        void* block = static_cast<char*>(object) - header;
        expect(*static_cast<std::uint64_t*>(block) == mark, "not an object of the replaced new");
        --live;
        std::free(block);
    }
}

int main() {
    ::operator delete[](hide(::operator new[](10)));
    ::operator delete(hide(::operator new(10)), std::size_t{10});
    ::operator delete[](hide(::operator new[](10)), std::size_t{10});
    ::operator delete(hide(::operator new(10, std::nothrow)), std::nothrow);
    ::operator delete[](hide(::operator new[](10, std::nothrow)), std::nothrow);
    expect(calls == 5, "a form of new went past the replaced one");
    expect(live == 0, "a form of delete went past the replaced one");
    expect(hide(::operator new(hide(unobtainable), std::nothrow)) == nullptr, "not null");
    expect(hide(::operator new[](hide(unobtainable), std::nothrow)) == nullptr, "not null");
    expect(calls == 7, "a nothrow form went past the replaced new");
    return 0;
}
