/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * threads THREADS N [after]: Each thread does N times malloc(48), a write and free. With `after`,
 * it does N times malloc, then N times free, the next thread only when the last has ended. Without
 * threads (0) the first thread does it. Calls malloc and free itself and nothing else that
 * allocates.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static long count;
static char* objects[1000];

static void* inPairs(void* unused) {
    for (long i = 0; i < count; ++i) {
        char* volatile object = malloc(48);
        object[47] = 1;
        free(object);
    }
    return unused;
}

static void* oneAfterTheOther(void* unused) {
    for (long i = 0; i < count; ++i) {
        objects[i] = malloc(48);
        memset(objects[i], 1, 48);
    }
    for (long i = 0; i < count; ++i) {
        free(objects[i]);
    }
    return unused;
}

int main(int words, char** word) {
    pthread_t threads[64];
    const long number = atol(word[1]);
    count = atol(word[2]);
    if (words > 3) {
        for (long i = 0; i < number; ++i) {
            pthread_create(&threads[i], NULL, oneAfterTheOther, NULL);
            pthread_join(threads[i], NULL);
        }
        return 0;
    }
    for (long i = 0; i < number; ++i) {
        pthread_create(&threads[i], NULL, inPairs, NULL);
    }
    for (long i = 0; i < number; ++i) {
        pthread_join(threads[i], NULL);
    }
    if (number == 0) {
        inPairs(NULL);
    }
    return 0;
}
