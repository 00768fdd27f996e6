// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A library whose objects the program frees, and that frees the program's. It allocates when it is
// loaded and frees when it is unloaded.
#include <stdlib.h>
#include <string.h>

static void* kept;

__attribute__((constructor)) static void load(void) {
    kept = calloc(1, 3000);
}
__attribute__((destructor)) static void unload(void) {
    free(kept);
}

char* pluginMake(size_t size);
char* pluginText(const char* text);
void pluginTake(void* object);

char* pluginMake(size_t size) {
    return malloc(size);
}

char* pluginText(const char* text) {
    return strdup(text);
}

void pluginTake(void* object) {
    free(realloc(object, 77));
}
