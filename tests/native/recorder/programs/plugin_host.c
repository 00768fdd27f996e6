/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Opens a library with RTLD_DEEPBIND and frees what it allocated. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

int main(int count, char** arguments) {
    void* const library = dlopen(arguments[count - 1], RTLD_NOW | RTLD_DEEPBIND);
    void* (*make)(void) = library == NULL ? NULL : (void* (*)(void))dlsym(library, "make");
    if (make == NULL) {
        return 1;
    }
    free(make());
    return dlclose(library);
}
