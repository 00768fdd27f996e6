// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The environment of the process as it was started, for who is asked for memory before the C
// library knows of it: the first malloc of a process comes from the dynamic linker, and the first
// constructors of all run before `environ` is set. Then it is read where the kernel has put it,
// behind the arguments at the end of the stack.
//
// Nothing here allocates. A program that has more rights than who started it must not listen to
// what that one says; that is asked here, too.
#pragma once

#include <heapwright/platform/output.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <sys/auxv.h>

extern "C" {
// The dynamic linker's: where the kernel has put the number of arguments. Not in every C library.
// NOLINTNEXTLINE: the name is not ours
[[gnu::weak]] extern void* __libc_stack_end;
}

namespace heapwright::platform {

/// The texts of the environment, the last one null; null if nobody knows them yet.
[[nodiscard]] inline char** environmentTexts() noexcept {
    if (environ != nullptr) {
        return environ;
    }
    if (&__libc_stack_end == nullptr || __libc_stack_end == nullptr) {
        return nullptr;
    }
    // NUMBER, that many arguments, null, the environment, null.
    const auto* const number = static_cast<const std::intptr_t*>(__libc_stack_end);
    char** const arguments = static_cast<char**>(__libc_stack_end) + 1;
    if (*number < 0 || *number > 1'000'000 || arguments[*number] != nullptr) {
        return nullptr;
    }
    return arguments + *number + 1;
}

/// The value of a variable among the texts of an environment; empty if it is not set.
[[nodiscard]] inline std::string_view variableIn(char** texts, std::string_view name) noexcept {
    for (char** entry = texts; entry != nullptr && *entry != nullptr; ++entry) {
        const char* text = *entry;
        std::size_t same = 0; // the C library's comparisons are in pages that few need so early
        while (same < name.size() && text[same] == name[same]) {
            ++same;
        }
        if (same == name.size() && text[same] == '=') {
            return {text + same + 1};
        }
    }
    return {};
}

/// Whether the program has rights that who started it has not.
[[nodiscard]] inline bool runsSecurely() noexcept {
    return ::getauxval(AT_SECURE) != 0;
}

} // namespace heapwright::platform
