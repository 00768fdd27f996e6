// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The environment of the process at its start, readable before the C library knows it. The first
// malloc comes from the dynamic linker, and the first constructors run before `environ` is set.
// Until then it is read from the end of the stack, where the kernel puts it after the arguments.
//
// Nothing here allocates. A set-user-ID program must not trust the environment of the user that
// started it; `runsSecurely` tests for that.
#pragma once

#include <heapwright/platform/output.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <sys/auxv.h>

extern "C" {
// The dynamic linker's: where the kernel has put the number of arguments. Not in every C library.
// NOLINTNEXTLINE: the C library defines the name
[[gnu::weak]] extern void* __libc_stack_end;
}

namespace heapwright::platform {

/// The entries of the environment, ended by null; null if they cannot be found yet.
[[nodiscard]] inline char** environmentTexts() noexcept {
    if (environ != nullptr) {
        return environ;
    }
    if (&__libc_stack_end == nullptr || __libc_stack_end == nullptr) {
        return nullptr;
    }
    // The stack at the start: the number of arguments, the arguments, null, the environment, null.
    const auto* const number = static_cast<const std::intptr_t*>(__libc_stack_end);
    char** const arguments = static_cast<char**>(__libc_stack_end) + 1;
    if (*number < 0 || *number > 1'000'000 || arguments[*number] != nullptr) {
        return nullptr;
    }
    return arguments + *number + 1;
}

/// The value of a variable in a list of entries; empty if it is not set.
[[nodiscard]] inline std::string_view variableIn(char** texts, std::string_view name) noexcept {
    for (char** entry = texts; entry != nullptr && *entry != nullptr; ++entry) {
        const char* text = *entry;
        std::size_t same = 0; // strncmp would touch a cold page of the C library
        while (same < name.size() && text[same] == name[same]) {
            ++same;
        }
        if (same == name.size() && text[same] == '=') {
            return {text + same + 1};
        }
    }
    return {};
}

/// Whether the program has more rights than the user that started it.
[[nodiscard]] inline bool runsSecurely() noexcept {
    return ::getauxval(AT_SECURE) != 0;
}

} // namespace heapwright::platform
