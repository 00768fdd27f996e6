// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A string that has no room for its end.
// under debug: nothing
// under guard: heapwright: free(): overflow
// under canary: heapwright: free(): overflow
// under quarantine: nothing
// under granary: nothing
// under granary-hardened: heapwright: free(): overflow
#include <stdlib.h>
#include <string.h>

int main(void) {
    const char* text = "forty characters and not a single one mo";
    char* object = malloc(strlen(text));
    strcpy(object, text);
    free(object);
    return 0;
}
