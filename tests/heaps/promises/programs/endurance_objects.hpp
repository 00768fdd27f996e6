// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What the endurance run works with: objects that carry stamps, and mailboxes through which threads
// hand them to each other.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace endurance {

inline constexpr unsigned mailboxes = 256;
inline constexpr std::uint64_t wholeEvery = 32; // how many objects there are for one that is filled

struct Object {
    unsigned char* at;
    std::uint32_t size;
    std::uint32_t stamp;
};

class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15U | 1U) {}
    std::uint64_t operator()() {
        state_ ^= state_ << 13U;
        state_ ^= state_ >> 7U;
        state_ ^= state_ << 17U;
        return state_ * 0x2545F4914F6CDD1DU >> 16U;
    }

private:
    std::uint64_t state_;
};

[[noreturn]] void wrong(const char* what, const Object& object) {
    std::fprintf(stderr, "endurance: %s: object of %u bytes at %p\n", what, object.size,
                 static_cast<void*>(object.at));
    std::_Exit(1);
}

[[noreturn]] void noMemory() {
    std::fprintf(stderr, "endurance: no memory\n");
    std::_Exit(2);
}

// --- contents ---

inline std::uint64_t stampOf(const Object& object) {
    return (reinterpret_cast<std::uintptr_t>(object.at) ^ object.stamp * 0x9E3779B97F4A7C15U) +
           object.size;
}

inline bool isWhole(const Object& object) {
    return object.stamp % wholeEvery == 0 && object.size < 65536;
}

inline void mark(const Object& object) {
    const std::uint64_t stamp = stampOf(object);
    if (isWhole(object)) {
        for (std::uint32_t at = 0; at < object.size; ++at) {
            object.at[at] = static_cast<unsigned char>(stamp >> (at % 8 * 8));
        }
        return;
    }
    const std::size_t edge = std::min<std::size_t>(object.size, sizeof stamp);
    std::memcpy(object.at + object.size - edge, &stamp, edge);
    std::memcpy(object.at, &stamp, edge);
}

inline void verify(const Object& object) {
    const std::uint64_t stamp = stampOf(object);
    if (isWhole(object)) {
        for (std::uint32_t at = 0; at < object.size; ++at) {
            if (object.at[at] != static_cast<unsigned char>(stamp >> (at % 8 * 8))) {
                wrong("contents were written over", object);
            }
        }
        return;
    }
    const std::size_t edge = std::min<std::size_t>(object.size, sizeof stamp);
    if (std::memcmp(object.at, &stamp, edge) != 0) {
        wrong("the first bytes were written over", object);
    }
    // Of a short object the two stamps overlap, and the first is whole.
    if (object.size >= 2 * sizeof stamp &&
        std::memcmp(object.at + object.size - edge, &stamp, edge) != 0) {
        wrong("the last bytes were written over", object);
    }
}

/// calloc's memory is zero: all of it up to a page, of more the ends and something of each page.
inline void verifyZero(const Object& object) {
    const std::uint32_t step = object.size <= 4096 ? 1 : 509;
    for (std::uint32_t at = 0; at < object.size; at += step) {
        if (object.at[at] != 0) {
            wrong("calloc's memory is not zero", object);
        }
    }
    if (object.at[object.size - 1] != 0) {
        wrong("calloc's memory is not zero at its end", object);
    }
}

// --- what threads hand each other ---

struct Mailbox {
    std::atomic_flag held = ATOMIC_FLAG_INIT;
    Object object{};

    Object swap(const Object& given) {
        while (held.test_and_set(std::memory_order_acquire)) {
        }
        const Object had = object;
        object = given;
        held.clear(std::memory_order_release);
        return had;
    }
};
inline Mailbox mailbox[mailboxes];

} // namespace endurance
