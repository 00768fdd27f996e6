/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Takes 48 MiB, frees nearly all of it, and goes on for a while with next to nothing. The argument
 * says where the memory stays:
 *   top     free at the top of the heap; a large block freed before has raised the threshold
 *   holes   between blocks that stay
 *   arenas  eight threads, one after the other, fill an arena each, and leave a block at its end
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { most = 48 << 10, size = 1008, threads = 8 };

static void* blocks[most];
static pthread_barrier_t barrier;

static void fill(unsigned from, unsigned to) {
    for (unsigned i = from; i < to; ++i) {
        blocks[i] = malloc(size);
        memset(blocks[i], 1, size);
    }
}

static void empty(unsigned from, unsigned to, unsigned stays) {
    for (unsigned i = from; i < to; ++i) {
        if (stays == 0 || i % stays != stays - 1) {
            free(blocks[i]);
            blocks[i] = NULL;
        }
    }
}

static void* own(void* number) {
    const unsigned part = most / threads;
    const unsigned mine = *(const unsigned*)number;
    void* volatile first = malloc(100); /* now it has an arena */
    free(first);
    for (unsigned turn = 0; turn < threads; ++turn) {
        pthread_barrier_wait(&barrier);
        if (turn == mine) {
            fill(part * mine, part * (mine + 1));
            empty(part * mine, part * (mine + 1), part);
        }
    }
    pthread_barrier_wait(&barrier);
    return NULL;
}

static void inArenas(void) {
    pthread_t started[threads];
    unsigned numbers[threads];
    pthread_barrier_init(&barrier, NULL, threads);
    for (unsigned i = 0; i < threads; ++i) {
        numbers[i] = i;
        pthread_create(&started[i], NULL, own, &numbers[i]);
    }
    for (unsigned i = 0; i < threads; ++i) {
        pthread_join(started[i], NULL);
    }
}

static void goOn(void) {
    const struct timespec pause = {0, 10 * 1000 * 1000};
    for (unsigned i = 0; i < 60; ++i) {
        void* volatile block = malloc(100);
        free(block);
        nanosleep(&pause, NULL);
    }
}

int main(int count, char** arguments) {
    const char* where = count > 1 ? arguments[1] : "top";
    if (strcmp(where, "arenas") == 0) {
        inArenas();
    } else {
        if (strcmp(where, "top") == 0) {
            void* volatile large = malloc(30 << 20); /* mapped; freeing it moves both thresholds */
            free(large);
        }
        fill(0, most);
        empty(0, most, strcmp(where, "holes") == 0 ? 16 : 0);
    }
    goOn();
    return 0;
}
