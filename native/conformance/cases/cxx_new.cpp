// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Every form of operator new and delete, with and without memory.
#include "conformance/suite.hpp"

#include <cstdint>
#include <cstdlib>
#include <new>

using namespace conformance;

namespace {

constexpr std::size_t unobtainable = std::size_t{PTRDIFF_MAX} - 4096;
constexpr std::align_val_t wide{256};

void forms() {
    for (const std::size_t size : {0U, 1U, 8U, 17U, 100U, 4096U, 200'000U}) {
        const auto check = [size](void* object, std::size_t alignment) {
            require(object != nullptr, "new gave nothing");
            requireAligned(object, alignment);
            fill(object, size, 1);
            return object;
        };
        const std::size_t plain = alignmentFor(size);
        const auto aligned = static_cast<std::size_t>(wide);
        ::operator delete(check(::operator new(size), plain));
        ::operator delete(check(::operator new(size), plain), size);
        ::operator delete[](check(::operator new[](size), plain));
        ::operator delete[](check(::operator new[](size), plain), size);
        ::operator delete(check(::operator new(size, std::nothrow), plain), std::nothrow);
        ::operator delete[](check(::operator new[](size, std::nothrow), plain), std::nothrow);
        ::operator delete(check(::operator new(size, wide), aligned), wide);
        ::operator delete(check(::operator new(size, wide), aligned), size, wide);
        ::operator delete[](check(::operator new[](size, wide), aligned), wide);
        ::operator delete[](check(::operator new[](size, wide), aligned), size, wide);
        ::operator delete(check(::operator new(size, wide, std::nothrow), aligned), wide,
                          std::nothrow);
        ::operator delete[](check(::operator new[](size, wide, std::nothrow), aligned), wide,
                            std::nothrow);
    }
    ::operator delete(nullptr);
    ::operator delete[](nullptr, wide);
}

void zero() {
    void* first = ::operator new(hide(std::size_t{0}));
    void* second = ::operator new(hide(std::size_t{0}));
    require(first != nullptr && second != nullptr && first != second, "not two objects");
    ::operator delete(first);
    ::operator delete(second);
}

template <class Allocate>
void requireBadAlloc(Allocate allocate, Location where = Location::current()) {
    bool thrown = false;
    try {
        hide(allocate(hide(unobtainable)));
    } catch (const std::bad_alloc&) {
        thrown = true;
    }
    require(thrown, "no bad_alloc", where);
}

void badAlloc() {
    requireBadAlloc([](std::size_t size) { return ::operator new(size); });
    requireBadAlloc([](std::size_t size) { return ::operator new[](size); });
    requireBadAlloc([](std::size_t size) { return ::operator new(size, wide); });
    requireBadAlloc([](std::size_t size) { return ::operator new[](size, wide); });
    const std::size_t size = hide(unobtainable);
    require(::operator new(size, std::nothrow) == nullptr&& ::operator new[](size, std::nothrow) ==
                nullptr&& ::operator new(size, wide, std::nothrow) ==
                nullptr&& ::operator new[](size, wide, std::nothrow) == nullptr,
            "memory was given that cannot exist");
}

int handlerCalls = 0;

void countAndGiveUp() {
    if (++handlerCalls == 3) {
        std::set_new_handler(nullptr);
    }
}

void handlerLoop() {
    const auto loop = [](void* (*allocate)(std::size_t)) {
        handlerCalls = 0;
        std::set_new_handler(countAndGiveUp);
        requireBadAlloc(allocate);
        require(handlerCalls == 3, "not called as often as there was one");
    };
    loop([](std::size_t size) { return ::operator new(size); });
    loop([](std::size_t size) { return ::operator new[](size); });
    loop([](std::size_t size) { return ::operator new(size, wide); });
    handlerCalls = 0;
    std::set_new_handler(countAndGiveUp);
    require(::operator new(hide(unobtainable), std::nothrow) == nullptr,
            "memory was given that cannot exist");
    require(handlerCalls == 3, "a nothrow form must call the handler too");
}

void* reserve = nullptr;

void giveReserve() {
    require(reserve != nullptr, "the handler was called though it had given the reserve back");
    std::free(reserve);
    reserve = nullptr;
}

void handlerHelps() {
    constexpr std::size_t size = std::size_t{96} << 20U;
    reserve = std::malloc(size);
    require(reserve != nullptr, "malloc gave nothing");
    limitAddressSpace(size / 4);
    std::set_new_handler(giveReserve);
    void* object = ::operator new(size);
    require(object != nullptr && reserve == nullptr, "the handler was not called");
    ::operator delete(object);
}

struct Refusal {};

void handlerThrows() {
    std::set_new_handler([] { throw Refusal{}; });
    bool thrown = false;
    try {
        hide(::operator new(hide(unobtainable)));
    } catch (const Refusal&) {
        thrown = true;
    }
    require(thrown, "the handler's exception did not arrive");
    std::set_new_handler([] { throw std::bad_alloc(); });
    const std::size_t size = hide(unobtainable);
    require(::operator new(size, std::nothrow) == nullptr&& ::operator new[](size, std::nothrow) ==
                nullptr&& ::operator new(size, wide, std::nothrow) ==
                nullptr&& ::operator new[](size, wide, std::nothrow) == nullptr,
            "a nothrow form gave memory that cannot exist");
}

const Case cases[] = {
    {"new-forms", Demand::standard,
     "each form of new gives aligned memory that its forms of delete take", forms},
    {"new-bad_alloc", Demand::standard, "the throwing forms throw bad_alloc, the others give null",
     badAlloc},
    {"new-zero", Demand::standard, "new of nothing gives distinct objects", zero},
    {"new-handler-loop", Demand::standard,
     "the handler is called until there is none, and then bad_alloc", handlerLoop},
    {"new-handler-helps", Demand::standard,
     "memory that the handler frees is found by the new attempt", handlerHelps},
    {"new-handler-throws", Demand::standard,
     "an exception of the handler leaves the throwing forms, not the others", handlerThrows},
};

} // namespace
