// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Locales of the C++ headers as musl has them. The headers are only compiled; no C++ library is
// linked.
#pragma once
#include <clocale>
#include <cstdarg>
#include <cstdio>
#define _GLIBCXX_C_LOCALE_GNU 1
#define _GLIBCXX_NUM_CATEGORIES 6
namespace std {
typedef ::locale_t __c_locale;
inline int __convert_from_v(const __c_locale&, char* out, int size, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(out, size, format, arguments);
    va_end(arguments);
    return length;
}
} // namespace std
