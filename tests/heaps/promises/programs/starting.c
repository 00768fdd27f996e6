// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A program that uses the heap, sets signal handlers, starts threads and forks before any library's
// constructor has run. Another one loads and unloads a library (plugin.c) all the time.
#define _GNU_SOURCE
#include "scenes.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <sys/wait.h>

static struct object* early[100];
static volatile sig_atomic_t handled;

static void handler(int number) {
    (void)number;
    unmade(made(100, 0x12));
    handled = handled + 1;
}

static void* early_thread(void* given) {
    for (uint32_t i = 0; i < 100; ++i) {
        unmade(made(some_size(i * 31), i));
    }
    return given;
}

/// Runs before the constructors of libraries, the allocator's too.
static void before_all(int argc, char** argv, char** environment) {
    (void)argc;
    (void)argv;
    (void)environment;
    for (uint32_t i = 0; i < 100; ++i) {
        early[i] = made(some_size(i * 31), i);
    }
    install(SIGUSR1, &handler, SA_RESTART);
    raise(SIGUSR1);
    struct sigaction action;
    CHECK(handled == 1 && sigaction(SIGUSR1, NULL, &action) == 0 && action.sa_handler == &handler);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, &early_thread, NULL) == 0);
    unmade(early[50]);
    early[50] = made(3000, 50);
    pthread_join(thread, NULL);
    const pid_t child = fork();
    if (child == 0) {
        early_thread(NULL);
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}
__attribute__((section(".preinit_array"), used)) static void (*const entry)(int, char**,
                                                                            char**) = &before_all;

static void begun(void) {
    raise(SIGUSR1);
    CHECK(handled == 2);
    for (uint32_t i = 0; i < 100; ++i) {
        unmade(early[i]);
    }
}

static const char* plugin;
static atomic_bool over;

static void* allocating(void* number) {
    for (uint32_t i = (uint32_t)(uintptr_t)number; !atomic_load(&over); i += 3) {
        unmade(made(some_size(i * 77), i & 0xFF));
    }
    return NULL;
}

/// Loads it, uses it in this thread, whose variables it has some of, and unloads it.
static void* loading(void* unused) {
    for (long i = 0; i < count; ++i) {
        void* const library = dlopen(plugin, RTLD_NOW);
        CHECK(library != NULL);
        void* (*const make)(size_t) = (void* (*)(size_t))dlsym(library, "plugin_make");
        CHECK(make != NULL);
        void* const theirs = make(1000);
        CHECK(dlclose(library) == 0);
        memset(theirs, 1, 1000);
        free(theirs);
    }
    return unused;
}

static void plugins(void) {
    pthread_t others[2];
    pthread_t loaders[2];
    for (uintptr_t i = 0; i < 2; ++i) {
        CHECK(pthread_create(&others[i], NULL, &allocating, (void*)i) == 0);
        CHECK(pthread_create(&loaders[i], NULL, &loading, NULL) == 0);
    }
    for (int i = 0; i < 2; ++i) {
        pthread_join(loaders[i], NULL);
    }
    atomic_store(&over, 1);
    for (int i = 0; i < 2; ++i) {
        pthread_join(others[i], NULL);
    }
    CHECK(resident_kib() < 64 * 1024);
}

int main(int argc, char** argv) {
    static const struct scene scenes[] = {{"begun", &begun}, {"plugins", &plugins}};
    plugin = argc > 3 ? argv[3] : "";
    return play(scenes, sizeof scenes / sizeof *scenes, argc, argv);
}
