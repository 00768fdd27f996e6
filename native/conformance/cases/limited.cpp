// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// When the system has no more memory: null and ENOMEM, no crash, and normal operation once there is
// memory again.
#include "conformance/suite.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

using namespace conformance;

namespace {

constexpr std::size_t room = std::size_t{48} << 20U;

/// A stack of objects, linked through themselves: keeping them takes no memory.
class Hoard {
public:
    bool grow(std::size_t size) {
        void* object = std::malloc(size);
        if (object == nullptr) {
            require(errno == ENOMEM, "errno is not ENOMEM");
            return false;
        }
        std::memcpy(object, &top_, sizeof top_);
        top_ = object;
        ++count_;
        return true;
    }
    void release() {
        while (top_ != nullptr) {
            void* object = top_;
            std::memcpy(&top_, object, sizeof top_);
            std::free(object);
        }
    }
    [[nodiscard]] std::size_t count() const { return count_; }

private:
    void* top_ = nullptr;
    std::size_t count_ = 0;
};

void exhaustAndRecover(std::size_t size) {
    std::size_t first = 0;
    for (int round = 0; round < 3; ++round) {
        Hoard hoard;
        errno = 0;
        while (hoard.grow(size)) {
        }
        require(hoard.count() * size >= room / 8, "memory was refused long before the limit");
        require(std::calloc(1, hide(room)) == nullptr, "calloc beyond the limit");
        void* aligned = nullptr;
        require(posix_memalign(&aligned, 4096, hide(room)) == ENOMEM,
                "posix_memalign beyond the limit");
        hoard.release();
        if (round == 0) {
            first = hoard.count();
        }
        require(hoard.count() >= first / 2, "much less memory than the first time");
    }
}

void small() {
    limitAddressSpace(room);
    exhaustAndRecover(40);
}

void medium() {
    limitAddressSpace(room);
    exhaustAndRecover(5000);
}

void large() {
    limitAddressSpace(room);
    exhaustAndRecover(300'000);
}

void mixed() {
    constexpr std::size_t count = 3000;
    static void* objects[count];
    static std::size_t sizes[count];
    limitAddressSpace(room);
    Random random(12);
    std::size_t refused = 0;
    for (int step = 0; step < 60000; ++step) {
        const std::size_t i = random.below(count);
        const std::size_t size = 1 + random.below(std::size_t{1} << random.below(20));
        void* object = std::realloc(objects[i], size);
        if (object == nullptr) {
            ++refused;
            require(errno == ENOMEM, "errno is not ENOMEM");
            if (objects[i] != nullptr) {
                requireFilled(objects[i], sizes[i] < 64 ? sizes[i] : 64, static_cast<unsigned>(i));
                std::free(objects[i]);
            }
            objects[i] = nullptr;
            sizes[i] = 0;
            continue;
        }
        const std::size_t kept = sizes[i] < size ? sizes[i] : size;
        requireFilled(object, kept < 64 ? kept : 64, static_cast<unsigned>(i));
        fill(object, size < 64 ? size : 64, static_cast<unsigned>(i));
        objects[i] = object;
        sizes[i] = size;
    }
    require(refused > 0, "the limit was never met");
    for (void* object : objects) {
        std::free(object);
    }
}

void throws() {
    limitAddressSpace(room);
    static void* objects[10000];
    for (int round = 0; round < 2; ++round) {
        std::size_t count = 0;
        bool thrown = false;
        try {
            for (; count < 10000; ++count) {
                objects[count] = ::operator new(20000);
            }
        } catch (const std::bad_alloc&) {
            thrown = true;
        }
        require(thrown, "the limit was not met");
        require(count * 20000 >= room / 8, "memory was refused long before the limit");
        while (count > 0) {
            ::operator delete(objects[--count]);
        }
    }
}

const Case cases[] = {
    {"limit-new", Demand::standard, "new at the limit throws, and works afterwards", throws},
    {"limit-small", Demand::standard, "the limit is met with small objects", small},
    {"limit-medium", Demand::standard, "the limit is met with objects of 5000 bytes", medium},
    {"limit-large", Demand::standard, "the limit is met with objects of 300 KB", large},
    {"limit-mixed", Demand::standard,
     "a random history at the limit, with realloc, never crashes or loses bytes", mixed},
};

} // namespace
