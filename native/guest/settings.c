/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The host's settings are on the kernel's command line as heapwright.NAME=VALUE. The kernel ignores
 * words with a dot.
 */
#include "guest.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST = 2048 };
static const char prefix[] = "heapwright.";

const char* setting(const char* name, const char* otherwise) {
    static char line[LONGEST];
    static char found[LONGEST];
    if (line[0] == '\0' && readText("/proc/cmdline", line, sizeof line) < 0) {
        return otherwise;
    }
    size_t length = strlen(name);
    for (const char* at = line; (at = strstr(at, prefix)) != NULL;) {
        at += sizeof prefix - 1;
        if (strncmp(at, name, length) == 0 && at[length] == '=') {
            at += length + 1;
            size_t size = strcspn(at, " \n");
            memcpy(found, at, size);
            found[size] = '\0';
            return found;
        }
    }
    return otherwise;
}

uint64_t number(const char* name, uint64_t otherwise) {
    const char* text = setting(name, "");
    return *text != '\0' ? strtoull(text, NULL, 10) : otherwise;
}
