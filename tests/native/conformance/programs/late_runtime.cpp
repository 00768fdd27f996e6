// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The library that brings the C++ runtime along; see late_runtime_host.c. The operators are reached
// through pointers that the compiler does not see through.
#include <cstdint>
#include <cstdio>
#include <new>

namespace {

constexpr std::size_t unobtainable = std::size_t{PTRDIFF_MAX} - 4096;
constexpr std::align_val_t wide{128};

void* (*volatile allocate)(std::size_t) = &::operator new;
void* (*volatile allocateArray)(std::size_t) = &::operator new[];
void* (*volatile allocateAligned)(std::size_t, std::align_val_t) = &::operator new;
void* (*volatile allocateOrNull)(std::size_t, const std::nothrow_t&) noexcept = &::operator new;

template <class Call>
bool throwsBadAlloc(Call call) {
    try {
        call();
    } catch (const std::bad_alloc&) {
        return true;
    }
    return false;
}

int calls = 0;

void refuse() {
    ++calls;
    throw std::bad_alloc();
}

} // namespace

extern "C" int run() {
    ::operator delete(allocate(100));
    if (!throwsBadAlloc([] { allocate(unobtainable); }) ||
        !throwsBadAlloc([] { allocateArray(unobtainable); }) ||
        !throwsBadAlloc([] { allocateAligned(unobtainable, wide); }) ||
        !throwsBadAlloc([] { allocateAligned(100, std::align_val_t{24}); })) {
        std::puts("no bad_alloc");
        return 1;
    }
    if (allocateOrNull(unobtainable, std::nothrow) != nullptr) {
        std::puts("memory that cannot exist");
        return 1;
    }
    std::set_new_handler(refuse);
    if (allocateOrNull(unobtainable, std::nothrow) != nullptr || calls != 1) {
        std::puts("the handler was not called once");
        return 1;
    }
    if (!throwsBadAlloc([] { allocate(unobtainable); }) || calls != 2) {
        std::puts("the handler's exception did not arrive");
        return 1;
    }
    return 0;
}
