// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What the programs of this folder share. Each is called with the name of a scene and a count. It
// is silent and exits with 0 if all is as it should be. Otherwise it prints the error and exits
// with 1. Every object has a pattern from its making to its end, and is looked at before it is
// freed.
#pragma once

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(truth)                                                                               \
    do {                                                                                           \
        if (!(truth)) {                                                                            \
            fail(__LINE__, #truth);                                                                \
        }                                                                                          \
    } while (0)

static inline void fail(int line, const char* text) {
    char message[256];
    const int length = snprintf(message, sizeof message, "line %d: not %s\n", line, text);
    if (write(STDERR_FILENO, message, (size_t)length) < 0) {
        _exit(3);
    }
    _exit(1);
}

static long count = 0; // the second argument

// The most that was resident. (What getrusage says has been the parent's, too, before exec.)
static inline long resident_kib(void) {
    char text[4096];
    const int file = open("/proc/self/status", O_RDONLY);
    CHECK(file >= 0);
    const ssize_t length = read(file, text, sizeof text - 1);
    CHECK(length > 0);
    close(file);
    text[length] = 0;
    const char* const line = strstr(text, "VmHWM:");
    CHECK(line != NULL);
    return strtol(line + 6, NULL, 10);
}

// Objects that say how large they are and whose they are.
struct object {
    size_t size;
    uintptr_t mark;
};

static inline struct object* made(size_t size, uintptr_t mark) {
    struct object* const object = (struct object*)malloc(size);
    CHECK(object != NULL);
    memset(object, (int)(mark & 0xFF), size);
    object->size = size;
    object->mark = mark;
    return object;
}

static inline void checked(const struct object* object) {
    const unsigned char* const bytes = (const unsigned char*)object;
    CHECK(object->size >= sizeof *object);
    for (size_t i = sizeof *object; i < object->size; i += 1 + i / 8) {
        CHECK(bytes[i] == (object->mark & 0xFF));
    }
}

static inline void unmade(struct object* object) {
    checked(object);
    free(object);
}

static inline size_t some_size(uint32_t random) {
    static const size_t sizes[] = {16,  24,  32,  48,   64,   100,   160,
                                   250, 512, 900, 2000, 9000, 20000, 70000};
    const size_t kind = random % 1000;
    return sizes[kind < 995 ? kind % 11 : 11 + kind % 3];
}

static inline uint32_t next_random(uint32_t* state) {
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8U;
}

static inline void install(int number, void (*handler)(int), int flags) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    CHECK(sigaction(number, &action, NULL) == 0);
}

struct scene {
    const char* name;
    void (*run)(void);
};

static inline int play(const struct scene* scenes, size_t number, int argc, char** argv) {
    count = argc > 2 ? strtol(argv[2], NULL, 10) : 1;
    for (size_t i = 0; argc > 1 && i < number; ++i) {
        if (strcmp(scenes[i].name, argv[1]) == 0) {
            scenes[i].run();
            return 0;
        }
    }
    fprintf(stderr, "usage: %s SCENE [COUNT]\n", argv[0]);
    return 2;
}
