// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What the cases are written with. A case is a function that returns if all is well; otherwise it
// ends the process through `require`, `fail` or `skip`, which write one line and exit at once,
// since nothing of a heap that has failed can be relied on. For the same reason nothing in here
// allocates.
//
// A case runs alone in its process, with a watchdog, and takes a couple of seconds at most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list> // the cases loop over braces

namespace conformance {

/// Who says that it must be so.
enum class Demand {
    standard, ///< C, C++ or POSIX
    glibc,    ///< the GNU C library's own ways, which programs are written against
    robust,   ///< nobody, but programs do it
};

/// Where a check stands; std::source_location is not in every compiler that we build with.
struct Location {
    const char* file;
    unsigned line;

    static constexpr Location current(const char* file = __builtin_FILE(),
                                      unsigned line = __builtin_LINE()) {
        return {file, line};
    }
};

/// One case; to declare one is to register it, and every file ends with the table of its own.
class Case {
public:
    Case(const char* name, Demand demand, const char* what, void (*body)());

    [[nodiscard]] const char* name() const { return name_; }
    [[nodiscard]] Demand demand() const { return demand_; }
    [[nodiscard]] const char* what() const { return what_; }
    void run() const { body_(); }
    [[nodiscard]] const Case* next() const { return next_; }

    static const Case* first();
    static const Case* find(const char* name);

private:
    const char* name_;
    Demand demand_;
    const char* what_;
    void (*body_)();
    const Case* next_;
};

[[noreturn]] void fail(const char* what, Location where = Location::current());
[[noreturn]] void skip(const char* why);

inline void require(bool holds, const char* what, Location where = Location::current()) {
    if (!holds) [[unlikely]] {
        fail(what, where);
    }
}

/// Takes from the compiler what it knows of a value, so that it lets every call happen.
template <class T>
T hide(T value) {
    asm volatile("" : "+r"(value) : : "memory");
    return value;
}

/// Runs `body` in a forked child, which must end normally; a child that hangs is killed.
void inChild(void (*body)(), const char* what, Location where = Location::current());

/// Waits for a child that must have ended with status 0.
void expectSuccess(int child, const char* what, Location where = Location::current());

/// Fills an object with bytes that depend on `seed`, and checks that they are all still there.
void fill(void* object, std::size_t size, unsigned seed);
void requireFilled(const void* object, std::size_t size, unsigned seed,
                   Location where = Location::current());
void requireZero(const void* object, std::size_t size, Location where = Location::current());
void requireAligned(const void* object, std::size_t alignment,
                    Location where = Location::current());

/// The alignment that an object of `size` bytes must have: no type of that size can need more.
std::size_t alignmentFor(std::size_t size);

/// Allows the process `more` bytes beyond what it has now: of address space, or of memory to write.
void limitAddressSpace(std::size_t more);
void limitData(std::size_t more);
/// Takes the limits away again.
void unlimit();

/// A small pseudo-random sequence (xorshift), the same in every run.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15U + 1) {}

    std::uint64_t next() {
        state_ ^= state_ << 13U;
        state_ ^= state_ >> 7U;
        state_ ^= state_ << 17U;
        return state_;
    }
    std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }

    /// Sizes as programs have them: mostly small, some large.
    std::size_t size() { return below(std::size_t{1} << below(17)); }

private:
    std::uint64_t state_;
};

/// The path of a plugin of this suite, installed beside the program; skips if it is not there.
const char* pluginPath(const char* file);

} // namespace conformance
