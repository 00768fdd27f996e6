// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// operator new and delete of a static C++ program: all forms, without memory, and one form that the
// program defines itself.
#include <heapwright/c/granary.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>
#include <vector>

static int own = 0;

void operator delete[](void* object) noexcept {
    ++own;
    ::operator delete(object);
}

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back([] {
            for (std::size_t k = 0; k < 20000; ++k) {
                const std::string text(k % 3000, 'x');
                delete new long(static_cast<long>(text.size()));
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    struct alignas(256) Wide {
        char bytes[256];
    };
    delete new Wide;
    volatile std::size_t much = std::size_t{1} << 60U;
    try {
        char* const object = new char[much];
        delete[] object;
        return 2;
    } catch (const std::bad_alloc&) {
    }
    std::set_new_handler([] { throw std::bad_alloc(); });
    if (new (std::nothrow) char[much] != nullptr) {
        return 3;
    }
    char* volatile array = new char[100];
    delete[] array;
    heapwright_granary_figures before;
    heapwright_granary_figures with;
    heapwright_granary_statistics(&before);
    void* volatile object = ::operator new(5000000);
    heapwright_granary_statistics(&with);
    ::operator delete(object);
    if (own != 1 || with.live_bytes - before.live_bytes < 5000000) {
        return 4;
    }
    std::puts("granary");
    return 0;
}
