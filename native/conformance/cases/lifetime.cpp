// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Before main: the program's pre-initialiser, which runs before the constructors of any library,
// allocates and even forks. A constructor does the same.
#include "conformance/suite.hpp"

#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

using namespace conformance;

namespace {

void* fromPreinit = nullptr;
void* fromConstructor = nullptr;
int preinitChild = -1;

bool allocateSome() {
    for (std::size_t size = 1; size < 1'000'000; size = size * 3) {
        void* object = std::malloc(size);
        if (object == nullptr) {
            return false;
        }
        fill(object, size, 1);
        std::free(object);
    }
    return true;
}

void preinit(int, char**, char**) {
    fromPreinit = std::malloc(1000);
    fill(fromPreinit, 1000, 1);
    preinitChild = ::fork();
    if (preinitChild == 0) {
        ::_exit(allocateSome() ? 0 : 1);
    }
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const preinitEntry)(int, char**,
                                                                         char**) = preinit;

[[gnu::constructor]] void construct() {
    fromConstructor = std::calloc(10, 100);
    fromPreinit = std::realloc(fromPreinit, 5000);
}

void before() {
    requireFilled(fromPreinit, 1000, 1);
    requireZero(fromConstructor, 1000);
    std::free(fromPreinit);
    std::free(fromConstructor);
    require(preinitChild > 0, "fork");
    expectSuccess(preinitChild, "a child forked before main");
}

// After main, in a child that ends by exit: Allocations in atexit functions and in destructors of
// static and thread-local objects. The program's last destructor verifies that all of them ran.

struct Memory {
    explicit Memory(std::size_t size) : size_(size), object_(std::malloc(size)) {
        fill(object_, size_, 4);
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() {
        requireFilled(object_, size_, 4);
        std::free(object_);
        ++destroyed;
        require(allocateSome(), "malloc gave nothing in a destructor");
    }

    static inline int destroyed = 0;

private:
    std::size_t size_;
    void* object_;
};

bool lastWanted = false;

[[gnu::destructor]] void last() {
    if (lastWanted) {
        require(allocateSome(), "malloc gave nothing in the last destructor");
        require(Memory::destroyed == 4, "a destructor did not run");
        ::_exit(0);
    }
}

void after() {
    inChild(
        [] {
            lastWanted = true;
            static Memory first(100);
            static Memory second(300'000);
            static thread_local Memory third(50);
            static Memory* fourth = new Memory(10'000);
            hide(&third);
            std::atexit([] {
                delete fourth;
                require(allocateSome(), "malloc gave nothing at exit");
            });
            std::exit(1); // the last destructor makes it 0
        },
        "a child that ended by exit");
}

const Case cases[] = {
    {"before-main", Demand::standard,
     "memory from before main is like any other, in a fork from there too", before},
    {"after-main", Demand::standard,
     "exit functions and destructors allocate and free to the very end", after},
};

} // namespace
