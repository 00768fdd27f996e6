// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Freed by another thread, then again here.
// aborts: heapwright: free(): double free
// under granary: nothing
#include <pthread.h>
#include <stdlib.h>

static void* release(void* object) {
    free(object);
    return NULL;
}

int main(void) {
    void* object = malloc(200);
    pthread_t thread;
    pthread_create(&thread, NULL, release, object);
    pthread_join(thread, NULL);
    free(object);
    return 0;
}
