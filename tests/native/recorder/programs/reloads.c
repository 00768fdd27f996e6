/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Opens and closes a library ten times, each time at another address. Compiled with -DPLUGIN it is
 * that library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>

#ifdef PLUGIN
void* make(void) {
    return malloc(777);
}
#else
int main(int count, char** arguments) {
    for (int turn = 0; turn < 10; ++turn) {
        void* const library = dlopen(arguments[count - 1], RTLD_NOW);
        void* (*make)(void) = library == NULL ? NULL : (void* (*)(void))dlsym(library, "make");
        if (make == NULL) {
            return 1;
        }
        make();
        void* const page = (void*)((size_t)make & ~(size_t)4095);
        dlclose(library);
        mmap(page, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    }
    return 0;
}
#endif
