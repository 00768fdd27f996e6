// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The exec family: records the call and passes it on to the C library. A process that becomes
// another program thus announces it. That program may never report, because it is static or
// set-user-ID, or its environment was cleared. Its CPU time is then known not to belong to the
// previous program, however short it ran.
//
// Invariant: each form calls the next object's own form, so that another preloaded library that
// intercepts it sees the usual call. Nothing is allocated, because in the child of a fork with
// threads the heap may stay locked.
// Cost: a few hundred nanoseconds for each attempt.
#include "next.hpp"
#include "report.hpp"

#include <cstdarg>
#include <cstddef>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

namespace heapwright::runner::witness {

namespace {

using Exec = int (*)(const char*, char* const*);
using ExecWithEnvironment = int (*)(const char*, char* const*, char* const*);
using ExecOfDescriptor = int (*)(int, char* const*, char* const*);

constinit Exec nextExecv = nullptr;
constinit Exec nextExecvp = nullptr;
constinit ExecWithEnvironment nextExecve = nullptr;
constinit ExecWithEnvironment nextExecvpe = nullptr;
constinit ExecOfDescriptor nextFexecve = nullptr;

/// Makes the call. If it returns, the process is still the old program.
template <class Function, class... Arguments>
int attempt(const char* program, Function* function, Arguments... arguments) {
    const bool noted = noteExec(program);
    const int result = function(arguments...);
    if (noted) {
        noteExecFailed();
    }
    return result;
}

int passOn(Exec& known, const char* name, const char* program, char* const* words) {
    return attempt(program, next(known, name), program, words);
}

int passOn(ExecWithEnvironment& known, const char* name, const char* program, char* const* words,
           char* const* environment) {
    return attempt(program, next(known, name), program, words, environment);
}

/// The number of words in a list, including the null pointer at its end.
std::size_t countOf(const char* first, va_list& list) {
    std::size_t count = 1;
    for (const char* word = first; word != nullptr; word = va_arg(list, const char*)) {
        ++count;
    }
    return count;
}

/// Copies the words of a list and the null pointer.
/// Post: `list` is after the null pointer.
void fill(const char** words, const char* first, va_list& list) {
    for (const char* word = first; word != nullptr; word = va_arg(list, const char*)) {
        *words++ = word;
    }
    *words = nullptr;
}

} // namespace

void findExecs() {
    next(nextExecv, "execv");
    next(nextExecvp, "execvp");
    next(nextExecve, "execve");
    next(nextExecvpe, "execvpe");
    next(nextFexecve, "fexecve");
}

} // namespace heapwright::runner::witness

using namespace heapwright::runner::witness;

// The words that follow `first`, as an array on the stack of the function that uses this macro.
#define HEAPWRIGHT_WORDS(words, first, list)                                                       \
    va_list list;                                                                                  \
    va_start(list, first);                                                                         \
    const auto words =                                                                             \
        static_cast<const char**>(__builtin_alloca(sizeof(const char*) * countOf(first, list)));   \
    va_end(list);                                                                                  \
    va_start(list, first);                                                                         \
    fill(words, first, list)

extern "C" {

EXPORT int execv(const char* path, char* const* words) noexcept {
    return passOn(nextExecv, "execv", path, words);
}

EXPORT int execve(const char* path, char* const* words, char* const* environment) noexcept {
    return passOn(nextExecve, "execve", path, words, environment);
}

EXPORT int execvp(const char* file, char* const* words) noexcept {
    return passOn(nextExecvp, "execvp", file, words);
}

EXPORT int execvpe(const char* file, char* const* words, char* const* environment) noexcept {
    return passOn(nextExecvpe, "execvpe", file, words, environment);
}

EXPORT int fexecve(int descriptor, char* const* words, char* const* environment) noexcept {
    return attempt("", next(nextFexecve, "fexecve"), descriptor, words, environment);
}

EXPORT int execl(const char* path, const char* first, ...) noexcept {
    HEAPWRIGHT_WORDS(words, first, list);
    va_end(list);
    return passOn(nextExecv, "execv", path, const_cast<char* const*>(words));
}

EXPORT int execlp(const char* file, const char* first, ...) noexcept {
    HEAPWRIGHT_WORDS(words, first, list);
    va_end(list);
    return passOn(nextExecvp, "execvp", file, const_cast<char* const*>(words));
}

EXPORT int execle(const char* path, const char* first, ...) noexcept {
    HEAPWRIGHT_WORDS(words, first, list);
    char* const* const environment = va_arg(list, char* const*);
    va_end(list);
    return passOn(nextExecve, "execve", path, const_cast<char* const*>(words), environment);
}
}
