// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A program in C, to which the C++ runtime comes late and privately, with a library that it opens.
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
    if (argc != 2 || dlopen("libstdc++.so.6", RTLD_NOLOAD | RTLD_NOW) != NULL) {
        puts("the runtime is there before its time");
        return 1;
    }
    void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        puts(dlerror());
        return 1;
    }
    int (*run)(void) = (int (*)(void))dlsym(library, "run");
    return run();
}
