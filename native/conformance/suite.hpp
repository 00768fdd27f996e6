// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The helpers of the cases. A case is a function that returns on success. Otherwise it ends the
// process through `require`, `fail` or `skip`. These write one line and exit at once, because a
// heap that failed cannot be trusted. For the same reason nothing here allocates.
//
// A case runs alone in its process, with a watchdog, and takes at most a few seconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list> // the cases use braced lists in loops

namespace conformance {

/// The source of a rule.
enum class Demand {
    standard, ///< C, C++ or POSIX
    glibc,    ///< the GNU C library's behaviour, on which programs rely
    robust,   ///< no rule, but programs do it
};

/// The place of a check. Some supported compilers lack std::source_location.
struct Location {
    const char* file;
    unsigned line;

    static constexpr Location current(const char* file = __builtin_FILE(),
                                      unsigned line = __builtin_LINE()) {
        return {file, line};
    }
};

/// One case. Its declaration registers it, and every file ends with the table of its cases.
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

/// Hides a value from the compiler, so that it removes no call.
template <class T>
T hide(T value) {
    asm volatile("" : "+r"(value) : : "memory");
    return value;
}

/// Runs `body` in a forked child, which must end normally. A child that hangs is killed.
void inChild(void (*body)(), const char* what, Location where = Location::current());

/// Waits for a child, which must end with status 0.
void expectSuccess(int child, const char* what, Location where = Location::current());

/// Fills an object with bytes that depend on `seed`; `requireFilled` checks them.
void fill(void* object, std::size_t size, unsigned seed);
void requireFilled(const void* object, std::size_t size, unsigned seed,
                   Location where = Location::current());
void requireZero(const void* object, std::size_t size, Location where = Location::current());
void requireAligned(const void* object, std::size_t alignment,
                    Location where = Location::current());

/// The required alignment of an object of `size` bytes: no type of that size needs more.
std::size_t alignmentFor(std::size_t size);

/// Limits the process to `more` bytes beyond its present use: of address space, or of writable
/// memory.
void limitAddressSpace(std::size_t more);
void limitData(std::size_t more);
/// Removes the limits.
void unlimit();

/// A pseudo-random sequence (xorshift), the same in every run.
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

    /// Sizes as in programs: mostly small, some large.
    std::size_t size() { return below(std::size_t{1} << below(17)); }

private:
    std::uint64_t state_;
};

/// The path of a plugin of this suite, installed beside the program. Skips the case if it is
/// missing.
const char* pluginPath(const char* file);

} // namespace conformance
