/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Formatted printing: the format, the strings that it prints, the counts that it stores, and the
 * destination. The C library reports which arguments are strings (`parse_printf_format`).
 */
#define _GNU_SOURCE
#include "calls.h"

#include <printf.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <wchar.h>

int __vprintf_chk(int, const char*, va_list);
int __vfprintf_chk(FILE*, int, const char*, va_list);
int __vdprintf_chk(int, int, const char*, va_list);
int __vsprintf_chk(char*, int, size_t, const char*, va_list);
int __vsnprintf_chk(char*, size_t, int, size_t, const char*, va_list);
int __vasprintf_chk(char**, int, const char*, va_list);
int __printf_chk(int, const char*, ...);
int __fprintf_chk(FILE*, int, const char*, ...);
int __dprintf_chk(int, int, const char*, ...);
int __sprintf_chk(char*, int, size_t, const char*, ...);
int __snprintf_chk(char*, size_t, int, size_t, const char*, ...);
int __asprintf_chk(char**, int, const char*, ...);

enum { mostArguments = 64 };

/* Takes one argument of that type. Returns the address that is read or written, if any. */
static const void* take(int type, va_list* arguments) {
    if ((type & PA_FLAG_PTR) != 0) {
        return va_arg(*arguments, const void*);
    }
    switch (type & ~PA_FLAG_MASK) {
    case PA_STRING:
    case PA_WSTRING:
        return va_arg(*arguments, const void*);
    case PA_POINTER: /* only its address is printed */
        (void)va_arg(*arguments, void*);
        return NULL;
    case PA_FLOAT:
    case PA_DOUBLE:
        if ((type & PA_FLAG_LONG_DOUBLE) != 0) {
            (void)va_arg(*arguments, long double);
        } else {
            (void)va_arg(*arguments, double);
        }
        return NULL;
    case PA_WCHAR:
        (void)va_arg(*arguments, wint_t);
        return NULL;
    default:
        if ((type & (PA_FLAG_LONG | PA_FLAG_LONG_LONG)) != 0) {
            (void)va_arg(*arguments, long long);
        } else {
            (void)va_arg(*arguments, int);
        }
        return NULL;
    }
}

static void touchPrinted(const char* format, va_list given) {
    int types[mostArguments];
    const size_t count = parse_printf_format(format, mostArguments, types);
    va_list arguments;
    va_copy(arguments, given);
    for (size_t i = 0; i < count && i < mostArguments; ++i) {
        touch(take(types[i], &arguments));
    }
    va_end(arguments);
    touch(format);
}

#pragma GCC visibility push(default)

#define UNPACK(...) __VA_ARGS__

/* PRINTS(name, listed, parameters, arguments, place): `name` is the form with arguments, and
 * `listed` the form with an argument list. The last parameter is the format, and `place` is the
 * destination. */
#define PRINTS(name, listed, parameters, arguments, place)                                         \
    int listed(UNPACK parameters, va_list list) {                                                  \
        BEHIND(listed);                                                                            \
        va_list again;                                                                             \
        va_copy(again, list);                                                                      \
        const int result = next(UNPACK arguments, list);                                           \
        touchPrinted(format, again);                                                               \
        va_end(again);                                                                             \
        touch(place);                                                                              \
        return result;                                                                             \
    }                                                                                              \
    int name(UNPACK parameters, ...) {                                                             \
        va_list list;                                                                              \
        va_start(list, format);                                                                    \
        const int result = listed(UNPACK arguments, list);                                         \
        va_end(list);                                                                              \
        return result;                                                                             \
    }

PRINTS(printf, vprintf, (const char* format), (format), NULL)
PRINTS(__printf_chk, __vprintf_chk, (int flag, const char* format), (flag, format), NULL)
PRINTS(fprintf, vfprintf, (FILE * stream, const char* format), (stream, format), NULL)
PRINTS(__fprintf_chk, __vfprintf_chk, (FILE * stream, int flag, const char* format),
       (stream, flag, format), NULL)
PRINTS(dprintf, vdprintf, (int file, const char* format), (file, format), NULL)
PRINTS(__dprintf_chk, __vdprintf_chk, (int file, int flag, const char* format),
       (file, flag, format), NULL)
PRINTS(sprintf, vsprintf, (char* text, const char* format), (text, format), text)
PRINTS(__sprintf_chk, __vsprintf_chk, (char* text, int flag, size_t room, const char* format),
       (text, flag, room, format), text)
PRINTS(snprintf, vsnprintf, (char* text, size_t size, const char* format), (text, size, format),
       text)
PRINTS(__snprintf_chk, __vsnprintf_chk,
       (char* text, size_t size, int flag, size_t room, const char* format),
       (text, size, flag, room, format), text)

/* The C library allocates the text for the caller. */
#define MAKES(name, listed, parameters, arguments)                                                 \
    int listed(UNPACK parameters, va_list list) {                                                  \
        BEHIND(listed);                                                                            \
        ON_BEHALF;                                                                                 \
        va_list again;                                                                             \
        va_copy(again, list);                                                                      \
        const int result = next(UNPACK arguments, list);                                           \
        touchPrinted(format, again);                                                               \
        va_end(again);                                                                             \
        touch(text);                                                                               \
        if (result >= 0) {                                                                         \
            touch(*text);                                                                          \
        }                                                                                          \
        return result;                                                                             \
    }                                                                                              \
    int name(UNPACK parameters, ...) {                                                             \
        ON_BEHALF;                                                                                 \
        va_list list;                                                                              \
        va_start(list, format);                                                                    \
        const int result = listed(UNPACK arguments, list);                                         \
        va_end(list);                                                                              \
        return result;                                                                             \
    }

MAKES(asprintf, vasprintf, (char** text, const char* format), (text, format))
MAKES(__asprintf_chk, __vasprintf_chk, (char** text, int flag, const char* format),
      (text, flag, format))
