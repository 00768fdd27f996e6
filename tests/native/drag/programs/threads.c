/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two threads that take turns: objects of one are last used, and freed, by the other. What starting
 * a thread allocates comes before.
 */
#include "use.h"

#include <pthread.h>
#include <semaphore.h>

enum { count = 20 };

static sem_t begin;
static sem_t made;
static sem_t used;
static void* objects[count];

static void* makeThem(void* unused) {
    sem_wait(&begin);
    for (int i = 0; i < count; ++i) {
        objects[i] = malloc(500);
        use(objects[i]);
        sem_post(&made);
        sem_wait(&used);
    }
    return unused;
}

static void useThem(void) {
    for (int i = 0; i < count; ++i) {
        sem_wait(&made);
        use(objects[i]);
        if (i >= 3) {
            use(objects[i - 3]);
        }
        sem_post(&used);
    }
    for (int i = 0; i < count; ++i) {
        free(objects[i]);
    }
}

int main(void) {
    pthread_t maker;
    sem_init(&begin, 0, 0);
    sem_init(&made, 0, 0);
    sem_init(&used, 0, 0);
    if (pthread_create(&maker, NULL, makeThem, NULL) != 0) {
        return 1;
    }
    sem_post(&begin);
    useThem();
    return pthread_join(maker, NULL);
}
