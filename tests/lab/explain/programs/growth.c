/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Keeps a list that becomes longer and longer. The argument says what becomes of it at the end:
 *   free   it is freed
 *   keep   the program ends with the list still there
 *   wait   the program waits to be killed
 *   rest   the program makes no call for twice as long, and ends with the list still there
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct Node {
    struct Node* next;
    char content[1000];
};

static struct Node* list;

__attribute__((noinline)) static void remember(void) {
    struct Node* node = malloc(sizeof *node);
    memset(node, 1, sizeof *node);
    node->next = list;
    list = node;
}

__attribute__((noinline)) static void use(size_t size) {
    void* volatile block = malloc(size);
    free(block);
}

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(int count, char** arguments) {
    const long long begin = now();
    const struct timespec rest = {0, 10 * 1000 * 1000}; /* far longer than the end takes */
    const char* fate = count > 1 ? arguments[1] : "free";
    for (unsigned i = 0; i < 60000; ++i) {
        if (i % 10 == 0) {
            remember();
        }
        if (i % 1000 == 0) {
            nanosleep(&rest, NULL);
        }
        use(200 + i % 700);
    }
    while (strcmp(fate, "wait") == 0) {
        pause();
    }
    if (strcmp(fate, "rest") == 0) {
        const long long built = now();
        while (now() < built + 2 * (built - begin)) {
            nanosleep(&rest, NULL);
        }
    }
    while (strcmp(fate, "free") == 0 && list != NULL) {
        struct Node* node = list;
        list = node->next;
        free(node);
    }
    return 0;
}
