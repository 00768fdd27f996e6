// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See obstack_shared.h. Printing uses only the public interface, so it works on any obstack.
#include "obstack_shared.h"

#include <heapwright/c/obstack.h>

#include <stdlib.h>
#include <unistd.h>

int heapwright_obstack_exit_failure = EXIT_FAILURE;

static void failAndExit(void) {
    static const char line[] = "memory exhausted\n";
    ssize_t written = write(STDERR_FILENO, line, sizeof line - 1);
    (void)written;
    exit(heapwright_obstack_exit_failure);
}

void (*heapwright_obstack_alloc_failed_handler)(void) = failAndExit;

/// The handler must not return, because the caller has no other way to detect the failure.
void heapwrightObstackFail(void) {
    heapwright_obstack_alloc_failed_handler();
    abort();
}

void heapwrightObstackForeign(void) {
    static const char line[] = "heapwright: obstack_free(): object of another obstack\n";
    ssize_t written = write(STDERR_FILENO, line, sizeof line - 1);
    (void)written;
    abort();
}

/// Adds no null byte at the end, as the C library.
int heapwright_obstack_vprintf(struct obstack* h, const char* format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(h->next_, heapwright_obstack_room(h), format, arguments);
    if (length >= 0 && (size_t)length >= heapwright_obstack_room(h)) {
        heapwright_obstack_make_room(h, (size_t)length + 1);
        length = vsnprintf(h->next_, (size_t)length + 1, format, again);
    }
    va_end(again);
    h->next_ += length > 0 ? length : 0;
    return length;
}

int heapwright_obstack_printf(struct obstack* h, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length = heapwright_obstack_vprintf(h, format, arguments);
    va_end(arguments);
    return length;
}
