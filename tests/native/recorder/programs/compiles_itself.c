// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A JIT compiler of two functions for x86-64. Each calls malloc with its argument. The program
// names them in a perf map. The argument decides what is at the map's place. It is the map, a link
// to it, an old map, or a damaged map. Prints its process number.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef void* (*function)(size_t);

/// push rbp; mov rbp, rsp; mov rax, malloc; call rax; pop rbp; ret
static function compile(unsigned char* code) {
    static const unsigned char begin[] = {0x55, 0x48, 0x89, 0xE5, 0x48, 0xB8};
    static const unsigned char end[] = {0xFF, 0xD0, 0x5D, 0xC3};
    void* (*const callee)(size_t) = malloc;
    memcpy(code, begin, sizeof begin);
    memcpy(code + sizeof begin, &callee, sizeof callee);
    memcpy(code + sizeof begin + sizeof callee, end, sizeof end);
    return (function)(uintptr_t)code;
}

int main(int count, char** arguments) {
    const char* const what = count > 1 ? arguments[1] : "map";
    unsigned char* const code =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED) {
        return 1;
    }
    char path[64];
    char other[64];
    snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
    snprintf(other, sizeof other, "/tmp/heapwright-perf-%d", getpid());
    const int link = strcmp(what, "link") == 0;
    FILE* const map = fopen(link ? other : path, "w");
    if (map == NULL || (link && symlink(other, path) != 0)) {
        return 1;
    }
    if (strcmp(what, "damaged") == 0) {
        fprintf(map, "%lx\nzz 10 none\n%lx 0 empty\n%c%c\n", (long)code, (long)code, 0, 255);
    }
    fprintf(map, "%lx 40 first of two\n%lx 40 JS:*second /app/second.js:12:3\n", (long)code,
            (long)code + 0x40);
    fclose(map);
    if (strcmp(what, "old") == 0) {
        const struct timespec times[2] = {{1000, 0}, {1000, 0}};
        utimensat(0, path, times, 0);
    }
    const function first = compile(code);
    const function second = compile(code + 0x40);
    void* volatile kept = NULL;
    for (int i = 0; i < 3; ++i) {
        kept = first(50000);
    }
    for (int i = 0; i < 4; ++i) {
        kept = second(60000);
    }
    printf("%d\n", getpid());
    return kept == NULL;
}
